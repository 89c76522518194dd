/** Answers messages without a command: mentions, direct messages, and joined threads. */
import type { App, Context } from '@slack/bolt';
import { z } from 'zod';
import type { Outcome } from '../../../core/bot/outcome.ts';
import type { Address, ConversationTurn, HistoryReference, Invocation } from '../../../core/invocation.ts';
import { present } from '../../../core/util/present.ts';
import { createDeletions } from '../../shared/deletions.ts';
import { isEmptyMessage, type PersonMessage, questionIn } from '../../shared/question.ts';
import { classifyMessage, createTalkMemory, TYPED_COMMAND } from '../../shared/talk.ts';
import { sendPrivately } from '../deliver/private.ts';
import { LIMITS } from '../limits.ts';
import { unescapeSlack } from '../render/escape.ts';
import { contentOfTalk } from './content.ts';
import { historyBefore, isBotIn, readSlackHistory } from './history.ts';
import {
  addressesSomeoneElse,
  isFromPerson,
  mentions,
  mentionsPeople,
  type PersonTalk,
  type Talk,
  talkSchema,
  textWithNames,
} from './incoming-message.ts';
import { createOnce } from './once.ts';
import { agentAddress, channelAddress, PLATFORM_NAME } from './payloads.ts';
import { type ListenerTools, respondToMessage, toolsIn, type WorkspaceTools } from './respond.ts';

const removedSchema = z
  .object({ subtype: z.literal('message_deleted'), channel: z.string(), deleted_ts: z.string() })
  .transform(({ channel, deleted_ts: ts }) => ({ channel, ts }));
/** A deleted message with replies becomes a tombstone, which Slack sends as an edit. */
const tombstoneSchema = z
  .object({
    subtype: z.literal('message_changed'),
    channel: z.string(),
    message: z.object({ subtype: z.literal('tombstone'), ts: z.string() }),
  })
  .transform(({ channel, message: { ts } }) => ({ channel, ts }));
const deletedSchema = z.union([removedSchema, tombstoneSchema]);
const envelopeSchema = z.object({ event_id: z.string() });

/** The invocation ID of a message, the same for each of Slack's events about it. */
const idOf = ({ channel, ts }: Pick<Talk, 'channel' | 'ts'>, team: string): string =>
  `${team}:${channel}:${ts}`;

/** The place of the answer, and the earlier turns if they are known. */
interface Placement {
  readonly thread: string | undefined;
  readonly before?: readonly ConversationTurn[];
  /** The thread belongs to the agent view. */
  readonly isAgents?: boolean;
}

