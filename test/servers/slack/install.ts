import type { Tokens } from './tokens.ts';
import type { Workspace } from './workspace.ts';

export interface InstallOptions {
  tokens: Tokens;
  /** Scopes that exist on Slack. */
  known: ReadonlySet<string>;
  /** True if the person rejects the app on Slack's page. */
  deny?: boolean;
  /** True if another browser returns, without the first one's cookie. */
  otherBrowser?: boolean;
}

export interface Installed {
  status: number;
  page: string;
  scopes: string[];
}

/** Installs the app like a browser: install page, Slack's consent page, and back. Throws if Slack would show an error. */
export async function installIn(
  workspace: Workspace,
  installUrl: string,
  { tokens, known, deny = false, otherBrowser = false }: InstallOptions,
): Promise<Installed> {
  const first = await fetch(installUrl, { redirect: 'manual' });
  const location = first.headers.get('location');
  if (first.status !== 302 || location === null) throw new Error(`The install page answered ${first.status}`);
  const query = new URL(location).searchParams;
  if (query.get('client_id') !== tokens.clientId) throw new Error('Slack: invalid client_id parameter');
  const scopes = (query.get('scope') ?? '').split(',');
  const unknownScopes = scopes.filter((scope) => !known.has(scope));
  if (unknownScopes.length > 0) throw new Error(`Slack: invalid scopes: ${unknownScopes.join(', ')}`);
  const redirectUri = query.get('redirect_uri') ?? '';
  const back = new URL(new URL(redirectUri).pathname, installUrl);
  back.searchParams.set('state', query.get('state') ?? '');
  if (deny) back.searchParams.set('error', 'access_denied');
  else back.searchParams.set('code', tokens.code(workspace, scopes.join(','), redirectUri));
  const cookie = first.headers
    .getSetCookie()
    .map((set) => set.split(';')[0] ?? '')
    .join('; ');
  const last = await fetch(back, { headers: otherBrowser ? {} : { cookie } });
  return { status: last.status, page: await last.text(), scopes };
}
