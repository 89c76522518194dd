import { SlackRefusal } from './call.ts';
import type { Organisation, Workspace } from './workspace.ts';

interface BotToken {
  workspace: Workspace;
  organisation: Organisation | undefined;
  revoked: boolean;
  /** Milliseconds since the epoch; undefined without token rotation. */
  expiresAt: number | undefined;
}

/** https://docs.slack.dev/authentication/using-token-rotation */
const LIFETIME_SECONDS = 12 * 3600;

/** Bot tokens with their workspace, expiry and revocation. */
export class Tokens {
  readonly app = 'xapp-minstrel-test';
  /** https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests */
  readonly configuration = 'xoxe.xoxp-1-configuration-test';
  readonly clientId = '1111111111.2222222222';
  readonly clientSecret = 'aaaabbbbccccddddaaaabbbbccccdddd';
  readonly signingSecret = 'eeeeffff00001111eeeeffff00001111';
  readonly #bots = new Map<string, BotToken>();
  readonly #codes = new Map<string, { workspace: Workspace; scope: string; redirectUri: string }>();
  readonly #refresh = new Map<string, Workspace>();
  readonly #now: () => number;
  /** True if installations get tokens that expire. */
  rotating = false;
  /** The number of token refreshes. */
  rotations = 0;
  #count = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  add(token: string, workspace: Workspace): void {
    this.#bots.set(token, { workspace, organisation: undefined, revoked: false, expiresAt: undefined });
  }

  /**
   * Returns a bot token's workspace. In an organisation, it is the workspace with the call's channel or person. Throws Slack's
   * refusal.
   */
  workspaceOf(token: unknown, args: Record<string, unknown> = {}): Workspace {
    const entry = typeof token === 'string' ? this.#bots.get(token) : undefined;
    if (entry === undefined) throw new SlackRefusal('invalid_auth');
    if (entry.revoked) throw new SlackRefusal('token_revoked');
    if (entry.expiresAt !== undefined && entry.expiresAt <= this.#now())
      throw new SlackRefusal('token_expired');
    const all = entry.organisation?.workspaces ?? [];
    const has = ({ channels, users, files }: Workspace) =>
      [args.channel, args.channel_id].some((id) => channels.has(String(id))) ||
      [args.user, args.user_id, args.channel, args.users].some((id) => users.has(String(id))) ||
      files.has(String(args.file));
    return all.find(has) ?? entry.workspace;
  }

  /** Revokes a workspace's tokens: calls fail with `token_revoked`. */
  revoke(workspace?: Workspace): void {
    for (const bot of this.#bots.values())
      if (workspace === undefined || bot.workspace === workspace) bot.revoked = true;
    for (const [token, owner] of this.#refresh)
      if (workspace === undefined || owner === workspace) this.#refresh.delete(token);
  }

  /** Creates the code that the browser returns after the person allowed the app. */
  code(workspace: Workspace, scope: string, redirectUri: string): string {
    const code = `code-${this.#next()}`;
    this.#codes.set(code, { workspace, scope, redirectUri });
    return code;
  }

  /** `oauth.v2.access` with a code or a refresh token. Each works once. */
  access(args: Record<string, unknown>): Record<string, unknown> {
    if (args.client_id !== this.clientId) throw new SlackRefusal('invalid_client_id');
    if (args.client_secret !== this.clientSecret) throw new SlackRefusal('bad_client_secret');
    if (args.grant_type === 'refresh_token') {
      const token = String(args.refresh_token);
      const workspace = this.#refresh.get(token);
      if (workspace === undefined) throw new SlackRefusal('invalid_refresh_token');
      this.#refresh.delete(token);
      this.rotations += 1;
      return this.#grant(workspace, '');
    }
    const code = String(args.code);
    const granted = this.#codes.get(code);
    this.#codes.delete(code);
    if (granted === undefined) throw new SlackRefusal('invalid_code');
    if (args.redirect_uri !== granted.redirectUri) throw new SlackRefusal('bad_redirect_uri');
    return this.#grant(granted.workspace, granted.scope);
  }

  #grant(workspace: Workspace, scope: string): Record<string, unknown> {
    const token = `xoxb-${workspace.teamId}-${this.#next()}`;
    const expiresAt = this.rotating ? this.#now() + LIFETIME_SECONDS * 1000 : undefined;
    const { organisation } = workspace;
    this.#bots.set(token, { workspace, organisation, revoked: false, expiresAt });
    const refresh = `xoxe-1-${this.#next()}`;
    if (this.rotating) this.#refresh.set(refresh, workspace);
    return {
      access_token: token,
      token_type: 'bot',
      scope,
      bot_user_id: workspace.botUser,
      app_id: workspace.appId,
      team: organisation === undefined ? { id: workspace.teamId, name: workspace.teamName } : null,
      enterprise: organisation === undefined ? null : { id: organisation.id, name: organisation.name },
      authed_user: { id: 'U0ADA' },
      is_enterprise_install: organisation !== undefined,
      ...(this.rotating ? { refresh_token: refresh, expires_in: LIFETIME_SECONDS } : {}),
    };
  }

  #next(): number {
    this.#count += 1;
    return this.#count;
  }
}
