/** Interactions as Discord sends them, over the gateway or by HTTP; tolerant of whatever is added. */
import { z } from 'zod';
import type { FileReference } from '../../command.ts';

const attachmentSchema = z.object({
  id: z.string(),
  filename: z.string(),
  url: z.string(),
  content_type: z.string().optional(),
  size: z.number().optional(),
});
export type IncomingAttachment = z.infer<typeof attachmentSchema>;

export const fileReferenceOf = ({
  filename,
  url,
  content_type,
  size,
}: IncomingAttachment): FileReference => ({
  name: filename,
  url,
  ...(content_type === undefined ? {} : { contentType: content_type }),
  ...(size === undefined ? {} : { bytes: size }),
});

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
export interface IncomingOption {
  readonly name: string;
  readonly type: number;
  readonly value?: z.infer<typeof valueSchema> | undefined;
  readonly focused?: boolean | undefined;
  readonly options?: readonly IncomingOption[] | undefined;
}
const optionSchema: z.ZodType<IncomingOption> = z.lazy(() =>
  z.object({
    name: z.string(),
    type: z.number(),
    value: valueSchema.optional(),
    focused: z.boolean().optional(),
    options: z.array(optionSchema).optional(),
  }),
);

const embedsSchema = z
  .array(z.object({ title: z.string().optional(), description: z.string().optional() }))
  .catch([]);

const resolvedSchema = z
  .object({
    attachments: z.record(z.string(), attachmentSchema).optional(),
    messages: z
      .record(z.string(), z.object({ content: z.string().catch(''), embeds: embedsSchema }))
      .optional(),
    roles: z
      .record(z.string(), z.object({ name: z.string() }))
      .optional()
      .catch(undefined),
    users: z.record(z.string(), userSchema).optional().catch(undefined),
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
  /** Where a thread belongs to. */
  channel: z
    .object({ type: z.number(), parent_id: z.string().nullish(), owner_id: z.string().nullish() })
    .optional()
    .catch(undefined),
  /** What the bot may do in the channel, as bits. */
  app_permissions: z.string().optional(),
  guild_id: z.string().optional(),
  member: memberSchema.optional(),
  user: userSchema.optional(),
  locale: z.string().optional(),
  /** 0 guild, 1 direct message with the bot, 2 other private channels. */
  context: z.number().nullish(),
  /** Who installed the app: `0` a guild, `1` the person. */
  authorizing_integration_owners: z.record(z.string(), z.string()).optional(),
  attachment_size_limit: z.number().optional(),
};

export const interactionSchema = z.discriminatedUnion('type', [
  z.object({ ...base, type: z.literal(2), data: commandDataSchema }),
  z.object({
    ...base,
    type: z.literal(3),
    data: z.object({ custom_id: z.string(), component_type: z.number() }),
    /** The one that the button stands at. */
    message: z
      .object({
        id: z.string(),
        content: z.string().catch(''),
        embeds: embedsSchema,
        flags: z.number().catch(0),
      })
      .optional()
      .catch(undefined),
  }),
  z.object({ ...base, type: z.literal(4), data: commandDataSchema }),
  z.object({ ...base, type: z.literal(5), data: modalDataSchema }),
]);
export type Interaction = z.infer<typeof interactionSchema>;
export type CommandInteraction = Extract<Interaction, { type: 2 | 4 }>;
export type ComponentInteraction = Extract<Interaction, { type: 3 }>;
export type FormInteraction = Extract<Interaction, { type: 5 }>;

/** A message as the gateway or REST tells it. */
export const incomingMessageSchema = z.object({
  id: z.string(),
  channel_id: z.string(),
  guild_id: z.string().optional(),
  /** 0 a message, 19 a reply. */
  type: z.number(),
  content: z.string(),
  author: userSchema,
  member: memberSchema.optional(),
  webhook_id: z.string().optional(),
  mentions: z.array(z.object({ id: z.string() })).catch([]),
  mention_roles: z.array(z.string()).catch([]),
  mention_everyone: z.boolean().catch(false),
  /** Of where it was written. */
  channel_type: z.number().optional().catch(undefined),
  attachments: z.array(attachmentSchema).catch([]),
  embeds: embedsSchema,
  message_reference: z
    .object({ message_id: z.string().optional(), channel_id: z.string().optional() })
    .optional(),
});
export type IncomingMessage = z.infer<typeof incomingMessageSchema>;
