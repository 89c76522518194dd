/** Replaces tokens before they expire, by one replica for all of them. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import { slackErrorOf } from '../../errors.ts';
import { LIMITS } from '../../limits.ts';
import type { ConnectionOptions, OAuthAccount } from '../connection.ts';
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

export interface RotationOptions
  extends Pick<OAuthAccount, 'clientId' | 'clientSecret'>,
    Pick<ConnectionOptions, 'now' | 'sleep' | 'log'> {
  readonly installations: Installations;
  /** Without a token. */
  readonly web: webApi.WebClient;
  /** Runs the work while no other replica runs a task of this name. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
}

export function createTokenSource(options: RotationOptions): Pick<TokenSource, 'tokenOf'> {
  const { installations, withLock, now, sleep, log } = options;
  const rotating = new Map<string, Promise<void>>();
  const pausedUntil = new Map<string, number>();
  const unstored = new Map<string, { readonly before: string; readonly fresh: InstalledWorkspace }>();

  const isDue = ({ refreshToken, expiresAt }: InstalledWorkspace): boolean =>
    refreshToken !== undefined && expiresAt !== undefined && expiresAt - now() < REFRESH_BEFORE_MS;

  async function rotate(team: string): Promise<void> {
    const workspace = await installations.find(team);
    // Another replica was first, or the app was removed meanwhile.
    if (workspace === undefined || !isDue(workspace)) return;
    // A token that could not be stored is not asked for again: the old one no longer refreshes.
    const last = unstored.get(team);
    const fresh = last?.before === workspace.token ? last.fresh : await refresh(workspace, options);
    unstored.set(team, { before: workspace.token, fresh });
    await installations.rotate(workspace, fresh);
    unstored.delete(team);
    log.info({ team }, 'A workspace’s token was replaced before it expired');
  }

  function rotateOnce(team: string): Promise<void> {
    const running = rotating.get(team);
    if (running !== undefined) return running;
    const started = withLock(`slack-token:${team}`, () => rotate(team))
      .catch((error: unknown) => {
        pausedUntil.set(team, now() + PAUSE_MS);
        const code = slackErrorOf(error);
        log.error({ err: error, team, code }, 'A workspace’s token could not be replaced');
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
      // A token that still works is used while it is being replaced.
      if ((workspace.expiresAt ?? 0) > now()) return workspace.token;
      await Promise.race([rotated, sleep(LIMITS.lookUpWithinMs)]);
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
