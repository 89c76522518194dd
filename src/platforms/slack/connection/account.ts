/** The bot's account: in one workspace, by an operator's token, or in all that install the app. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isTokenError, refusedToken } from '../errors.ts';
import { createWebClient } from './client.ts';
import type { ConnectionOptions, OAuthAccount } from './connection.ts';
import { createInstallations, type InstallationSettings } from './oauth/installations.ts';
import { createInstallPages } from './oauth/pages.ts';
import { createTokenSource } from './oauth/rotation.ts';
import { createSeal } from './oauth/seal.ts';
import { installedWorkspaces, type Workspaces, workspacesOfToken } from './workspaces.ts';

export interface TokenAccount {
  readonly type: 'token';
  readonly botToken: string;
}

export interface AccountOptions extends ConnectionOptions {
  readonly settings: InstallationSettings;
  /** Runs the work while no other replica runs a task of this name. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly editGapMs: number;
}

export interface Account {
  readonly workspaces: Workspaces;
  /** Asks Slack whether it refuses the operator's token: a sentence that says so, undefined also while Slack is away. */
  refusal(): Promise<string | undefined>;
  /** A workspace removed the app at that time, in milliseconds. */
  uninstalled(team: string, at: number): Promise<void>;
  /** Answers a browser that installs the app. */
  readonly visit?: (request: IncomingMessage, response: ServerResponse) => void;
}

export function openAccount(account: TokenAccount | OAuthAccount, options: AccountOptions): Account {
  return account.type === 'token' ? tokenAccount(account, options) : oauthAccount(account, options);
}

function tokenAccount({ botToken }: TokenAccount, options: AccountOptions): Account {
  const { log } = options;
  const workspaces = workspacesOfToken(botToken, options);
  return {
    workspaces,
    async refusal() {
      try {
        await workspaces.first.identity.read();
      } catch (error) {
        if (isTokenError(error)) return refusedToken('SLACK_BOT_TOKEN', error);
        log.warn({ err: error }, 'Slack is away; trying again');
      }
      return undefined;
    },
    async uninstalled() {
      log.error({}, 'The app was removed from the workspace: SLACK_BOT_TOKEN does not work any more');
    },
  };
}

function oauthAccount(account: OAuthAccount, options: AccountOptions): Account {
  const { clientSecret, previousClientSecret } = account;
  const { client, log } = options;
  const secrets = [clientSecret, ...(previousClientSecret === undefined ? [] : [previousClientSecret])];
  const installations = createInstallations({ ...options, seal: createSeal(secrets) });
  const web = createWebClient(undefined, client);
  const tokens = createTokenSource({ ...account, ...options, installations, web });
  return {
    workspaces: installedWorkspaces({ ...installations, ...tokens }, options),
    refusal: async () => undefined,
    async uninstalled(team, at) {
      if (await installations.forget(team, at)) log.info({ team }, 'A workspace removed the app');
    },
    visit: createInstallPages({ ...account, ...options, store: installations.store }),
  };
}
