/** Talk without a command: the bot's name, direct messages, and threads that it takes part in. */
import type { App, Context } from '@slack/bolt';
import { z } from 'zod';
import type { AnyCommand, ConversationTurn, Invocation } from '../../../command.ts';
import { answer } from '../answering.ts';
import {
  filesOf,
  isFromPerson,
  isToSomebodyElse,
  mentions,
  spoken,
  type Talk,
  talkOptions,
  talkSchema,
  turnsBefore,
} from '../conversation.ts';
import { createEventMemory } from '../event-memory.ts';
import { PLATFORM_NAME } from '../invocations.ts';
import { createThreadMemory } from '../threads.ts';
import { type ListenerTools, toolsIn, type WorkspaceTools, who } from './tools.ts';

const envelopeSchema = z.object({ event_id: z.string(), team_id: z.string().optional() });

interface Heard {
  readonly id: string;
  readonly talk: Talk & { user: string };
  /** Where the answer goes; the channel itself when undefined. */
  readonly thread: string | undefined;
  readonly conversation: readonly ConversationTurn[];
}

export function listenToTalk(app: App, command: AnyCommand, shared: ListenerTools): void {
  const events = createEventMemory();
  const threads = createThreadMemory(shared.now);

  /** Handles an event once, and again only when it could not be handled. */
  async function once(
    { body, event, context }: { body: unknown; event: unknown; context: Context },
    hear: (id: string, talk: Talk & { user: string }, tools: WorkspaceTools) => Promise<void>,
  ): Promise<void> {
    const talk = talkSchema.parse(event);
    const { event_id: id } = envelopeSchema.parse(body);
    if (!isFromPerson(talk) || !events.take(id)) return;
    try {
      await hear(id, talk, await toolsIn(context, shared));
    } catch (error) {
      events.forget(id);
      throw error;
    }
  }

  async function reply({ id, talk, thread, conversation }: Heard, tools: WorkspaceTools): Promise<void> {
    const identity = await tools.identity.read();
    const text = spoken(talk.text, identity);
    const files = filesOf(talk);
    if (text === '' && files.length === 0) return;
    if (thread !== undefined) threads.joined(talk.channel, thread);
    const invocation: Invocation = {
      id,
      command: command.name,
      options: talkOptions(command, text, files),
      address: {
        platform: PLATFORM_NAME,
        guild: identity.team,
        channel: talk.channel,
        person: talk.user,
        ...(thread === undefined ? {} : { thread }),
      },
      ...who(await tools.persons.find(talk.user)),
      conversation,
      ...(files.length > 0 ? { files } : {}),
    };
    // The event is acknowledged when this is done.
    await answer(invocation, { acknowledge: { silently: async () => {} }, triggerId: undefined }, tools);
  }

  app.event('app_mention', (args) =>
    once(args, async (id, talk, tools) => {
      const conversation = await turnsBefore(talk, await tools.identity.read(), tools);
      await reply({ id, talk, thread: talk.thread_ts ?? talk.ts, conversation }, tools);
    }),
  );

  app.event('message', (args) =>
    once(args, async (id, talk, tools) => {
      const identity = await tools.identity.read();
      const { thread_ts: thread, channel, channel_type: kind } = talk;
      if (kind !== 'im') {
        if (!shared.threads) return;
        // What names the bot comes as an app_mention too.
        if (thread === undefined || mentions(talk, identity) || isToSomebodyElse(talk)) return;
        if (talk.parent_user_id !== identity.botUser && threads.isForeign(channel, thread)) return;
      }
      const conversation = await turnsBefore(talk, identity, tools);
      if (kind !== 'im' && thread !== undefined) {
        const takesPart =
          talk.parent_user_id === identity.botUser ||
          threads.isJoined(channel, thread) ||
          conversation.some(({ author }) => author === 'bot');
        if (!takesPart) return threads.foreign(channel, thread);
      }
      await reply({ id, talk, thread, conversation }, tools);
    }),
  );
}
