import { z } from 'zod';
import type { Log } from '../../command.ts';
import { isThread } from './channel-types.ts';
import type { GatewayConnection } from './client.ts';
import { troubleOf } from './errors.ts';
import type { IncomingMessage } from './interaction.ts';
import type { DiscordRest } from './rest.ts';

const channelSchema = z.object({ owner_id: z.string().optional() });
/** Threads that are remembered; each costs a few bytes, and one that was forgotten costs a request. */
const MOST_REMEMBERED = 1_000;

export interface ThreadOwnersOptions {
  readonly rest: Pick<DiscordRest, 'channel'>;
  readonly seen: Pick<GatewayConnection, 'threadOwner'>;
  readonly log: Log;
}

/** Who opened a thread: mostly the connection knows, and Discord does for one that rested in the archive. */
export class ThreadOwners {
  readonly #options: ThreadOwnersOptions;
  readonly #asked = new Map<string, string | undefined>();

  constructor(options: ThreadOwnersOptions) {
    this.#options = options;
  }

  /** Undefined for what is no thread, and while Discord does not tell. */
  async ownerOf(
    guild: string,
    { channel_id, channel_type }: Pick<IncomingMessage, 'channel_id' | 'channel_type'>,
  ): Promise<string | undefined> {
    const seen = this.#options.seen.threadOwner(guild, channel_id);
    if (seen !== undefined || channel_type === undefined || !isThread(channel_type)) return seen;
    if (this.#asked.has(channel_id)) return this.#asked.get(channel_id);
    try {
      const owner = channelSchema.parse(await this.#options.rest.channel(channel_id)).owner_id;
      const [oldest] = this.#asked.keys();
      if (this.#asked.size >= MOST_REMEMBERED && oldest !== undefined) this.#asked.delete(oldest);
      this.#asked.set(channel_id, owner);
      return owner;
    } catch (error) {
      this.#options.log.warn({ err: error, trouble: troubleOf(error) }, 'Who opened a thread is not known');
      return undefined;
    }
  }
}
