/** The bot's account: in one workspace, by an operator's token, or in all that install the app. */

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
  /** Asks Slack whether it refuses the operator's token: a sentence that says so, undefined also while Slack is away. */
  refusal(): Promise<string | undefined>;
  /** A workspace or an organisation removed the app at that time, in milliseconds. */
  removed(id: string, at: number): Promise<void>;
}

export function openAccount(account: TokenAccount | OAuthAccount, options: AccountOptions): Account {
  return account.type === 'token' ? tokenAccount(account, options) : oauthAccount(account, options);
}

function tokenAccount({ botToken }: TokenAccount, options: AccountOptions): Account {
  const workspaces = workspacesOfToken(botToken, options);
  return { http: createHttp(options), workspaces, refusal: workspaces.refusal, removed: async () => {} };
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
    refusal: async () => undefined,
    async removed(id, at) {
      if (await installations.forget(id, at)) log.info({ team: id }, 'A workspace uninstalled the app');
    },
  };
}
