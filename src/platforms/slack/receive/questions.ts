/** Events that may be questions: each is handled once, and acknowledged when nothing of it can be lost any more. */
import type { Context } from '@slack/bolt';
import type { PendingInvocation } from '../../../core/bot/bot.ts';
import { toMessage } from '../../../core/errors.ts';
import { acknowledgementOf } from '../connection/app.ts';
import { sendPrivately } from '../deliver/private.ts';
import { LIMITS } from '../limits.ts';
import { type ListenerTools, toolsIn } from './answering.ts';
import { agentThreadOf } from './invocations.ts';

/** Tells that the event is a question. Until then it is acknowledged only when it was handled. */
export type Asks = (question: PendingInvocation) => void;

/** Where the event came from: with a record of the question, it can be acknowledged before it was handled. */
interface Handling {
  readonly context: Context;
  readonly handled: Promise<void>;
  readonly question: Promise<PendingInvocation>;
}

const MOST_EVENTS = 5000;

export function createQuestions(shared: ListenerTools) {
  const { bot, log } = shared;
  /** By event. Older ones are known by the invocation of their job. */
  const taken = new Map<string, ReturnType<typeof acknowledgeEarly>>();

  /**
   * True when the event was acknowledged before it was handled, because a record of the question was stored. Rejects when it
   * could not be handled and was not acknowledged.
   */
  async function acknowledgeEarly({ context, handled, question }: Handling): Promise<boolean> {
    const overdue = shared.sleep(LIMITS.acknowledgeWithinMs).then(() => question);
    const asked = await Promise.race([handled, overdue]);
    if (asked === undefined) return false;
    if ((await bot.recordPendingAcknowledgement?.(asked)) === false) {
      // A record whose write failed may be there all the same.
      await handled.finally(() => bot.answered?.(asked));
      return false;
    }
    try {
      await acknowledgementOf(context)();
    } catch (error) {
      log.warn({ err: error }, 'An acknowledgement did not reach Slack');
    }
    return true;
  }

  /** Slack does not send the event again. */
  async function tellFailure(error: unknown, { id, address }: PendingInvocation, context: Context) {
    const message = toMessage(error, { log, reference: id });
    const tools = await toolsIn(context, shared, address.guild);
    await sendPrivately(address, message, tools);
    const agentThread = agentThreadOf(address);
    if (agentThread !== undefined) await tools.agents.rest(agentThread);
  }

  return {
    /**
     * Handles an event once, and again only when that failed: Slack sends an event again when it doubts that it arrived. A
     * repetition ends when the first may be acknowledged.
     */
    async once(event: string, context: Context, handle: (asks: Asks) => Promise<void>): Promise<void> {
      const first = taken.get(event);
      if (first !== undefined) {
        await first;
        return;
      }
      const { promise: question, resolve: asks } = Promise.withResolvers<PendingInvocation>();
      const handled = handle(asks);
      const early = acknowledgeEarly({ context, handled, question });
      taken.set(event, early);
      const [oldest] = taken.keys();
      if (taken.size > MOST_EVENTS && oldest !== undefined) taken.delete(oldest);
      try {
        if (!(await early)) return;
      } catch (error) {
        taken.delete(event);
        throw error;
      }
      const asked = await question;
      try {
        await handled.catch((error: unknown) => tellFailure(error, asked, context));
      } catch (error) {
        await bot.tellLater?.(asked);
        throw error;
      }
      await bot.answered?.(asked);
    },
  };
}
