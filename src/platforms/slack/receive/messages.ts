/** Talk without a command: the bot's name, direct messages, and threads that it takes part in. */
import type { App, Context } from '@slack/bolt';
import { z } from 'zod';
import type { AnyCommand } from '../../../core/bot/command.ts';
import type { Address, ConversationTurn } from '../../../core/invocation.ts';
import { createTalkMemory, kindOfTalk, TYPED_COMMAND } from '../../shared/talk.ts';
import { sendPrivately } from '../deliver/private.ts';
import { LIMITS } from '../limits.ts';
import { unescapeSlack } from '../render/escape.ts';
import { type ListenerTools, respond, toolsIn, type WorkspaceTools } from './answering.ts';
import {
  filesOf,
  isAboutPeople,
  isFromPerson,
  isToSomebodyElse,
  mentions,
  spoken,
  type Talk,
  talkOptions,
  talkSchema,
  turnsBefore,
} from './conversation.ts';
import { agentAddress, channelAddress, PLATFORM_NAME } from './invocations.ts';

/** Greets a person who only called the bot's name. */
const HELP_COMMAND = 'minstrel';
const UNREAD =
  'Slack did not let me open a file of your message: it belongs to another workspace. Upload it here yourself, and ask again.';
const DESCRIBE = 'Describe this picture.';

const deletedSchema = z.object({
  subtype: z.literal('message_deleted'),
  channel: z.string(),
  deleted_ts: z.string(),
  previous_message: z.object({ user: z.string().optional(), bot_id: z.string().optional() }),
});
const envelopeSchema = z.object({ event_id: z.string() });

/** Where an answer goes, and what was said before. */
interface Placement {
  readonly thread: string | undefined;
  readonly before: readonly ConversationTurn[];
  /** A thread of the agent view. */
  readonly isAgents?: boolean;
}

