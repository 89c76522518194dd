import type { Bot } from '../../core/bot/bot.ts';
import type { System } from '../../core/system.ts';
import type { MediaReader } from '../platform.ts';
import type { Deletions } from '../shared/deletions.ts';
import type { TalkMemory } from '../shared/talk.ts';
import type { Guilds } from './connection/guilds.ts';
import type { DiscordRest } from './connection/rest.ts';
import type { FirstResponses } from './receive/invocation.ts';

/** What showing a message takes. */
export interface DeliveryTools extends Pick<System, 'now' | 'log'> {
  readonly rest: DiscordRest;
  readonly guilds: Guilds;
  readonly media: MediaReader;
  readonly responses: FirstResponses;
}

/** What answering a person takes. */
export interface ReceivingTools extends DeliveryTools {
  readonly bot: Bot;
  /** The bot's own user id; absent without a gateway connection. */
  readonly self: string | undefined;
  readonly talk: TalkMemory;
  readonly deletions: Deletions;
  /** The bot reads messages that do not mention it. */
  readonly messageContent: boolean;
  /** Resolves after the time or when the signal aborts. */
  readonly sleep: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}
