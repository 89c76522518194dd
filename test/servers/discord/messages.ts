import { z } from 'zod';
import type { Body, UploadedFile } from './body.ts';
import { checkComponents, namedAttachments, textDisplays } from './components.ts';
import { checkEmbeds, embedMedia } from './embeds.ts';
import { DISCORD, FLAG } from './limits.ts';
import { checkAllowedMentions, pinged } from './mentions.ts';
import { Refusal, requireValid } from './refusal.ts';
import type { Attachment, StoredMessage, User } from './types.ts';
import type { World } from './world.ts';

/** https://docs.discord.com/developers/resources/poll#poll-create-request-object */
const pollSchema = z.strictObject({
  question: z.strictObject({ text: z.string().min(1).max(DISCORD.pollQuestion) }),
  answers: z
    .array(
      z.strictObject({ poll_media: z.strictObject({ text: z.string().min(1).max(DISCORD.pollAnswer) }) }),
    )
    .min(1)
    .max(DISCORD.pollAnswers),
  duration: z.int().min(1).max(DISCORD.pollHours).default(24),
  allow_multiselect: z.boolean().default(false),
  layout_type: z.literal(1).optional(),
});

const payloadSchema = z.object({
  content: z.string().nullish(),
  embeds: z.array(z.unknown()).nullish(),
  components: z.array(z.unknown()).nullish(),
  attachments: z
    .array(
      z.object({
        id: z.union([z.string(), z.number()]).transform(String),
        filename: z.string().min(1).max(1_024).optional(),
        title: z.string().max(1_024).nullish(),
        description: z.string().max(DISCORD.attachmentDescription).nullish(),
      }),
    )
    .nullish(),
  flags: z.int().nullish(),
  nonce: z.union([z.string().max(DISCORD.nonce), z.int()]).nullish(),
  enforce_nonce: z.boolean().nullish(),
  allowed_mentions: z.unknown().optional(),
  message_reference: z
    .object({
      message_id: z.string(),
      channel_id: z.string().optional(),
      fail_if_not_exists: z.boolean().optional(),
    })
    .nullish(),
  sticker_ids: z.undefined().optional(),
  poll: pollSchema.optional(),
});
type Payload = z.infer<typeof payloadSchema>;

export interface Writing {
  world: World;
  channelId: string;
  author: User;
  fileLimit: number;
  /** Flags allowed on this route. */
  flags: number;
  /** True on the bot-token route, which alone accepts a nonce and a reference. */
  botToken?: boolean;
  interactionId?: string;
  onlyFor?: string | null;
}

function parse(body: Body, allowedFlags: number): Payload {
  const parsed = payloadSchema.safeParse(body.json ?? {});
  requireValid(parsed.success, `message: ${parsed.error?.message}`);
  const flags = parsed.data.flags ?? 0;
  requireValid((flags & ~allowedFlags) === 0, `flags ${flags} are not allowed here`);
  requireValid(
    (parsed.data.content?.length ?? 0) <= DISCORD.content,
    `content: ${parsed.data.content?.length} characters`,
  );
  return parsed.data;
}