export function listenToTalk(app: App, shared: ListenerTools): void {
  const handleOnce = createOnce();
  const threads = createThreadMemory(shared.now);
  const memory = createTalkMemory(shared.now);
  const deletions = createDeletions(PLATFORM_NAME, shared.now);

  async function once(
    { body, event, context }: { body: unknown; event: unknown; context: Context },
    handle: (talk: PersonTalk, tools: WorkspaceTools) => Promise<void>,
  ): Promise<void> {
    const talk = talkSchema.parse(event);
    const { event_id: id } = envelopeSchema.parse(body);
    if (!isFromPerson(talk)) return;
    await handleOnce(id, async () => handle(talk, await toolsIn(context, shared)));
  }

  /** Answers in the thread, or in the channel itself. */
  async function reply(
    talk: PersonTalk,
    { thread, before, isAgents = false }: Placement,
    tools: WorkspaceTools,
  ): Promise<void> {
    const { user, channel } = talk;
    const identity = await tools.identity.read();
    const id = idOf(talk, identity.team);
    const location = { channel, person: user };
    const address: Address = {
      ...(isAgents ? agentAddress(identity.team, location) : channelAddress(identity.team, location)),
      ...present({ thread }),
    };
    const { problems, ...message } = await contentOfTalk(talk, tools);
    if (thread !== undefined) threads.join(channel, thread);
    if (problems.length > 0) await sendPrivately(address, { text: problems.join('\n') }, tools);
    if (problems.length > 0 && isEmptyMessage(message)) return;
    const question = await questionOf(message, before ? { before } : { history: historyBefore(talk) }, tools);
    const run = async (invocation: Invocation): Promise<Outcome | undefined> => {
      const outcome = await deletions.run(invocation, tools.bot);
      if (outcome?.type === 'message' && outcome.refusedUntil !== undefined)
        memory.refused(channel, user, outcome.refusedUntil);
      return outcome;
    };
    await respondToMessage({ id, ...question, address }, user, run, tools);
  }

  /**
   * Answers a direct message. In the agent view each message starts or continues a thread. Elsewhere the answer goes to the
   * same place.
   */
  async function replyDirectly(talk: PersonTalk, tools: WorkspaceTools): Promise<void> {
    const { channel, user: person, thread_ts: inThread } = talk;
    const identity = await tools.identity.read();
    const thread = inThread ?? talk.ts;
    const title = (await textWithNames(talk.text, identity, tools.people)).split('\n')[0] ?? '';
    const opening = tools.agents.open({ channel, thread }, { person, title });
    const isAgents = (await Promise.race([opening, tools.sleep(LIMITS.lookUpWithinMs)])) === true;
    const first = isAgents && inThread === undefined ? { before: [] } : {};
    await reply(talk, { thread: isAgents ? thread : inThread, ...first, isAgents }, tools);
  }

  const answersEveryMessage = async ({ channel, user }: PersonTalk, { team, bot }: WorkspaceTools) =>
    await bot.answersEveryMessage(channelAddress(team, { channel, person: user }));

  /** Answers a channel message where every message may be a question. */
  async function replyToTalk(talk: PersonTalk, tools: WorkspaceTools): Promise<void> {
    const { channel, user, text, ts } = talk;
    const kind = mentionsPeople(talk) ? 'none' : classifyMessage(unescapeSlack(text), tools.bot.commands);
    if (kind === 'none' || memory.isRefused(channel, user) || !(await answersEveryMessage(talk, tools)))
      return;
    if (kind === 'command') {
      const address = channelAddress(tools.team, { channel, person: user });
      return await sendPrivately(address, { text: TYPED_COMMAND }, tools);
    }
    const { text: content } = await contentOfTalk(talk, tools);
    const turn = { author: 'person' as const, person: user, text: content, files: [] };
    const { thread, turns } = memory.place(channel, turn, async () => ts);
    await reply(talk, { thread: await thread, before: turns }, tools);
  }

  // Slack sends deletions in direct messages, and in channels if the app receives every message.
  app.event('message', async ({ event, context }) => {
    const { data: message } = deletedSchema.safeParse(event);
    if (message === undefined) return;
    const { channel, ts } = message;
    const { identity, bot } = await toolsIn(context, shared);
    const { team } = await identity.read();
    await deletions.receive([{ id: idOf({ channel, ts }, team), at: Number(ts) * 1000 }], bot);
  });

  app.event('app_mention', (args) =>
    once(args, (talk, tools) => reply(talk, { thread: talk.thread_ts ?? talk.ts }, tools)),
  );

  app.event('message', (args) =>
    once(args, async (talk, tools) => {
      const { thread_ts: thread, channel, channel_type: kind } = talk;
      if (kind === 'im') return replyDirectly(talk, tools);
      const identity = await tools.identity.read();
      // A mention also arrives as an app_mention.
      if (!shared.threads || mentions(talk, identity)) return;
      if (thread === undefined) return replyToTalk(talk, tools);
      if (addressesSomeoneElse(talk) || (mentionsPeople(talk) && (await answersEveryMessage(talk, tools))))
        return;
      if (talk.parent_user_id !== identity.botUser && threads.isIgnored(channel, thread)) return;
      const hasJoined =
        talk.parent_user_id === identity.botUser ||
        threads.isJoined(channel, thread) ||
        (await isBotIn(historyBefore(talk), tools));
      if (!hasJoined) return threads.ignore(channel, thread);
      await reply(talk, { thread }, tools);
    }),
  );
}

/** A bare mention refers to the last message of a person, which is read now. */
async function questionOf(
  message: PersonMessage,
  { before, history }: { before?: readonly ConversationTurn[]; history?: HistoryReference | undefined },
  tools: WorkspaceTools,
) {
  if (!isEmptyMessage(message))
    return { ...questionIn(message), ...present({ conversation: before, history }) };
  const earlier = before ?? (await readSlackHistory(history, tools).catch(() => []));
  const index = earlier.findLastIndex(({ author }) => author === 'person');
  const questionTurn = earlier[index];
  return questionTurn
    ? { ...questionIn(questionTurn), conversation: earlier.slice(0, index) }
    : questionIn(message);
}

/** How long a thread without the bot is ignored. Then it is read again, because someone may have pressed a button in it. */
const IGNORE_MS = 10 * 60_000;
const MAX_THREADS = 10_000;

/** Remembers which threads the bot has joined, to avoid reading them. After a restart they are read again. */
function createThreadMemory(now: () => number) {
  const joined = new Set<string>();
  const ignoredUntil = new Map<string, number>();
  const keyOf = (channel: string, thread: string): string => `${channel}:${thread}`;
  return {
    join(channel: string, thread: string): void {
      if (joined.size >= MAX_THREADS) joined.clear();
      joined.add(keyOf(channel, thread));
      ignoredUntil.delete(keyOf(channel, thread));
    },
    isJoined: (channel: string, thread: string) => joined.has(keyOf(channel, thread)),
    ignore(channel: string, thread: string): void {
      if (ignoredUntil.size >= MAX_THREADS) ignoredUntil.clear();
      ignoredUntil.set(keyOf(channel, thread), now() + IGNORE_MS);
    },
    isIgnored: (channel: string, thread: string) => (ignoredUntil.get(keyOf(channel, thread)) ?? 0) > now(),
  };
}
