/** Replaces the gateway connection where interactions come by HTTP alone: checks regularly whether Discord answers. */
import { backoff } from '../../../core/backoff.ts';
import type { PlatformStatus } from '../../platform.ts';
import { isUnauthorized } from '../errors.ts';
import { backgroundLoop, type DiscordConnection, type RetryTools } from './connection.ts';
import type { DiscordRest } from './rest/rest.ts';

const CHECK_EVERY_MS = 60_000;
const RETRY = { firstMs: 1_000, longestMs: CHECK_EVERY_MS } as const;

export interface HttpOnlyOptions extends RetryTools {
  readonly rest: Pick<DiscordRest, 'applicationId'>;
  /** Once, at Discord's first answer. */
  readonly onReady: () => void;
}

export function createHttpOnlyConnection(options: HttpOnlyOptions): DiscordConnection {
  const { rest, log, random, sleep, onReady } = options;
  let status: PlatformStatus = { ready: false, reason: 'not started' };

  async function run(attempted: () => void): Promise<void> {
    let failures = 0;
    let wasReady = false;
    while (!loop.signal.aborted) {
      try {
        await rest.applicationId();
        status = { ready: true };
        failures = 0;
        if (!wasReady) onReady();
        wasReady = true;
      } catch (error) {
        const reason = isUnauthorized(error) ? 'the token was refused' : 'it does not answer';
        status = { ready: false, reason };
        failures += 1;
        log.warn({ err: error }, `Discord is not there: ${reason}`);
      }
      attempted();
      const pause = failures === 0 ? CHECK_EVERY_MS : backoff({ ...RETRY, attempt: failures, random });
      await sleep(pause, loop.signal);
    }
  }

  const loop = backgroundLoop(run);

  return {
    open: loop.open,

    async close() {
      await loop.close();
      status = { ready: false, reason: 'stopped' };
    },

    status: () => status,

    connections: () => 0,
  };
}
