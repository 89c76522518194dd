/** In place of the gateway connection where interactions come by HTTP alone: looks now and then whether Discord answers. */
import type { Log } from '../../command.ts';
import type { PlatformStatus } from '../platform.ts';
import type { GatewayConnection } from './client.ts';
import { isUnauthorized } from './errors.ts';
import type { DiscordRest } from './rest.ts';

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 60_000;
const LOOK_EVERY_MS = 60_000;

export interface HttpOnlyOptions {
  readonly rest: Pick<DiscordRest, 'applicationId'>;
  readonly log: Log;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Once, when Discord answered first. */
  readonly onReady: () => void;
}

export class HttpOnly implements GatewayConnection {
  readonly #options: HttpOnlyOptions;
  readonly #closing = new AbortController();
  #status: PlatformStatus = { ready: false, reason: 'Discord: not started' };
  #loop: Promise<void> | undefined;

  constructor(options: HttpOnlyOptions) {
    this.#options = options;
  }

  async open(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#loop ??= this.#run(resolve);
    });
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await this.#loop;
    this.#status = { ready: false, reason: 'Discord: stopped' };
  }

  status(): PlatformStatus {
    return this.#status;
  }

  premiumTier(): undefined {
    return undefined;
  }

  parentOf(): undefined {
    return undefined;
  }

  threadOwner(): undefined {
    return undefined;
  }

  lacking(): undefined {
    return undefined;
  }

  mayUseCommands(): boolean {
    return true;
  }

  moderates(): boolean {
    return false;
  }

  async #run(attempted: () => void): Promise<void> {
    let retry = FIRST_RETRY_MS;
    let wasReady = false;
    while (!this.#closing.signal.aborted) {
      try {
        await this.#options.rest.applicationId();
        this.#status = { ready: true };
        retry = FIRST_RETRY_MS;
        if (!wasReady) this.#options.onReady();
        wasReady = true;
      } catch (error) {
        const reason = isUnauthorized(error) ? 'the token was refused' : 'it does not answer';
        this.#status = { ready: false, reason: `Discord: ${reason}` };
        this.#options.log.warn({ err: error }, `Discord is not there: ${reason}`);
      }
      attempted();
      await this.#options.sleep(this.#status.ready ? LOOK_EVERY_MS : retry, this.#closing.signal);
      retry = Math.min(retry * 2, LONGEST_RETRY_MS);
    }
  }
}
