/** Whose workspaces the bot works in: one, by an operator's token, or as many as install the app. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../../command.ts';
import { type ClientOptions, createWebClient, webClientOptions } from './app.ts';
import { isTokenError, refusedSetting } from './errors.ts';
import { createInstallations, type InstallationSettings } from './oauth/installations.ts';
import { createInstallPages } from './oauth/pages.ts';
import { createTokenSource } from './oauth/rotation.ts';
import { createSeal } from './oauth/seal.ts';
import { createWorkspace, installedWorkspaces, oneWorkspace, type Workspaces } from './workspaces.ts';

export type Account =
  | { readonly type: 'token'; readonly botToken: string }
  | {
      readonly type: 'oauth';
      readonly clientId: string;
      readonly clientSecret: string;
      /** Opens what it sealed before it was replaced. */
      readonly previousClientSecret?: string;
      /** Where browsers reach the listener; no slash at its end. */
      readonly publicUrl: string;
    };

export interface AccountOptions {
  readonly client: ClientOptions;
  readonly settings: InstallationSettings;
  /** What an installation asks for. */
  readonly scopes: readonly string[];
  readonly inTurn: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly editGapMs: number;
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: Log;
}

export interface OpenAccount {
  readonly workspaces: Workspaces;
  /** Throws PlatformError when Slack does not accept the token. */
  start(): Promise<void>;
  /** The app was taken away at that time, in milliseconds. */
  uninstalled(team: string, at: number): Promise<void>;
  /** Answers a browser on its way to install the app. */
  readonly visit?: (request: IncomingMessage, response: ServerResponse) => void;
}

export function openAccount(account: Account, options: AccountOptions): OpenAccount {
  switch (account.type) {
    case 'token':
      return tokenAccount(account, options);
    case 'oauth':
      return oauthAccount(account, options);
    default:
      return account satisfies never;
  }
}

function tokenAccount(
  { botToken }: Extract<Account, { type: 'token' }>,
  { client, log, ...options }: AccountOptions,
): OpenAccount {
  const createWeb = (token: string) => createWebClient(token, client);
  const workspace = createWorkspace(botToken, { createWeb, log, ...options });
  return {
    workspaces: oneWorkspace(workspace),
    async start() {
      try {
        await workspace.identity.read();
      } catch (error) {
        if (isTokenError(error)) throw refusedSetting('SLACK_BOT_TOKEN', error);
        log.warn({ err: error }, 'Slack is away; trying again');
      }
    },
    async uninstalled() {
      log.error({}, 'The app was removed from the workspace: SLACK_BOT_TOKEN does not work any more');
    },
  };
}

function oauthAccount(
  account: Extract<Account, { type: 'oauth' }>,
  { client, settings, scopes, inTurn, now, log, ...options }: AccountOptions,
): OpenAccount {
  const { clientId, clientSecret, previousClientSecret, publicUrl } = account;
  const secrets = [clientSecret, ...(previousClientSecret === undefined ? [] : [previousClientSecret])];
  const installations = createInstallations({ settings, seal: createSeal(secrets), now, log });
  const source = createTokenSource({
    clientId,
    clientSecret,
    installations,
    web: createWebClient(undefined, client),
    inTurn,
    now,
    log,
  });
  const createWeb = (token: string) => createWebClient(token, client);
  return {
    workspaces: installedWorkspaces(source, { createWeb, now, log, ...options }),
    async start() {},
    async uninstalled(team, at) {
      if (await installations.forget(team, at)) log.info({ team }, 'A workspace removed the app');
    },
    visit: createInstallPages({
      clientId,
      clientSecret,
      publicUrl,
      scopes,
      authorizationUrl:
        client.apiUrl === undefined ? undefined : new URL('/oauth/v2/authorize', client.apiUrl).href,
      store: installations.store,
      clientOptions: webClientOptions(client),
      logger: client.logger,
      log,
    }),
  };
}
