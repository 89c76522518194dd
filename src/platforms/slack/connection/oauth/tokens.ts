/** The tokens of installations. The SDK replaces those that expire. */
import type { Installation, InstallationQuery } from '@slack/bolt';
import type { System } from '../../../../core/system.ts';
import type { Installations } from './installations.ts';

/** As long before its end the SDK replaces a token: https://docs.slack.dev/authentication/using-token-rotation */
const REPLACED_BEFORE_MS = 2 * 3_600_000;

type Query = InstallationQuery<boolean>;

export interface TokenOptions extends Pick<System, 'now' | 'log'> {
  readonly installations: Installations;
  /** Stores another token where the one that is stored ends soon. */
  readonly authorize: (query: Query) => Promise<unknown>;
  /** Runs the work while no other replica runs a task of this name. */
  readonly withLock: (task: string, work: () => Promise<void>) => Promise<void>;
}

/** Throws PlatformError when the app is not installed there. */
export type TokenOf = (team: string | undefined, organisation: string | undefined) => Promise<string>;

export function createTokens({ installations, authorize, withLock, now, log }: TokenOptions): TokenOf {
  const replacing = new Map<string, Promise<void>>();

  /** A refresh token works once, so one replica uses it, and once. */
  function replaceOnce(id: string, query: Query): Promise<void> {
    const running = replacing.get(id);
    if (running !== undefined) return running;
    const started = withLock(`slack-token:${id}`, async () => void (await authorize(query)))
      .catch((error: unknown) => log.error({ err: error, team: id }, 'Could not refresh a workspace token'))
      .finally(() => replacing.delete(id));
    replacing.set(id, started);
    return started;
  }

  return async (team, organisation) => {
    const query: Query =
      organisation === undefined
        ? { teamId: team, enterpriseId: undefined, isEnterpriseInstall: false }
        : { teamId: team, enterpriseId: organisation, isEnterpriseInstall: true };
    const { token, expiresAt } = botOf(await installations.fetchInstallation(query));
    if (expiresAt - now() > REPLACED_BEFORE_MS) return token;
    const replaced = replaceOnce(organisation ?? team ?? '', query);
    // A token that still works is used while it is being replaced.
    if (expiresAt > now()) return token;
    await replaced;
    return botOf(await installations.fetchInstallation(query)).token;
  };
}

/** `expiresAt` in milliseconds; never, where the app does not rotate its tokens. */
function botOf({ bot }: Installation): { readonly token: string; readonly expiresAt: number } {
  const { token = '', refreshToken, expiresAt } = bot ?? {};
  const isRotated = refreshToken !== undefined && expiresAt !== undefined;
  return { token, expiresAt: isRotated ? expiresAt * 1000 : Number.POSITIVE_INFINITY };
}
