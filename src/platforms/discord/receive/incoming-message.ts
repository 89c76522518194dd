/** Messages as the gateway and REST send them. Unknown fields are ignored. */
import { extname } from 'node:path';
import { type Attachment, type Message, type MessageSnapshot, type Poll, SnowflakeUtil } from 'discord.js';
import { z } from 'zod';
import type { FileReference } from '../../../core/options.ts';
import type { DeletedMessage } from '../../shared/deletions.ts';

const attachmentSchema = z
  .object({
    filename: z.string(),
    /** The name without its extension, if Discord removed characters from `filename`. */
    title: z.string().nullish(),
    url: z.string(),
    content_type: z.string().optional(),
    size: z.number().optional(),
  })
  .transform(
    ({ filename, title, url, content_type: contentType, size: bytes }): FileReference => ({
      name: nameOf(filename, title),
      url,
      contentType,
      bytes,
      attached: true,
    }),
  );

const nameOf = (filename: string, title?: string | null): string =>
  title ? `${title}${extname(filename)}` : filename;

/** Converts an attachment of discord.js. */
export const fileOf = ({ name, title, url, contentType, size }: Attachment): FileReference => ({
  name: nameOf(name, title),
  url,
  contentType: contentType ?? undefined,
  bytes: size,
  attached: true,
});

const userSchema = z.object({
  id: z.string(),
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});

const memberSchema = z.object({
  nick: z.string().nullish(),
  roles: z.array(z.string()).catch([]),
});

const tolerant = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);
/** Drops invalid entries. */
const listOf = <Schema extends z.ZodType>(schema: Schema) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((entries) =>
      entries.flatMap((entry): z.output<Schema>[] => {
        const { data } = schema.safeParse(entry);
        return data === undefined ? [] : [data];
      }),
    );

/** https://docs.discord.com/developers/components/reference#unfurled-media-item-structure */
const mediaSchema = z.object({
  url: z.string(),
  /** Served by Discord. */
  proxy_url: tolerant(z.string()),
});

/** https://docs.discord.com/developers/components/reference */
export interface Component {
  readonly type: number;
  readonly custom_id?: string | undefined;
  /** In a text display. */
  readonly content?: string | undefined;
  /** In a row, a section or a container. */
  readonly components?: readonly Component[] | undefined;
  /** In a section. */
  readonly accessory?: Component | undefined;
  /** In a gallery. */
  readonly items?: readonly { readonly media: z.infer<typeof mediaSchema> }[] | undefined;
  /** In a thumbnail. */
  readonly media?: z.infer<typeof mediaSchema> | undefined;
}
const componentSchema: z.ZodType<Component> = z.lazy(() =>
  z.object({
    type: z.number(),
    custom_id: tolerant(z.string()),
    content: tolerant(z.string()),
    components: listOf(componentSchema),
    accessory: tolerant(componentSchema),
    items: listOf(z.object({ media: mediaSchema })),
    media: tolerant(mediaSchema),
  }),
);

/** https://docs.discord.com/developers/resources/message#embed-object */
const embedSchema = z.object({
  title: tolerant(z.string()),
  url: tolerant(z.string()),
  description: tolerant(z.string()),
  author: tolerant(z.object({ name: z.string() })),
  fields: listOf(z.object({ name: z.string(), value: z.string() })),
  footer: tolerant(z.object({ text: z.string() })),
  image: tolerant(mediaSchema),
});

/** https://docs.discord.com/developers/resources/poll#poll-object */
const pollSchema = z.object({
  question: z.object({ text: z.string().catch('') }),
  answers: listOf(
    z.object({ answer_id: tolerant(z.number()), poll_media: z.object({ text: z.string().catch('') }) }),
  ),
  results: tolerant(z.object({ answer_counts: listOf(z.object({ id: z.number(), count: z.number() })) })),
});

