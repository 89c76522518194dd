/** Messages as Discord sends them, over the gateway and by REST; unknown fields are ignored. */
import { type Attachment, SnowflakeUtil } from 'discord.js';
import { z } from 'zod';
import type { FileReference } from '../../../core/options.ts';
import type { DeletedMessage } from '../../shared/deletions.ts';

const attachmentSchema = z
  .object({
    filename: z.string(),
    url: z.string(),
    content_type: z.string().optional(),
    size: z.number().optional(),
  })
  .transform(
    ({ filename: name, url, content_type: contentType, size: bytes }): FileReference => ({
      name,
      url,
      contentType,
      bytes,
      attached: true,
    }),
  );

/** A file as discord.js tells it. */
export const fileOf = ({ name, url, contentType, size }: Attachment): FileReference => ({
  name,
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

const componentSchema = z.looseObject({ type: z.number(), custom_id: z.string().optional() });
/** With all that they hold, so that they can be sent back. */
const rowSchema = z.looseObject({ components: z.array(componentSchema) });

/** The parts of a message that the bot reads back. */
const spoken = {
  content: z.string().catch(''),
  embeds: z.array(z.object({ title: z.string().optional(), description: z.string().optional() })).catch([]),
  components: z.array(rowSchema.catch({ components: [] })).catch([]),
  message_reference: z
    .object({ message_id: z.string().optional(), channel_id: z.string().optional() })
    .optional()
    .catch(undefined),
};

const tolerant = <Schema extends z.ZodType>(schema: Schema) => schema.optional().catch(undefined);

/** A message as the gateway or REST tells it. */
export const incomingMessageSchema = z.object({
  id: z.string(),
  channel_id: z.string(),
  guild_id: z.string().optional(),
  type: z.number(),
  ...spoken,
  author: userSchema,
  member: memberSchema.optional(),
  webhook_id: z.string().optional(),
  mentions: z.array(z.object({ id: z.string() })).catch([]),
  mention_roles: z.array(z.string()).catch([]),
  mention_everyone: z.boolean().catch(false),
  channel_type: tolerant(z.number()),
  attachments: z.array(attachmentSchema).catch([]),
  /** Of an answer to a command or a button: the interaction. */
  interaction_metadata: tolerant(z.object({ id: z.string() })),
  /** The message that this one replies to, where Discord tells it along. */
  referenced_message: z.unknown().optional(),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;

/** What of MESSAGE_UPDATE is read: the message itself is read again where it is needed. */
export const editedMessageSchema = z.object({ id: z.string() });

const deletionSchema = z.union([
  z.object({ id: z.string() }).transform(({ id }) => [id]),
  z.object({ ids: z.array(z.string()) }).transform(({ ids }) => ids),
]);

/** What MESSAGE_DELETE and MESSAGE_DELETE_BULK tell. */
export const deletedMessages = (data: unknown): DeletedMessage[] =>
  (deletionSchema.safeParse(data).data ?? []).map((id) => ({ id, at: SnowflakeUtil.timestampFrom(id) }));
