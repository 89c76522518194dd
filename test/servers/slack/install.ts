import type { Tokens } from './tokens.ts';
import type { Workspace } from './workspace.ts';

export interface InstallOptions {
  tokens: Tokens;
  /** Scopes that Slack would grant. */
  known: ReadonlySet<string>;
  /** The person closes Slack's page instead of allowing. */
  deny?: boolean;
  /** Another browser comes back: without the cookie of the first. */
  otherBrowser?: boolean;
}

export interface Installed {
  status: number;
  page: string;
  scopes: string[];
}

/** A browser: the app's install page, Slack's question, and back. Throws where Slack would stop the person. */
export async function installIn(
  workspace: Workspace,
  installUrl: string,
  { tokens, known, deny = false, otherBrowser = false }: InstallOptions,
): Promise<Installed> {
  const first = await fetch(installUrl, { redirect: 'manual' });
  const location = first.headers.get('location');
  if (first.status !== 302 || location === null) throw new Error(`The install page answered ${first.status}`);
  const asked = new URL(location).searchParams;
  if (asked.get('client_id') !== tokens.clientId) throw new Error('Slack: invalid client_id parameter');
  const scopes = (asked.get('scope') ?? '').split(',');
  const unknown = scopes.filter((scope) => !known.has(scope));
  if (unknown.length > 0) throw new Error(`Slack: invalid scopes: ${unknown.join(', ')}`);
  const redirectUri = asked.get('redirect_uri') ?? '';
  const back = new URL(new URL(redirectUri).pathname, installUrl);
  back.searchParams.set('state', asked.get('state') ?? '');
  if (deny) back.searchParams.set('error', 'access_denied');
  else back.searchParams.set('code', tokens.code(workspace, scopes.join(','), redirectUri));
  const cookie = first.headers
    .getSetCookie()
    .map((set) => set.split(';')[0] ?? '')
    .join('; ');
  const last = await fetch(back, { headers: otherBrowser ? {} : { cookie } });
  return { status: last.status, page: await last.text(), scopes };
}
