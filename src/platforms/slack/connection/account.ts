/** The bot's account: one workspace with the operator's token, or every workspace that installed the app. */

import { createHttp, type HttpOptions } from './http.ts';
import { createInstallations, type InstallationOptions } from './oauth/installations.ts';
import { createTokens, type TokenOptions } from './oauth/tokens.ts';
import type { ConnectionOptions, OAuthAccount, TokenAccount } from './options.ts';
import { installedWorkspaces, type Workspaces, workspacesOfToken } from './workspaces.ts';

export type AccountOptions = ConnectionOptions &
  Pick<InstallationOptions, 'settings'> &
  Pick<TokenOptions, 'withLock'> &
  Pick<HttpOptions, 'signingSecret' | 'patienceMs'>;

export interface Account {
  readonly http: ReturnType<typeof createHttp>;
  readonly workspaces: Workspaces;
  /**
   * Checks the operator's token. Returns a message if Slack rejects it, and undefined otherwise or if Slack is unreachable.
   */
  tokenProblem(): Promise<string | undefined>;
  /** Handles the removal of the app from a workspace or organisation at `at`, in milliseconds. */
  onRemoved(id: string, at: number): Promise<void>;
}

export function openAccount(account: TokenAccount | OAuthAccount, options: AccountOptions): Account {
  return account.type === 'token' ? tokenAccount(account, options) : oauthAccount(account, options);
}

function tokenAccount({ botToken }: TokenAccount, options: AccountOptions): Account {
  const workspaces = workspacesOfToken(botToken, options);
  return {
    http: createHttp(options),
    workspaces,
    tokenProblem: workspaces.tokenProblem,
    onRemoved: async () => {},
  };
}

function oauthAccount(account: OAuthAccount, options: AccountOptions): Account {
  const { clientSecret, previousClientSecret } = account;
  const { log } = options;
  const clientSecrets = [clientSecret, previousClientSecret].filter((secret) => secret !== undefined);
  const installations = createInstallations({ ...options, clientSecrets });
  const http = createHttp({ ...options, oauth: { account, store: installations } });
  const tokenOf = createTokens({ ...options, installations, authorize: http.authorize });
  return {
    http,
    workspaces: installedWorkspaces(tokenOf, options),
    tokenProblem: async () => undefined,
    async onRemoved(id, at) {
      if (await installations.forget(id, at)) log.info({ team: id }, 'A workspace uninstalled the app');
    },
  };
}
