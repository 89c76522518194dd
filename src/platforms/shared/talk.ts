/** Channels in which each message is a question: what is one, and which messages of a person belong together. */

import type { AnyCommand } from '../../core/bot/command.ts';
import type { ConversationTurn } from '../../core/invocation.ts';
import { BoundedMap } from '../../core/util/bounded-map.ts';

/** Who writes on so soon goes on with what they said before. */
const SERIES_MS = 5000;
/** A person who was refused is not told again for as long at most. */
const REFUSED_MS = 5 * 60_000;
const MOST_REMEMBERED = 5000;

/** Commands of other bots: `!play rain`, but neither `.net or java?` nor `$AAPL`, `~nice~` and `-5`. */
const FOR_OTHER_BOTS = /^[!$%&.;?~+-]{1,2}[a-z][\w-]*(?=\s|$)/;
/** Nobody starts a sentence with it. */
const ONLY_FOR_BOTS = '!';

function isForOtherBots(text: string): boolean {
  return FOR_OTHER_BOTS.test(text) && (text.startsWith(ONLY_FOR_BOTS) || !text.endsWith('?'));
}

/** `command`: one of the bot's own, typed as text. `none`: nothing that asks the bot. */
export function kindOfTalk(
  text: string,
  commands: readonly Pick<AnyCommand, 'name'>[],
): 'question' | 'command' | 'none' {
  const said = text.trim();
  const [, name] = /^\/([a-z]+)(?=\s|$)/i.exec(said) ?? [];
  if (commands.some((command) => command.name === name?.toLowerCase())) return 'command';
  return said === '' || said.startsWith('/') || isForOtherBots(said) ? 'none' : 'question';
}

/** For a person who typed a command as text. */
export const TYPED_COMMAND = 'I received that as a message, not a command. Start the message with the slash.';

interface Series {
  /** Of the first message; undefined where there could be none. */
  readonly thread: Promise<string | undefined>;
  readonly turns: readonly ConversationTurn[];
  readonly at: number;
}

export type TalkMemory = ReturnType<typeof createTalkMemory>;

/** What this process knows of people who write in such channels. Nothing depends on it but where an answer goes. */
export function createTalkMemory(now: () => number) {
  const series = new BoundedMap<string, Series>(MOST_REMEMBERED);
  const refusedUntil = new BoundedMap<string, number>(MOST_REMEMBERED);
  const keyOf = (channel: string, person: string): string => `${channel}:${person}`;

  return {
    /**
     * The thread for a message, and what the person said in it just before. `open` makes a thread for a message that follows
     * no other.
     */
    place(
      channel: string,
      said: ConversationTurn & { readonly person: string },
      open: () => Promise<string | undefined>,
    ): Pick<Series, 'thread' | 'turns'> {
      const key = keyOf(channel, said.person);
      const before = series.get(key);
      const isNext = before !== undefined && now() - before.at < SERIES_MS;
      const thread = isNext ? before.thread : open();
      const turns = isNext ? before.turns : [];
      series.set(key, { thread, turns: [...turns, said], at: now() });
      return { thread, turns };
    },

    /** @param until when it is not refused any more, in milliseconds since the epoch */
    refused(channel: string, person: string, until: number): void {
      refusedUntil.set(keyOf(channel, person), Math.min(until, now() + REFUSED_MS));
    },

    isRefused: (channel: string, person: string): boolean =>
      (refusedUntil.get(keyOf(channel, person)) ?? 0) > now(),
  };
}
