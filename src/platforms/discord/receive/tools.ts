import type { Bot } from '../../../core/bot/create-bot.ts';
import type { System } from '../../../core/system.ts';
import type { Deletions } from '../../shared/deletions.ts';
import type { TalkMemory } from '../../shared/talk.ts';
import type { DeliveryTools } from '../deliver/tools.ts';
import type { Messages } from './message-memory.ts';

/** The dependencies for answering people. */
export interface ReceivingTools extends DeliveryTools, Pick<System, 'sleep'> {
  readonly bot: Bot;
  /** The bot's own user id. */
  readonly self: string;
  readonly messages: Messages;
  readonly talk: TalkMemory;
  readonly deletions: Deletions;
  /** The Message Content Intent is on: the bot also reads messages that do not mention it. */
  readonly messageContent: boolean;
}
