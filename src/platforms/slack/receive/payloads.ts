/** Parses payloads of commands and interactions, and builds addresses from them. */
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { present } from '../../../core/util/present.ts';
import { responseUrlData } from '../deliver/private.ts';

export const PLATFORM_NAME = 'slack';

/** Fields common to all interactions. */
export const interactionSchema = z.object({
  trigger_id: z.string().optional(),
  response_url: z.string().optional(),
  team: z.object({ id: z.string() }).nullish(),
  user: z.object({
    id: z.string(),
    name: z.string().optional(),
    username: z.string().optional(),
    team_id: z.string().optional(),
  }),
  channel: z.object({ id: z.string(), name: z.string().optional() }).optional(),
  container: z
    .object({
      channel_id: z.string().optional(),
      message_ts: z.string().optional(),
      thread_ts: z.string().optional(),
    })
    .optional(),
  message: z.object({ ts: z.string().optional(), thread_ts: z.string().optional() }).optional(),
});

export const slashSchema = z.object({
  command: z.string(),
  text: z.string().catch(''),
  team_id: z.string(),
  channel_id: z.string(),
  channel_name: z.string().optional(),
  user_id: z.string(),
  user_name: z.string().optional(),
  response_url: z.string().optional(),
  trigger_id: z.string(),
});

/** Direct messages (`D…`, or a person's ID) do not belong to the workspace. */
export function channelAddress(
  guild: string,
  { channel, person, name }: Pick<Address, 'channel' | 'person'> & { readonly name?: string | undefined },
): Address {
  const isUnnamed = name !== undefined && PLACEHOLDER_NAMES.has(name);
  return {
    platform: PLATFORM_NAME,
    guild,
    channel,
    person,
    ...present({ channelName: isUnnamed ? undefined : name }),
    ...(/^[DUW]/.test(channel) && { direct: true }),
    ...(isUnnamed && { public: false }),
  };
}

/**
 * Builds the address of an agent thread. Unlike other direct messages it belongs to the workspace, so the moderators'
 * settings apply.
 */
export function agentAddress(
  guild: string,
  { channel, thread, person }: Pick<Address, 'channel' | 'thread' | 'person'>,
): Address {
  return { platform: PLATFORM_NAME, guild, channel, person, ...present({ thread }) };
}

/** The channel and thread of an {@link agentAddress} with a thread. Undefined for other addresses. */
export function agentThreadOf({
  channel,
  thread,
  direct,
}: Pick<Address, 'channel' | 'thread' | 'direct'>): { channel: string; thread: string } | undefined {
  return thread !== undefined && direct !== true && channel.startsWith('D') ? { channel, thread } : undefined;
}

/** Slack's placeholders for names. */
const PLACEHOLDER_NAMES: ReadonlySet<string> = new Set(['privategroup', 'directmessage']);

/** Slash commands name only public channels. Other payloads are not documented to do so, so they leave this open. */
function publicity({ channel_name: name }: z.infer<typeof slashSchema>): Pick<Address, 'public'> {
  return name === undefined ? {} : { public: !PLACEHOLDER_NAMES.has(name) && !name.startsWith('mpdm-') };
}

export function slashAddress(slash: z.infer<typeof slashSchema>, now: number): Address {
  const { channel_id: channel, channel_name: name, user_id: person } = slash;
  return {
    ...channelAddress(slash.team_id, { channel, person, name }),
    ...publicity(slash),
    ...responseUrlData(slash.response_url, now),
  };
}

/** The channel and thread of the message with the button or shortcut. Without a channel, the person's direct messages. */
export function interactionAddress(
  interaction: z.infer<typeof interactionSchema>,
  team: string,
  now: number,
  { hasAgents }: { readonly hasAgents: boolean },
): Address {
  const { user, container, message } = interaction;
  const thread = container?.thread_ts ?? message?.thread_ts;
  // A message with replies names itself as its thread.
  const messageTs = container?.message_ts ?? message?.ts;
  const channel = interaction.channel?.id ?? container?.channel_id ?? user.id;
  const location = { channel, person: user.id };
  const isReply = thread !== undefined && thread !== messageTs;
  return {
    // The workspace that the app acts in: in shared channels, people may belong to others.
    ...(isReply && hasAgents && channel.startsWith('D')
      ? agentAddress(team, location)
      : channelAddress(team, { ...location, name: interaction.channel?.name })),
    ...(isReply && { thread }),
    ...responseUrlData(interaction.response_url, now),
  };
}

/** A pressed button, or a choice from a menu, which counts as a button with its value. */
export const pressedSchema = z
  .object({
    value: z.string().optional(),
    action_id: z.string(),
    selected_option: z.object({ value: z.string() }).optional().catch(undefined),
    selected_conversation: z.string().optional(),
  })
  .transform(({ selected_option: selected, value, ...pressed }) => ({
    ...pressed,
    value: selected?.value ?? value,
  }));
