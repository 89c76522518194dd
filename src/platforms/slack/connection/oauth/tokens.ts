/** Bot tokens of installations. The SDK refreshes those that expire. */
import type { Installation, InstallationQuery } from '@slack/bolt';
import type { System } from '../../../../core/system.ts';
import type { Installations } from './installations.ts';

/** The SDK refreshes a token this long before it expires: https://docs.slack.dev/authentication/using-token-rotation */
const REFRESH_BEFORE_MS = 2 * 3_600_000;

type Query = InstallationQuery<boolean>;

export interface TokenOptions extends Pick<System, 'now' | 'log'> {
  readonly installations: Installations;
  /** Stores a new token if the current one expires soon. */
  readonly authorize: (query: Query) => Promise<unknown>;
  /** Runs `work` under a lock that is shared by all replicas. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
}

/** Throws PlatformError if the app is not installed there. */
export type TokenOf = (team: string | undefined, organisation: string | undefined) => Promise<string>;

export function createTokens({ installations, authorize, withLock, now, log }: TokenOptions): TokenOf {
  const refreshing = new Map<string, Promise<void>>();

  /** A refresh token works only once, so only one replica may use it. */
  function refreshOnce(id: string, query: Query): Promise<void> {
    const running = refreshing.get(id);
    if (running !== undefined) return running;
    const started = withLock(`slack-token:${id}`, async () => void (await authorize(query)))
      .catch((error: unknown) => log.error({ err: error, team: id }, 'Could not refresh a workspace token'))
      .finally(() => refreshing.delete(id));
    refreshing.set(id, started);
    return started;
  }

  return async (team, organisation) => {
    const query: Query =
      organisation === undefined
        ? { teamId: team, enterpriseId: undefined, isEnterpriseInstall: false }
        : { teamId: team, enterpriseId: organisation, isEnterpriseInstall: true };
    const { token, expiresAt } = botOf(await installations.fetchInstallation(query));
    if (expiresAt - now() > REFRESH_BEFORE_MS) return token;
    const refreshed = refreshOnce(organisation ?? team ?? '', query);
    // The current token is used while it is being refreshed.
    if (expiresAt > now()) return token;
    await refreshed;
    return botOf(await installations.fetchInstallation(query)).token;
  };
}

/** `expiresAt` is in milliseconds, and infinite without token rotation. */
function botOf({ bot }: Installation): { readonly token: string; readonly expiresAt: number } {
  const { token = '', refreshToken, expiresAt } = bot ?? {};
  const isRotated = refreshToken !== undefined && expiresAt !== undefined;
  return { token, expiresAt: isRotated ? expiresAt * 1000 : Number.POSITIVE_INFINITY };
}