/** Checks file sizes, and that entries of `attachments` name a file of this request or of the existing message. */
function takeFiles(
  writing: Writing,
  payload: Payload,
  files: UploadedFile[],
  existing: Attachment[],
): Attachment[] {
  for (const file of files) {
    if (file.bytes.length > writing.fileLimit)
      throw new Refusal('entityTooLarge', `${file.filename}: ${file.bytes.length} bytes`);
    requireValid(file.bytes.length > 0, `${file.filename} is empty`);
  }
  const total = files.reduce((sum, { bytes }) => sum + bytes.length, 0);
  if (total > Math.max(DISCORD.requestBytes, writing.fileLimit))
    throw new Refusal('entityTooLarge', `${total} bytes in one request`);
  requireValid(new Set(files.map((f) => f.index)).size === files.length, 'files[n]: n must be unique');
  const entries = payload.attachments ?? [
    ...existing.map((a) => ({ id: a.id, filename: undefined, title: undefined, description: undefined })),
    ...files.map((f) => ({ id: f.index, filename: undefined, title: undefined, description: undefined })),
  ];
  requireValid(entries.length <= DISCORD.attachments, `attachments: ${entries.length}`);
  const unused = new Set(files);
  const attachments = entries.map((entry) => {
    const file = files.find((f) => f.index === entry.id);
    if (file) {
      unused.delete(file);
      return writing.world.addAttachment(writing.channelId, {
        filename: entry.filename ?? file.filename,
        contentType: file.contentType,
        bytes: file.bytes,
        title: entry.title ?? null,
        description: entry.description ?? null,
      });
    }
    const previous = existing.find((a) => a.id === entry.id);
    requireValid(
      previous !== undefined,
      `attachments: id ${entry.id} names neither a file of this request nor one of the message`,
    );
    return previous;
  });
  requireValid(
    unused.size === 0,
    `files: ${[...unused].map((f) => f.filename).join(', ')} not in attachments`,
  );
  return attachments;
}

function checkReferences(
  message: Pick<StoredMessage, 'embeds' | 'components' | 'attachments' | 'flags'>,
): void {
  const names = message.attachments.map((a) => a.filename);
  const inEmbeds = message.embeds
    .flatMap(embedMedia)
    .filter((u) => u.startsWith('attachment://'))
    .map((u) => u.slice(13));
  const inComponents = namedAttachments(message.components);
  for (const name of [...inEmbeds, ...inComponents])
    requireValid(names.includes(name), `attachment://${name} is not attached`);
  if (message.flags & FLAG.componentsV2) {
    // Discord accepts such a message but never shows the file, so it is refused here.
    for (const name of names)
      requireValid(inComponents.includes(name), `${name} is attached, but no component shows it`);
  }
}

function checkShape(
  message: Pick<StoredMessage, 'content' | 'embeds' | 'components' | 'attachments' | 'flags' | 'poll'>,
): void {
  if (message.flags & FLAG.componentsV2) {
    requireValid(message.poll === undefined, 'poll with Components V2');
    requireValid(message.content === '', 'content with Components V2');
    requireValid(message.embeds.length === 0, 'embeds with Components V2');
    if (message.components.length === 0) throw new Refusal('emptyMessage');
  } else if (
    message.content.trim() === '' &&
    message.embeds.length === 0 &&
    message.attachments.length === 0 &&
    message.components.length === 0 &&
    message.poll === undefined
  ) {
    throw new Refusal('emptyMessage');
  }
  checkReferences(message);
}

const state = (message: StoredMessage) => ({
  content: message.content,
  embeds: message.embeds,
  components: message.components,
  attachments: message.attachments,
  at: message.editedAt ?? message.createdAt,
});

