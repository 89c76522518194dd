/** Answers mentions, replies and direct messages, with the conversation before them. Does not need a privileged intent. */
import type { Invocation } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { ASK, isEmptyMessage, questionIn } from '../../shared/question.ts';
import { classifyMessage, TYPED_COMMAND } from '../../shared/talk.ts';
import { isThread, supportsThreads } from '../connection/guilds.ts';
import { showMessage } from '../deliver/show.ts';
import { preventsSending } from '../permissions.ts';
import { contentOf } from './content.ts';
import { historyOfMessage, repliedMessage } from './history.ts';
import type { IncomingMessage } from './incoming-message.ts';
import { addressOfMessage, personOfMessage, withPublicity } from './invocation.ts';
import { openTalkThread } from './threads.ts';
import type { ReceivingTools } from './tools.ts';

/** A message and a reply. */
const MESSAGE_TYPES: ReadonlySet<number> = new Set([0, 19]);

const MESSAGE_HIDDEN =
  "Discord doesn't show me that message. Open its menu and choose Apps, then “Ask about this”. Or mention me with a question.";

const ROLE_HIDDEN =
  "Discord doesn't show me messages that mention my role. Mention me by name instead: pick me from the list of members.";

/** Answers a person's message if it is for the bot. Never rejects. */
export async function converse(message: IncomingMessage, tools: ReceivingTools): Promise<void> {
  const { bot, guilds, self, log } = tools;
  const command = bot.commands.find((candidate) => candidate.name === ASK);
  const mentionsRole = message.mention_roles.some((role) => guilds.botRole(role));
  const isForBot = isDirectedAtBot(message, self) || (mentionsRole && MESSAGE_TYPES.has(message.type));
  if (!command || !(isForBot || mayBeForThread(message, tools))) return;
  const { guild_id: guild, channel_id: channel, channel_type: type } = message;
  const thread = guild === undefined ? undefined : await guilds.thread(channel, type);
  const isTalk = !isForBot && guild !== undefined && (await isQuestionInTalk(message, tools));
  if (!isForBot && thread?.ownerId !== self && !isTalk) return;
  if (guild !== undefined && !mayBeAnswered(message, guild, thread?.parentId ?? undefined, tools))
    return log.info({ channel }, 'Ignored a message from a person who may not use commands there');
  showTyping(message, thread?.parentId ?? undefined, tools);
  const person = personOfMessage(message, (who) => guild !== undefined && guilds.moderates(guild, who));
  const invocation = {
    id: message.id,
    address: withPublicity(addressOfMessage(message, thread?.parentId ?? undefined), tools),
    person,
  };
  if (tools.deletions.isDeleted(message.id)) return;
  if (isTalk) return await answerTalk(message, invocation, tools);
  tools.messages.remember(message);
  const replied = repliedMessage(message);
  if (replied) tools.messages.remember(replied);
  const content = contentOf(message, tools);
  if (mentionsRole && message.content === '') return await say(invocation, { text: ROLE_HIDDEN }, tools);
  // A reply without text asks about the message it replies to.
  const hasQuestion = !isEmptyMessage(content) || replied === undefined || replied.author.id === self;
  const source = hasQuestion ? message : replied;
  const question = hasQuestion ? content : contentOf(source, tools);
  if (!hasQuestion && isEmptyMessage(question)) return await say(invocation, { text: MESSAGE_HIDDEN }, tools);
  const history = historyOfMessage(source, self);
  await answer({ ...invocation, ...questionIn(question), ...present({ history }) }, tools);
}

/** Whether moderators made every message in its channel a question. Threads have their own rule. */
async function isQuestionInTalk(message: IncomingMessage, { bot, talk }: ReceivingTools): Promise<boolean> {
  const { channel_id: channel, channel_type: type, author, content } = message;
  // Also without Discord's permission to mention everyone.
  const mentionsEveryone = /@(?:everyone|here)\b/.test(content);
  if (!supportsThreads(type) || mentionsEveryone || talk.isRefused(channel, author.id)) return false;
  const kind = classifyMessage(content, bot.commands);
  return kind !== 'none' && (await bot.answersEveryMessage(addressOfMessage(message, undefined)));
}

