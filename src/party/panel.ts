/** Keeps the message of a party up to date with as few edits as possible. */
import { isDeepStrictEqual } from 'node:util';
import type { Address } from '../core/invocation.ts';
import type { Message } from '../core/message.ts';
import type { Party } from '../core/music/party.ts';
import type { Log } from '../core/telemetry/log.ts';
import type { MessageStream, Platform, PostState } from '../platforms/platform.ts';

export interface PanelOptions {
  readonly platform: Pick<Platform, 'stream' | 'show'>;
  /** Stores the message's location, so that the next process can edit it. */
  readonly remember: (posted: PostState) => Promise<void>;
  readonly log: Log;
}

export interface Panel {
  /** Never blocks or throws. Skips unchanged messages. */
  show(message: Message): void;
  /** Whether the party was shown in its channel, including before a restart. */
  readonly isShown: boolean;
  /** Shows the final message. Never rejects. */
  close(message: Message): Promise<void>;
}

export function createPanel(
  { id, address, posted }: Pick<Party, 'id' | 'address' | 'posted'>,
  options: PanelOptions,
): Panel {
  const { platform, remember, log } = options;
  let shown: Message | undefined;
  let stream: MessageStream | undefined;
  let opening: Promise<void> | undefined;

  const showOptions = (known: PostState | undefined) => ({ key: keyOf(id), posted: known, remember });

  /** Shows and stores the first message, so that after a crash it is edited, not repeated. */
  async function open(message: Message): Promise<void> {
    try {
      const first = await platform.show(
        address satisfies Address,
        message,
        showOptions(posted as PostState | undefined),
      );
      await remember(first);
      stream = platform.stream(address, showOptions(first));
      const newest = shown;
      if (newest && newest !== message) stream.update(() => newest);
    } catch (error) {
      opening = undefined;
      log.info({ err: error }, 'Could not show the message of a party');
    }
  }

  return {
    get isShown() {
      return (posted ?? shown) !== undefined;
    },

    show(message) {
      if (isDeepStrictEqual(message, shown)) return;
      shown = message;
      if (stream) stream.update(() => shown ?? message);
      else opening ??= open(message);
    },

    async close(message) {
      shown = message;
      await opening;
      try {
        if (stream) await stream.close(message);
        else await platform.show(address, message, showOptions(posted as PostState | undefined));
      } catch (error) {
        log.info({ err: error }, 'Could not show the last message of a party');
      }
    },
  };
}

/** At most 25 characters. */
const keyOf = (id: string): string => `party-${id}`.slice(0, 25);