/** The content of a message. Forwarded messages have only these fields. */
const contentShape = {
  content: z.string().catch(''),
  embeds: listOf(embedSchema),
  components: listOf(componentSchema),
  attachments: listOf(attachmentSchema),
  sticker_items: listOf(z.object({ name: z.string() })),
  poll: tolerant(pollSchema),
  mentions: listOf(userSchema.extend({ member: tolerant(memberSchema.pick({ nick: true })) })),
};
/** https://docs.discord.com/developers/resources/message#message-snapshot-object */
const snapshotSchema = z.object({ message: z.object(contentShape) });

export const messageContentSchema = z.object({ ...contentShape, message_snapshots: listOf(snapshotSchema) });
export type MessageContent = z.infer<typeof messageContentSchema>;

/** In a reply, a forward or a system message. https://docs.discord.com/developers/resources/message#message-reference-types */
const FORWARD = 1;
const referenceSchema = z.object({
  type: z.number().optional(),
  message_id: z.string().optional(),
  channel_id: z.string().optional(),
});

/** A message as the gateway or REST sends it. */
export const incomingMessageSchema = messageContentSchema.extend({
  id: z.string(),
  channel_id: z.string(),
  guild_id: z.string().optional(),
  type: z.number(),
  author: userSchema,
  member: memberSchema.optional(),
  webhook_id: z.string().optional(),
  mention_roles: z.array(z.string()).catch([]),
  mention_everyone: z.boolean().catch(false),
  channel_type: tolerant(z.number()),
  /** The interaction, in an answer to a command or button. */
  interaction_metadata: tolerant(z.object({ id: z.string() })),
  /** Removed for forwards, which use the field for their source. */
  message_reference: tolerant(referenceSchema).transform((reference) =>
    reference?.type === FORWARD ? undefined : reference,
  ),
  /** The message that this one replies to, if Discord includes it. */
  referenced_message: z.unknown().optional(),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;

/** Converts a message of discord.js to the form that the gateway sends. */
export function toIncomingMessage(message: Message): IncomingMessage {
  const { id, channelId, type, author, reference } = message;
  return incomingMessageSchema.parse({
    ...rawContent(message),
    id,
    channel_id: channelId,
    type,
    author: { id: author.id, username: author.username, global_name: author.globalName, bot: author.bot },
    message_reference: reference && {
      type: reference.type,
      message_id: reference.messageId,
      channel_id: reference.channelId,
    },
    message_snapshots: message.messageSnapshots?.map((snapshot) => ({ message: rawContent(snapshot) })),
  });
}

function rawContent(message: Message | MessageSnapshot): object {
  return {
    content: message.content,
    embeds: message.embeds.map(({ data }) => data),
    components: message.components.map((component) => component.toJSON()),
    attachments: message.attachments.map(({ name, title, url, contentType, size }) => ({
      filename: name,
      title,
      url,
      content_type: contentType ?? undefined,
      size,
    })),
    sticker_items: message.stickers.map(({ name }) => ({ name })),
    poll: 'poll' in message && message.poll ? pollOf(message.poll) : undefined,
    mentions: message.mentions.users.map(({ id, username, globalName }) => ({
      id,
      username,
      global_name: globalName,
      member: { nick: message.mentions.members?.get(id)?.nickname },
    })),
  };
}

const pollOf = ({ question, answers }: Poll): object => ({
  question: { text: question.text },
  answers: answers.map(({ id, text }) => ({ answer_id: id, poll_media: { text } })),
  results: { answer_counts: answers.map(({ id, voteCount }) => ({ id, count: voteCount })) },
});

/** Only the id of MESSAGE_UPDATE is used: the message is fetched again when needed. */
export const editedMessageSchema = z.object({ id: z.string() });

const deletionSchema = z.union([
  z.object({ id: z.string() }).transform(({ id }) => [id]),
  z.object({ ids: z.array(z.string()) }).transform(({ ids }) => ids),
]);

/** Reads MESSAGE_DELETE and MESSAGE_DELETE_BULK. */
export const deletedMessages = (data: unknown): DeletedMessage[] =>
  (deletionSchema.safeParse(data).data ?? []).map((id) => ({ id, at: SnowflakeUtil.timestampFrom(id) }));