/** Answers in a new thread, or as a reply if the bot cannot open threads. */
async function answerTalk(
  message: IncomingMessage,
  { id, address, person }: Pick<Invocation, 'id' | 'address' | 'person'>,
  tools: ReceivingTools,
): Promise<void> {
  const channel = message.channel_id;
  const content = contentOf(message, tools);
  const { text } = content;
  if (classifyMessage(message.content, tools.bot.commands) === 'command')
    return await say({ id, address }, { text: TYPED_COMMAND }, tools);
  const turn = { author: 'person' as const, person: person.id, name: person.displayName, text, files: [] };
  const place = tools.talk.place(channel, turn, () => openTalkThread(message, tools));
  const thread = await place.thread;
  const { platformData: _, ...base } = address;
  const invocation = {
    id,
    person,
    address: thread === undefined ? address : { ...base, channel: thread, parent: channel },
    ...questionIn(content),
    conversation: place.turns,
  };
  const outcome = await tools.deletions.run(invocation, tools.bot);
  if (outcome === undefined) return;
  if (outcome.type === 'accepted') return outcome.begin();
  if (outcome.type !== 'message') return;
  const { refusedUntil, message: reply } = outcome;
  if (refusedUntil !== undefined) tools.talk.refused(channel, person.id, refusedUntil);
  await say(invocation, reply, tools);
}

/** Mentions need the permission to use commands in the channel. False for a thread with an unknown parent. */
function mayBeAnswered(
  { channel_id: channel, channel_type: type, author, member }: IncomingMessage,
  guild: string,
  parent: string | undefined,
  { guilds }: ReceivingTools,
): boolean {
  if (isThread(type) && parent === undefined) return false;
  return guilds.mayUseCommands(guild, parent ?? channel, { id: author.id, roles: member?.roles ?? [] });
}

async function say(
  { id, address }: Pick<Invocation, 'id' | 'address'>,
  message: Message,
  tools: ReceivingTools,
): Promise<void> {
  await showMessage(address, message, { key: `r${id}`, remember: async () => {} }, tools);
}

async function answer(invocation: Invocation, tools: ReceivingTools): Promise<void> {
  const outcome = await tools.deletions.run(invocation, tools.bot);
  switch (outcome?.type) {
    case undefined:
      return;
    case 'accepted':
      return outcome.begin();
    case 'message':
      return await say(invocation, outcome.message, tools);
    case 'form':
      return await say(invocation, { text: `Use /${ASK} to ask about this.` }, tools);
    default:
      return outcome satisfies never;
  }
}

/** Whether a message mentions the bot or is a direct message. */
function isDirectedAtBot(message: IncomingMessage, self: string): boolean {
  if (!MESSAGE_TYPES.has(message.type)) return false;
  return message.guild_id === undefined || message.mentions.some((user) => user.id === self);
}

/** Whether a message is for the bot if the bot opened the thread: no mentions, and not a reply, which has another type. */
function mayBeForThread(message: IncomingMessage, { messageContent }: ReceivingTools): boolean {
  if (!messageContent || message.type !== 0) return false;
  const { guild_id: guild, mentions, mention_roles, mention_everyone } = message;
  const mentionsAnyone = mentions.length > 0 || mention_roles.length > 0 || mention_everyone;
  return guild !== undefined && !mentionsAnyone && message.content.trim() !== '';
}

/** Skipped if the bot cannot send messages, because Discord would reject this too. */
function showTyping(
  { guild_id: guild, channel_id: channel }: IncomingMessage,
  parent: string | undefined,
  { guilds, rest, log }: ReceivingTools,
): void {
  if (guild !== undefined && preventsSending(guilds.missingPermissions(guild, channel, parent) ?? [])) return;
  void rest
    .typing(channel)
    .catch((error: unknown) => log.debug({ err: error }, 'Could not show the typing indicator'));
}
