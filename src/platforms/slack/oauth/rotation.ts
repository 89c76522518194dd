/** Tokens that expire are replaced in time, by one replica for all of them. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../../command.ts';
import { slackErrorOf } from '../errors.ts';
import type { TokenSource } from '../workspaces.ts';
import type { Installations, InstalledWorkspace } from './installations.ts';

/** https://docs.slack.dev/authentication/using-token-rotation: a token lives 12 hours, and two may live at once. */
const REFRESH_BEFORE_MS = 2 * 3_600_000;
/** After a refusal. */
const PAUSE_MS = 60_000;

const refreshedSchema = z.object({
  access_token: z.string(),
  refresh_token: z.string(),
  expires_in: z.number(),
});

export interface RotationOptions {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly installations: Installations;
  /** Without a token. */
  readonly web: webApi.WebClient;
  /** Runs the work while no other replica runs a task of this name. */
  readonly inTurn: (task: string, work: () => Promise<void>) => Promise<void>;
  readonly now: () => number;
  readonly log: Log;
}

export function createTokenSource(options: RotationOptions): TokenSource {
  const { installations, inTurn, now, log } = options;
  const rotating = new Map<string, Promise<void>>();
  const pausedUntil = new Map<string, number>();

  const isDue = ({ refreshToken, expiresAt }: InstalledWorkspace): boolean =>
    refreshToken !== undefined && expiresAt !== undefined && expiresAt - now() < REFRESH_BEFORE_MS;

  async function rotate(team: string): Promise<void> {
    const workspace = await installations.find(team);
    // Another replica was first, or the app was taken away meanwhile.
    if (workspace === undefined || !isDue(workspace)) return;
    const fresh = await refresh(workspace, options);
    // An uninstall that came meanwhile counts.
    if ((await installations.find(team))?.token === workspace.token) await installations.keep(fresh);
    log.info({ team }, 'A workspace’s token was replaced before it expired');
  }

  function rotateOnce(team: string): Promise<void> {
    const running = rotating.get(team);
    if (running !== undefined) return running;
    const started = inTurn(`slack-token:${team}`, () => rotate(team))
      .catch((error: unknown) => {
        pausedUntil.set(team, now() + PAUSE_MS);
        log.error(
          { err: error, team, code: slackErrorOf(error) },
          'A workspace’s token could not be replaced',
        );
      })
      .finally(() => rotating.delete(team));
    rotating.set(team, started);
    return started;
  }

  return {
    async tokenOf(team) {
      const workspace = await installations.find(team);
      if (workspace === undefined || !isDue(workspace)) return workspace?.token;
      if ((pausedUntil.get(team) ?? 0) > now()) return workspace.token;
      const rotated = rotateOnce(team);
      // A token that still works need not wait for its successor.
      if ((workspace.expiresAt ?? 0) > now()) return workspace.token;
      await rotated;
      return (await installations.find(team))?.token;
    },
  };
}

async function refresh(
  workspace: InstalledWorkspace,
  { clientId, clientSecret, web, now }: RotationOptions,
): Promise<InstalledWorkspace> {
  const askedAt = now();
  const answer = await web.oauth.v2.access({
    client_id: clientId,
    client_secret: clientSecret,
    grant_type: 'refresh_token',
    refresh_token: workspace.refreshToken ?? '',
  });
  const { access_token, refresh_token, expires_in } = refreshedSchema.parse(answer);
  return {
    ...workspace,
    token: access_token,
    refreshToken: refresh_token,
    expiresAt: askedAt + expires_in * 1000,
  };
}
