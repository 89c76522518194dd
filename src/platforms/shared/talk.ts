/** Channels where each message is a question: classifies messages and groups those sent close together. */

import type { AnyCommand } from '../../core/bot/command.ts';
import type { ConversationTurn } from '../../core/invocation.ts';
import { BoundedMap } from '../../core/util/bounded-map.ts';

/** Messages from one person within this time are answered together. */
const SERIES_MS = 5000;
/** A refused person gets no further notice for at most this long. */
const REFUSED_MS = 5 * 60_000;
const MAX_REMEMBERED = 5000;

/** Commands of other bots: `!play rain`, but not `.net or java?`, `$AAPL`, `~nice~` or `-5`. */
const FOR_OTHER_BOTS = /^[!$%&.;?~+-]{1,2}[a-z][\w-]*(?=\s|$)/;
/** No sentence starts with this. */
const ONLY_FOR_BOTS = '!';

function isForOtherBots(text: string): boolean {
  return FOR_OTHER_BOTS.test(text) && (text.startsWith(ONLY_FOR_BOTS) || !text.endsWith('?'));
}

/** `command`: one of the bot's commands, typed as text. `none`: not for the bot. */
export function classifyMessage(
  text: string,
  commands: readonly Pick<AnyCommand, 'name'>[],
): 'question' | 'command' | 'none' {
  const content = text.trim();
  const [, name] = /^\/([a-z]+)(?=\s|$)/i.exec(content) ?? [];
  if (commands.some((command) => command.name === name?.toLowerCase())) return 'command';
  return content === '' || content.startsWith('/') || isForOtherBots(content) ? 'none' : 'question';
}

/** The reply to a command typed as a message. */
export const TYPED_COMMAND =
  'I received that as a message, not a command. Type / in the message box and pick the command from the list.';

interface Series {
  /** The thread of the first message; undefined if it could not be created. */
  readonly thread: Promise<string | undefined>;
  readonly turns: readonly ConversationTurn[];
  readonly at: number;
}

export type TalkMemory = ReturnType<typeof createTalkMemory>;

/** In-memory state about people in these channels. It only affects where an answer is posted. */
export function createTalkMemory(now: () => number) {
  const series = new BoundedMap<string, Series>(MAX_REMEMBERED);
  const refusedUntil = new BoundedMap<string, number>(MAX_REMEMBERED);
  const keyOf = (channel: string, person: string): string => `${channel}:${person}`;

  return {
    /** The thread for a message, and the person's recent messages in it. `open` creates a thread if the message starts a new series. */
    place(
      channel: string,
      message: ConversationTurn & { readonly person: string },
      open: () => Promise<string | undefined>,
    ): Pick<Series, 'thread' | 'turns'> {
      const key = keyOf(channel, message.person);
      const previous = series.get(key);
      const isNext = previous !== undefined && now() - previous.at < SERIES_MS;
      const thread = isNext ? previous.thread : open();
      const turns = isNext ? previous.turns : [];
      series.set(key, { thread, turns: [...turns, message], at: now() });
      return { thread, turns };
    },

    /** @param until when the refusal ends, in milliseconds since the epoch */
    refused(channel: string, person: string, until: number): void {
      refusedUntil.set(keyOf(channel, person), Math.min(until, now() + REFUSED_MS));
    },

    isRefused: (channel: string, person: string): boolean =>
      (refusedUntil.get(keyOf(channel, person)) ?? 0) > now(),
  };
}
