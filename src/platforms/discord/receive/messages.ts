/** Mentions, replies to the bot and direct messages, as questions with what was said before. No privileged intent is needed. */
import type { Invocation } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { ASK, isBare, questionIn } from '../../shared/question.ts';
import { kindOfTalk, TYPED_COMMAND } from '../../shared/talk.ts';
import { isThread, takesThreads } from '../connection/guilds.ts';
import { showMessage } from '../deliver/show.ts';
import { preventsSending } from '../permissions.ts';
import { contentOf } from './content.ts';
import { historyOfMessage, repliedTo } from './history.ts';
import type { IncomingMessage } from './incoming-message.ts';
import { addressOfMessage, personOfMessage, withPublicity } from './invocation.ts';
import { openTalkThread } from './threads.ts';
import type { ReceivingTools } from './tools.ts';

/** A message and a reply. */
const MESSAGE_TYPES: ReadonlySet<number> = new Set([0, 19]);

const HIDDEN =
  "Discord doesn't show me that message. Open its menu and choose Apps, then “Ask about this”. Or mention me with a question.";

const ROLE_HIDDEN =
  "Discord doesn't show me messages that mention my role. Mention me by name instead: pick me from the list of members.";

/** Answers a message of a person if it is for the bot. Never rejects. */
export async function converse(message: IncomingMessage, tools: ReceivingTools): Promise<void> {
  const { bot, guilds, self, log } = tools;
  const command = bot.commands.find((candidate) => candidate.name === ASK);
  const isToRole = message.mention_roles.some((role) => guilds.botRole(role));
  const isToBot = isAddressed(message, self) || (isToRole && MESSAGE_TYPES.has(message.type));
  if (!command || !(isToBot || mayBeForThread(message, tools))) return;
  const { guild_id: guild, channel_id: channel, channel_type: type } = message;
  const thread = guild === undefined ? undefined : await guilds.thread(channel, type);
  const isTalk = !isToBot && guild !== undefined && (await isQuestionInTalk(message, tools));
  if (!isToBot && thread?.ownerId !== self && !isTalk) return;
  if (guild !== undefined && !mayBeAnswered(message, guild, thread?.parentId ?? undefined, tools))
    return log.info({ channel }, 'Ignored a person who may not use commands there');
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
  const replied = repliedTo(message);
  if (replied) tools.messages.remember(replied);
  const content = contentOf(message, tools);
  if (isToRole && message.content === '') return await say(invocation, { text: ROLE_HIDDEN }, tools);
  // Without words of its own, a reply asks about what it replies to.
  const isOwn = !isBare(content) || replied === undefined || replied.author.id === self;
  const asked = isOwn ? message : replied;
  const question = isOwn ? content : contentOf(asked, tools);
  if (!isOwn && isBare(question)) return await say(invocation, { text: HIDDEN }, tools);
  const history = historyOfMessage(asked, self);
  await answer({ ...invocation, ...questionIn(question), ...present({ history }) }, tools);
}

/** Whether each message in its channel is a question, as moderators decided. What is said in threads has its own rule. */
async function isQuestionInTalk(message: IncomingMessage, { bot, talk }: ReceivingTools): Promise<boolean> {
  const { channel_id: channel, channel_type: type, author, content } = message;
  // Also by people whom Discord does not let call everybody.
  const isToAll = /@(?:everyone|here)\b/.test(content);
  if (!takesThreads(type) || isToAll || talk.isRefused(channel, author.id)) return false;
  const kind = kindOfTalk(content, bot.commands);
  return kind !== 'none' && (await bot.talks(addressOfMessage(message, undefined)));
}

/** In a thread of its own, or where none may be opened as a reply. */
async function answerTalk(
  message: IncomingMessage,
  { id, address, person }: Pick<Invocation, 'id' | 'address' | 'person'>,
  tools: ReceivingTools,
): Promise<void> {
  const channel = message.channel_id;
  const content = contentOf(message, tools);
  const { text } = content;
  if (kindOfTalk(message.content, tools.bot.commands) === 'command')
    return await say({ id, address }, { text: TYPED_COMMAND }, tools);
  const said = { author: 'person' as const, person: person.id, name: person.displayName, text, files: [] };
  const place = tools.talk.place(channel, said, () => openTalkThread(message, tools));
  const thread = await place.thread;
  const { platformData: _, ...here } = address;
  const invocation = {
    id,
    person,
    address: thread === undefined ? address : { ...here, channel: thread, parent: channel },
    ...questionIn(content),
    conversation: place.turns,
  };
  const outcome = await tools.deletions.run(invocation, tools.bot);
  if (outcome === undefined) return;
  if (outcome.type === 'accepted') return outcome.begin();
  if (outcome.type !== 'message') return;
  const { refusedUntil, message: sentence } = outcome;
  if (refusedUntil !== undefined) tools.talk.refused(channel, person.id, refusedUntil);
  await say(invocation, sentence, tools);
}

/** People who may use no commands in a channel get no answer by a mention either, nor in a thread that is not known. */
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
      return await say(invocation, { text: `Use /${ASK} for this.` }, tools);
    default:
      return outcome satisfies never;
  }
}

/** Whether a message mentions the bot or comes to it directly. */
function isAddressed(message: IncomingMessage, self: string): boolean {
  if (!MESSAGE_TYPES.has(message.type)) return false;
  return message.guild_id === undefined || message.mentions.some((user) => user.id === self);
}

/** Whether a message without any mention is for the bot if the bot opened the thread. A reply is of another type. */
function mayBeForThread(message: IncomingMessage, { messageContent }: ReceivingTools): boolean {
  if (!messageContent || message.type !== 0) return false;
  const { guild_id: guild, mentions, mention_roles, mention_everyone } = message;
  const isForOthers = mentions.length > 0 || mention_roles.length > 0 || mention_everyone;
  return guild !== undefined && !isForOthers && message.content.trim() !== '';
}

/** Not where the bot may send nothing: Discord would refuse this too. */
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