/** Accepts a new message, or returns the existing one with the same enforced nonce. @throws Refusal */
export function createMessage(writing: Writing, body: Body): StoredMessage {
  const { world, channelId, author } = writing;
  const payload = parse(body, writing.flags);
  if (payload.nonce !== undefined && payload.nonce !== null) {
    requireValid(writing.botToken === true, 'this route does not accept a nonce');
    if (payload.enforce_nonce) {
      const duplicate = [...world.messages.values()].find(
        (m) =>
          m.channelId === channelId &&
          m.author.id === author.id &&
          m.nonce === String(payload.nonce) &&
          world.now() - m.createdAt < DISCORD.nonceWindowMs,
      );
      if (duplicate) return duplicate;
    }
  }
  const channel = world.channel(channelId);
  if (channel.archived && channel.locked) throw new Refusal('archivedThread');
  channel.archived = false;
  const replyTo = reference(writing, payload);
  const flags = payload.flags ?? 0;
  const allowed = checkAllowedMentions(payload.allowed_mentions);
  const draft = {
    content: payload.content ?? '',
    embeds: checkEmbeds(payload.embeds ?? []),
    components: checkComponents(payload.components ?? [], (flags & FLAG.componentsV2) !== 0),
    flags,
    attachments: takeFiles(writing, payload, body.files, []),
    ...(payload.poll && { poll: storedPoll(payload.poll, world.now()) }),
  };
  checkShape(draft);
  if (writing.botToken && payload.poll) world.demand(world.channel(channelId), 'SendPolls');
  if (writing.botToken && draft.embeds.length > 0) world.demand(world.channel(channelId), 'EmbedLinks');
  const onlyFor = writing.onlyFor ?? null;
  const text = [draft.content, ...textDisplays(draft.components)].join('\n');
  const message: StoredMessage = {
    ...draft,
    id: world.nextId(),
    channelId,
    author,
    nonce: payload.nonce === undefined || payload.nonce === null ? null : String(payload.nonce),
    replyTo,
    interactionId: writing.interactionId ?? null,
    onlyFor,
    pinged:
      onlyFor === null
        ? pinged(text, allowed, replyTo === null ? null : (world.messages.get(replyTo)?.author.id ?? null))
        : [],
    createdAt: world.now(),
    editedAt: null,
    history: [],
    deleted: false,
    chosen: new Map(),
  };
  message.history.push(state(message));
  world.messages.set(message.id, message);
  return message;
}

const storedPoll = ({ question, answers, duration }: z.infer<typeof pollSchema>, now: number) => ({
  question: question.text,
  answers: answers.map(({ poll_media: { text } }) => ({ text, votes: 0 })),
  expiresAt: now + duration * 3_600_000,
});

function reference(writing: Writing, payload: Payload): string | null {
  if (!payload.message_reference) return null;
  requireValid(writing.botToken === true, 'this route does not accept a message_reference');
  const { message_id: id, fail_if_not_exists: fail = true } = payload.message_reference;
  const target = writing.world.messages.get(id);
  const exists =
    target !== undefined &&
    !target.deleted &&
    target.channelId === writing.channelId &&
    target.onlyFor === null;
  requireValid(exists || !fail, 'message_reference: Unknown message');
  if (exists && !writing.world.has(writing.world.channel(writing.channelId), 'ReadMessageHistory'))
    throw new Refusal('replyWithoutHistory');
  return exists ? id : null;
}

/** Edits a message. Missing fields keep their value; `attachments` lists the files to keep. @throws Refusal */
export function editMessage(writing: Writing, message: StoredMessage, body: Body): StoredMessage {
  const payload = parse(body, writing.flags);
  if (message.poll || payload.poll) throw new Refusal('cannotEditPoll');
  if (writing.world.channel(writing.channelId).archived) throw new Refusal('archivedThread');
  const wasV2 = (message.flags & FLAG.componentsV2) !== 0;
  const isV2 = wasV2 || ((payload.flags ?? 0) & FLAG.componentsV2) !== 0;
  if (wasV2 && payload.flags !== undefined && payload.flags !== null) {
    requireValid((payload.flags & FLAG.componentsV2) !== 0, 'flags: Components V2 cannot be removed');
  }
  requireValid(payload.nonce === undefined || payload.nonce === null, 'an edit does not accept a nonce');
  checkAllowedMentions(payload.allowed_mentions);
  const draft = {
    content: payload.content === undefined ? message.content : (payload.content ?? ''),
    embeds: payload.embeds === undefined ? message.embeds : checkEmbeds(payload.embeds ?? []),
    components: checkComponents(
      payload.components === undefined ? message.components : (payload.components ?? []),
      isV2,
    ),
    flags: (message.flags & ~FLAG.loading) | (isV2 ? FLAG.componentsV2 : 0),
    attachments: takeFiles(writing, payload, body.files, message.attachments),
  };
  checkShape(draft);
  if (writing.botToken && draft.embeds.length > 0)
    writing.world.demand(writing.world.channel(writing.channelId), 'EmbedLinks');
  Object.assign(message, draft, { editedAt: writing.world.now() });
  message.chosen.clear();
  message.history.push(state(message));
  return message;
}