export function listenToTalk(app: App, command: AnyCommand, shared: ListenerTools): void {
  const taken = new Set<string>();
  const threads = createThreadMemory(shared.now);
  const memory = createTalkMemory(shared.now);

  /** Handles an event once, and again only when that failed. */
  async function once(
    { body, event, context }: { body: unknown; event: unknown; context: Context },
    handle: (id: string, talk: Talk & { user: string }, tools: WorkspaceTools) => Promise<void>,
  ): Promise<void> {
    const talk = talkSchema.parse(event);
    const { event_id: id } = envelopeSchema.parse(body);
    if (!isFromPerson(talk) || !take(id, taken)) return;
    try {
      await handle(id, talk, await toolsIn(context, shared));
    } catch (error) {
      taken.delete(id);
      throw error;
    }
  }

  /** Answers in the thread, or in the channel itself. */
  async function reply(
    id: string,
    talk: Talk & { user: string },
    { thread, before, isAgents = false }: Placement,
    tools: WorkspaceTools,
  ): Promise<void> {
    const identity = await tools.identity.read();
    const { files: readable, unread } = await filesOf(talk, tools);
    const said = { text: await spoken(talk.text, identity, tools.persons), files: readable };
    const { user, channel } = talk;
    // A mention alone is about the message that it replies to.
    const isBare = said.text === '' && said.files.length === 0;
    const meant = isBare ? before.findLast(({ author }) => author === 'person') : undefined;
    const { text, files } = meant ?? said;
    const conversation = meant === undefined ? before : before.slice(0, before.indexOf(meant));
    const isPicture = text === '' && files.some(({ contentType = '' }) => contentType.startsWith('image/'));
    const asked = {
      command: command.name,
      options: talkOptions(command, isPicture ? DESCRIBE : text, files),
      conversation,
      isMessage: true,
      ...(files.length > 0 ? { files } : {}),
    };
    if (thread !== undefined) threads.join(channel, thread);
    const where: Address = isAgents
      ? agentAddress(identity.team, { channel, person: user })
      : { platform: PLATFORM_NAME, ...channelAddress(identity.team, channel), person: user };
    const address = thread === undefined ? where : { ...where, thread };
    if (unread > 0) await sendPrivately(address, { text: UNREAD }, tools);
    if (unread > 0 && isBare) return;
    const meantBy = isBare && meant === undefined ? { command: HELP_COMMAND, options: {} } : asked;
    const asking = { id, ...meantBy, address };
    // The event is acknowledged when this is done.
    await respond(
      asking,
      { id: user },
      { acknowledge: { silently: async () => {} }, triggerId: undefined },
      tools,
    );
  }

  /**
   * A direct message. Where the app is an agent, each message begins a thread of its own or goes on in one; elsewhere it is
   * answered where it is.
   */
  async function replyDirectly(
    id: string,
    talk: Talk & { user: string },
    tools: WorkspaceTools,
  ): Promise<void> {
    const { channel, user: person, thread_ts: inThread } = talk;
    const identity = await tools.identity.read();
    const thread = inThread ?? talk.ts;
    const title = (await spoken(talk.text, identity, tools.persons)).split('\n')[0] ?? '';
    const opening = tools.agents.open({ channel, thread }, { person, title });
    const isAgents = (await Promise.race([opening, tools.sleep(LIMITS.lookUpWithinMs)])) === true;
    const isFirst = isAgents && inThread === undefined;
    const before = isFirst ? [] : await turnsBefore(talk, identity, tools);
    await reply(id, talk, { thread: isAgents ? thread : inThread, before, isAgents }, tools);
  }

  const talks = async ({ channel, user }: Talk & { user: string }, { team, bot }: WorkspaceTools) =>
    (await bot.talks?.({
      platform: PLATFORM_NAME,
      ...channelAddress(team, channel),
      person: user,
    })) === true;

  /** A message in a channel, where each one may be a question. */
  async function replyToTalk(
    id: string,
    talk: Talk & { user: string },
    tools: WorkspaceTools,
  ): Promise<void> {
    const { channel, user, text, ts } = talk;
    const kind = isAboutPeople(talk) ? 'none' : kindOfTalk(unescapeSlack(text), tools.bot.commands);
    if (kind === 'none' || !(await talks(talk, tools))) return;
    if (kind === 'command') {
      const address = { platform: PLATFORM_NAME, ...channelAddress(tools.team, channel), person: user };
      return await sendPrivately(address, { text: TYPED_COMMAND }, tools);
    }
    const said = {
      author: 'person' as const,
      person: user,
      text: await spoken(text, await tools.identity.read(), tools.persons),
      files: [],
    };
    const { thread, turns } = memory.place(channel, said, async () => ts);
    await reply(id, talk, { thread: await thread, before: turns }, tools);
  }

  // A question that its person took back is not answered.
  app.event('message', async ({ event, context }) => {
    const { data: deleted } = deletedSchema.safeParse(event);
    if (!shared.threads || deleted?.previous_message.user === undefined) return;
    const { channel, deleted_ts: thread, previous_message: before } = deleted;
    const tools = await toolsIn(context, shared);
    const asked = {
      ...before,
      ts: thread,
      channel,
      files: [],
      text: '',
      user: deleted.previous_message.user,
    };
    if (before.bot_id !== undefined || !(await talks(asked, tools))) return;
    const person = await tools.persons.find(asked.user);
    const address = {
      platform: PLATFORM_NAME,
      ...channelAddress(tools.team, channel),
      thread,
      person: asked.user,
    };
    await tools.bot.cancelRunning?.({ address, person });
  });

  app.event('app_mention', (args) =>
    once(args, async (id, talk, tools) => {
      const conversation = await turnsBefore(talk, await tools.identity.read(), tools);
      await reply(id, talk, { thread: talk.thread_ts ?? talk.ts, before: conversation }, tools);
    }),
  );

  app.event('message', (args) =>
    once(args, async (id, talk, tools) => {
      const identity = await tools.identity.read();
      const { thread_ts: thread, channel, channel_type: kind } = talk;
      if (kind === 'im') return replyDirectly(id, talk, tools);
      // What names the bot comes as an app_mention too.
      if (!shared.threads || mentions(talk, identity)) return;
      if (thread === undefined) return replyToTalk(id, talk, tools);
      if (isToSomebodyElse(talk) || (isAboutPeople(talk) && (await talks(talk, tools)))) return;
      if (talk.parent_user_id !== identity.botUser && threads.isForeign(channel, thread)) return;
      const before = await turnsBefore(talk, identity, tools);
      const takesPart =
        talk.parent_user_id === identity.botUser ||
        threads.isJoined(channel, thread) ||
        before.some(({ author }) => author === 'bot');
      if (!takesPart) return threads.ignore(channel, thread);
      await reply(id, talk, { thread, before }, tools);
    }),
  );
}

const MOST_EVENTS = 5000;

/**
 * False for an event that this process has taken before: Slack sends an event again when it doubts that it arrived. Older
 * ones are known by the invocation of their job.
 */
function take(event: string, taken: Set<string>): boolean {
  if (taken.has(event)) return false;
  taken.add(event);
  const [oldest] = taken;
  if (taken.size > MOST_EVENTS && oldest !== undefined) taken.delete(oldest);
  return true;
}

/** A thread without the bot is read again after this long: a person may have pressed a button in it. */
const FOREIGN_MS = 10 * 60_000;
const MOST_THREADS = 10_000;

/** Which threads the bot takes part in, so that busy channels cost no reading. After a restart the threads are read. */
function createThreadMemory(now: () => number) {
  const joined = new Set<string>();
  const foreignUntil = new Map<string, number>();
  const keyOf = (channel: string, thread: string): string => `${channel}:${thread}`;
  return {
    join(channel: string, thread: string): void {
      if (joined.size >= MOST_THREADS) joined.clear();
      joined.add(keyOf(channel, thread));
      foreignUntil.delete(keyOf(channel, thread));
    },
    isJoined: (channel: string, thread: string) => joined.has(keyOf(channel, thread)),
    ignore(channel: string, thread: string): void {
      if (foreignUntil.size >= MOST_THREADS) foreignUntil.clear();
      foreignUntil.set(keyOf(channel, thread), now() + FOREIGN_MS);
    },
    isForeign: (channel: string, thread: string) => (foreignUntil.get(keyOf(channel, thread)) ?? 0) > now(),
  };
}
