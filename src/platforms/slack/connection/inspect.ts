/** Checks the operator's Slack settings. */
import { webApi } from '@slack/bolt';
import { z } from 'zod';
import { type Finding, good, warning, wrong } from '../../../core/finding.ts';
import type { Log } from '../../../core/telemetry/log.ts';
import { commandLine } from '../../../core/util/installation.ts';
import { slackErrorOf } from '../errors.ts';
import { AGENT_SCOPE, BOT_SCOPES } from '../manifest.ts';
import { createWebClient, sdkLogger } from './client.ts';
import type { HttpConnection, OAuthAccount, SocketConnection, TokenAccount } from './options.ts';

const SUBJECT = 'Slack';
const APPS = 'https://api.slack.com/apps';
const REINSTALL = `run ${commandLine('manifest')}, paste the output under “App Manifest” at ${APPS}, and reinstall the app`;
/** Timeout of one request, in milliseconds. */
const TIMEOUT_MS = 5_000;

export interface SlackInspection {
  readonly connection: SocketConnection | HttpConnection;
  readonly account: TokenAccount | OAuthAccount;
  readonly apiUrl?: string;
  /** Opens a test connection. Slack allows few per minute, and a starting bot needs them. */
  readonly connects: boolean;
  readonly log: Log;
}

/** Checks the settings with Slack. Never throws errors of Slack or the network. */
export async function inspectSlack(settings: SlackInspection): Promise<Finding[]> {
  const { account, connection, apiUrl, connects, log } = settings;
  const client = (token?: string) =>
    createWebClient(token, { apiUrl, timeoutMs: TIMEOUT_MS, logger: sdkLogger(log) });
  const byAccount =
    account.type === 'token' ? await workspace(client(account.botToken)) : await oauth(client(), account);
  const byConnection =
    connection.type === 'socket'
      ? connects
        ? await socket(client(connection.appToken))
        : []
      : [
          good(
            SUBJECT,
            'Slack sends requests to PUBLIC_URL/slack/events; the first one will show whether SLACK_SIGNING_SECRET is right',
          ),
        ];
  return [...byAccount, ...byConnection];
}

async function workspace(web: webApi.WebClient): Promise<Finding[]> {
  try {
    const { team, user, response_metadata: metadata } = await web.auth.test();
    const granted = z.array(z.string()).safeParse(metadata?.scopes).data;
    const notGranted = BOT_SCOPES.filter((scope) => granted !== undefined && !granted.includes(scope));
    const missing = notGranted.filter((scope) => scope !== AGENT_SCOPE);
    return [
      good(SUBJECT, `the token belongs to @${user ?? 'the bot'} in ${team ?? 'a workspace'}`),
      missing.length === 0
        ? good(SUBJECT, 'the app has every scope that it needs')
        : wrong(SUBJECT, `the app is missing scopes: ${missing.join(', ')}`, REINSTALL),
      ...(missing.length < notGranted.length
        ? [
            warning(
              SUBJECT,
              `the app is missing the scope ${AGENT_SCOPE}, so Slack shows no agent view`,
              REINSTALL,
            ),
          ]
        : []),
    ];
  } catch (error) {
    return [tokenProblem(error, 'SLACK_BOT_TOKEN', 'OAuth & Permissions')];
  }
}

/** Slack distinguishes a wrong code from a wrong client: https://docs.slack.dev/reference/methods/oauth.v2.access#errors */
async function oauth(web: webApi.WebClient, { clientId, clientSecret }: OAuthAccount): Promise<Finding[]> {
  try {
    await web.oauth.v2.access({ client_id: clientId, client_secret: clientSecret, code: 'none' });
  } catch (error) {
    const code = slackErrorOf(error);
    if (code !== 'invalid_code') {
      const setting = code === 'invalid_client_id' ? 'SLACK_CLIENT_ID' : 'SLACK_CLIENT_SECRET';
      return [tokenProblem(error, setting, 'Basic Information, App Credentials')];
    }
  }
  return [good(SUBJECT, 'SLACK_CLIENT_ID and SLACK_CLIENT_SECRET match an app')];
}

async function socket(web: webApi.WebClient): Promise<Finding[]> {
  try {
    await web.apps.connections.open();
    return [good(SUBJECT, 'SLACK_APP_TOKEN can open connections')];
  } catch (error) {
    return [tokenProblem(error, 'SLACK_APP_TOKEN', 'Basic Information, App-Level Tokens')];
  }
}

function tokenProblem(error: unknown, setting: string, page: string): Finding {
  const code = slackErrorOf(error);
  if (code === 'socket_mode_not_enabled')
    return wrong(SUBJECT, 'Socket Mode is off', `turn it on under “Socket Mode” at ${APPS}`);
  if (code === 'missing_scope')
    return wrong(
      SUBJECT,
      `${setting} is missing a scope`,
      `generate a new one with connections:write under “${page}” at ${APPS}`,
    );
  if (code !== undefined)
    return wrong(SUBJECT, `Slack rejected ${setting} (${code})`, `copy it again from “${page}” at ${APPS}`);
  return warning(
    SUBJECT,
    `${error instanceof webApi.WebAPIRequestError ? 'Could not reach Slack' : 'Slack sent an unreadable answer'}`,
    'check that this machine can reach slack.com, and check SLACK_API_URL if it is set; then try again',
  );
}
