/** How Slack is reached: which settings go together. */
import type { Config, ConfigProblem } from '../config.ts';
import type { Values, Variable } from './schema.ts';

type Needs = (variable: Variable, isNeeded: boolean, why: string) => ConfigProblem[];

/** Settings for Slack that another one asks for, or that exclude each other. */
export function missingForSlack(has: (variable: Variable) => boolean, needs: Needs): ConfigProblem[] {
  const [token, oauth] = [has('SLACK_BOT_TOKEN'), has('SLACK_CLIENT_ID')];
  const connected = has('SLACK_APP_TOKEN') || has('SLACK_SIGNING_SECRET');
  const connection = has('SLACK_APP_TOKEN') ? 'SLACK_APP_TOKEN' : 'SLACK_SIGNING_SECRET';
  return [
    ...needs(
      'SLACK_APP_TOKEN',
      (token || oauth) && !connected,
      `Slack needs it beside ${token ? 'SLACK_BOT_TOKEN' : 'SLACK_CLIENT_ID'}, to open the connection (Socket Mode); or set SLACK_SIGNING_SECRET, for requests to the listener.`,
    ),
    ...needs(
      'SLACK_BOT_TOKEN',
      connected && !token && !oauth && !has('SLACK_CLIENT_SECRET'),
      `Slack needs it beside ${connection}, to answer; or set SLACK_CLIENT_ID, for many workspaces.`,
    ),
    ...needs(
      'SLACK_CLIENT_SECRET',
      oauth,
      'Slack needs it beside SLACK_CLIENT_ID, for workspaces to install the app.',
    ),
    ...needs('SLACK_CLIENT_ID', has('SLACK_CLIENT_SECRET'), 'Slack needs it beside SLACK_CLIENT_SECRET.'),
    ...needs('PUBLIC_URL', oauth, 'with SLACK_CLIENT_ID it must say where browsers reach /slack/install.'),
    ...(token && oauth
      ? [
          {
            variable: 'SLACK_BOT_TOKEN',
            sentence:
              'SLACK_BOT_TOKEN cannot stand beside SLACK_CLIENT_ID: with it every workspace, yours too, installs the app at /slack/install.',
          },
        ]
      : []),
  ];
}

export function slackSettings(values: Values): Config['slack'] {
  const { SLACK_APP_TOKEN, SLACK_SIGNING_SECRET, SLACK_API_URL, SLACK_THREADS } = values;
  const account = accountOf(values);
  if (account === undefined) return undefined;
  return {
    account,
    connection:
      SLACK_APP_TOKEN === undefined
        ? // Whoever comes here without it was told of it before.
          { type: 'http', signingSecret: SLACK_SIGNING_SECRET ?? '' }
        : { type: 'socket', appToken: SLACK_APP_TOKEN },
    threads: SLACK_THREADS,
    ...(SLACK_API_URL === undefined ? {} : { apiUrl: SLACK_API_URL }),
  };
}

function accountOf(values: Values): NonNullable<Config['slack']>['account'] | undefined {
  const { SLACK_BOT_TOKEN, SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, SLACK_CLIENT_SECRET_PREVIOUS } = values;
  if (SLACK_BOT_TOKEN !== undefined) return { type: 'token', botToken: SLACK_BOT_TOKEN };
  if (SLACK_CLIENT_ID === undefined) return undefined;
  return {
    type: 'oauth',
    clientId: SLACK_CLIENT_ID,
    clientSecret: SLACK_CLIENT_SECRET ?? '',
    publicUrl: values.PUBLIC_URL ?? '',
    ...(SLACK_CLIENT_SECRET_PREVIOUS === undefined
      ? {}
      : { previousClientSecret: SLACK_CLIENT_SECRET_PREVIOUS }),
  };
}
