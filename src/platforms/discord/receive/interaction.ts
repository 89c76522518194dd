/** Interactions as Discord sends them, over the gateway; unknown fields are ignored. */
import { SnowflakeUtil } from 'discord.js';
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

const userSchema = z.object({
  id: z.string(),
  username: z.string(),
  global_name: z.string().nullish(),
  bot: z.boolean().optional(),
});
export type IncomingUser = z.infer<typeof userSchema>;

const memberSchema = z.object({
  nick: z.string().nullish(),
  roles: z.array(z.string()).catch([]),
  permissions: z.string().optional(),
  user: userSchema.optional(),
});
export type IncomingMember = z.infer<typeof memberSchema>;

const valueSchema = z.union([z.string(), z.number(), z.boolean()]);
const optionSchema = z.object({
  name: z.string(),
  type: z.number(),
  value: valueSchema.optional(),
  focused: z.boolean().optional(),
  /** Of a subcommand. */
  get options() {
    return z.array(optionSchema).optional();
  },
});
export type IncomingOption = z.infer<typeof optionSchema>;

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

const resolvedSchema = z
  .object({
    attachments: z.record(z.string(), attachmentSchema).optional(),
    messages: z.record(z.string(), z.object(spoken)).optional(),
    roles: tolerant(z.record(z.string(), z.object({ name: z.string() }))),
    users: tolerant(z.record(z.string(), userSchema)),
  })
  .optional();

const commandDataSchema = z.object({
  name: z.string(),
  type: z.number(),
  options: z.array(optionSchema).default([]),
  /** The message whose menu was used. */
  target_id: z.string().optional(),
  resolved: resolvedSchema,
});

const fieldSchema = z.object({
  custom_id: z.string(),
  type: z.number(),
  value: valueSchema.nullish(),
  values: z.array(z.string()).optional(),
});
export type IncomingField = z.infer<typeof fieldSchema>;

const modalDataSchema = z.object({
  custom_id: z.string(),
  components: z.array(z.object({ component: fieldSchema.optional() })),
  resolved: resolvedSchema,
});

const base = {
  id: z.string(),
  application_id: z.string(),
  token: z.string(),
  channel_id: z.string(),
  channel: tolerant(
    z.object({
      type: z.number(),
      name: z.string().nullish(),
      parent_id: z.string().nullish(),
      owner_id: z.string().nullish(),
    }),
  ),
  /** What the bot may do in the channel, as bits. */
  app_permissions: z.string().optional(),
  guild_id: z.string().optional(),
  member: memberSchema.optional(),
  user: userSchema.optional(),
  /** 0 guild, 1 direct message with the bot, 2 other private channels. */
  context: z.number().nullish(),
  /** Who installed the app: `0` a guild, `1` the person. */
  authorizing_integration_owners: z.record(z.string(), z.string()).optional(),
  attachment_size_limit: z.number().optional(),
};

export const discordInteractionSchema = z.discriminatedUnion('type', [
  z.object({ ...base, type: z.literal(2), data: commandDataSchema }),
  z.object({
    ...base,
    type: z.literal(3),
    /** What is chosen from a menu counts as a button of that id. */
    data: z
      .object({ custom_id: z.string(), component_type: z.number(), values: z.array(z.string()).default([]) })
      .transform(({ values: [chosen], ...pressed }) =>
        chosen ? { ...pressed, custom_id: chosen } : pressed,
      ),
    /** The one with the button. */
    message: tolerant(z.object({ id: z.string(), ...spoken, flags: z.number().catch(0) })),
  }),
  z.object({ ...base, type: z.literal(4), data: commandDataSchema }),
  z.object({ ...base, type: z.literal(5), data: modalDataSchema }),
]);
export type Interaction = z.infer<typeof discordInteractionSchema>;
export type CommandInteraction = Extract<Interaction, { type: 2 | 4 }>;
export type ComponentInteraction = Extract<Interaction, { type: 3 }>;
export type FormInteraction = Extract<Interaction, { type: 5 }>;

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
  /** The message that this one replies to, where Discord tells it along. */
  referenced_message: z.unknown().optional(),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;

const deletionSchema = z.union([
  z.object({ id: z.string() }).transform(({ id }) => [id]),
  z.object({ ids: z.array(z.string()) }).transform(({ ids }) => ids),
]);

/** What MESSAGE_DELETE and MESSAGE_DELETE_BULK tell. */
export const deletedMessages = (data: unknown): DeletedMessage[] =>
  (deletionSchema.safeParse(data).data ?? []).map((id) => ({ id, at: SnowflakeUtil.timestampFrom(id) }));
