import type { AnyCommand, Log } from '../../command.ts';
import { troubleOf } from './errors.ts';
import { register } from './register.ts';
import type { DiscordRest } from './rest.ts';

const FIRST_RETRY_MS = 5_000;
const LONGEST_RETRY_MS = 5 * 60_000;

export interface RegistrarOptions {
  readonly rest: DiscordRest;
  readonly log: Log;
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
  /** Runs the work while no other replica does. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
}

/** Writes the commands once in the life of a process, one replica at a time, however often it connects. */
export class Registrar {
  readonly #options: RegistrarOptions;
  readonly #closing = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: RegistrarOptions) {
    this.#options = options;
  }

  /** Goes on until Discord has the commands or refuses them. Never rejects. */
  async run(commands: readonly AnyCommand[]): Promise<void> {
    this.#running ??= this.#run(commands);
    await this.#running;
  }

  close(): void {
    this.#closing.abort();
  }

  async #run(commands: readonly AnyCommand[]): Promise<void> {
    const { rest, log, sleep, inTurn } = this.#options;
    for (let pause = FIRST_RETRY_MS; !this.#closing.signal.aborted; ) {
      try {
        await inTurn(async () => {
          const registration = await register(rest, commands);
          log.info({ registration }, 'Commands are registered with Discord');
        });
        return;
      } catch (error) {
        log.error({ err: error }, 'Commands could not be registered with Discord');
        if (troubleOf(error) === 'refused') return;
      }
      await sleep(pause, this.#closing.signal);
      pause = Math.min(pause * 2, LONGEST_RETRY_MS);
    }
  }
}
