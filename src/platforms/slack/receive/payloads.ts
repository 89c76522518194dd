/** Slack's payloads of commands and interactions, and the addresses in them. */
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { present } from '../../../core/util/present.ts';
import { responseUrlData } from '../deliver/private.ts';

export const PLATFORM_NAME = 'slack';

/** The fields that every interaction has, whatever it is. */
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

/** Direct messages (`D…`, or the id of the person) are no part of the workspace. */
export function channelAddress(
  guild: string,
  { channel, person, name }: Pick<Address, 'channel' | 'person'> & { readonly name?: string | undefined },
): Address {
  const isUnnamed = name !== undefined && UNNAMED.has(name);
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
 * A thread of the agent view. It is a part of the workspace, unlike other direct messages: what moderators decided for the
 * workspace holds in it.
 */
export function agentAddress(
  guild: string,
  { channel, thread, person }: Pick<Address, 'channel' | 'thread' | 'person'>,
): Address {
  return { platform: PLATFORM_NAME, guild, channel, person, ...present({ thread }) };
}

/** Whether an address is one of {@link agentAddress}, with its thread. */
export function agentThreadOf({
  channel,
  thread,
  direct,
}: Pick<Address, 'channel' | 'thread' | 'direct'>): { channel: string; thread: string } | undefined {
  return thread !== undefined && direct !== true && channel.startsWith('D') ? { channel, thread } : undefined;
}

/** What Slack says instead of names. */
const UNNAMED: ReadonlySet<string> = new Set(['privategroup', 'directmessage']);

/** Of private channels a command tells no name. Buttons are not documented to do the same, so they tell nothing. */
function publicity({ channel_name: name }: z.infer<typeof slashSchema>): Pick<Address, 'public'> {
  return name === undefined ? {} : { public: !UNNAMED.has(name) && !name.startsWith('mpdm-') };
}

export function slashAddress(slash: z.infer<typeof slashSchema>, now: number): Address {
  const { channel_id: channel, channel_name: name, user_id: person } = slash;
  return {
    ...channelAddress(slash.team_id, { channel, person, name }),
    ...publicity(slash),
    ...responseUrlData(slash.response_url, now),
  };
}

/** The channel and thread of the message that has the button or shortcut. Without a channel: the person's own. */
export function interactionAddress(
  interaction: z.infer<typeof interactionSchema>,
  team: string,
  now: number,
  { hasAgents }: { readonly hasAgents: boolean },
): Address {
  const { user, container, message } = interaction;
  const thread = container?.thread_ts ?? message?.thread_ts;
  // A message with replies names itself as its thread.
  const own = container?.message_ts ?? message?.ts;
  const channel = interaction.channel?.id ?? container?.channel_id ?? user.id;
  const place = { channel, person: user.id };
  const isReply = thread !== undefined && thread !== own;
  return {
    // The workspace that the app acts in: in shared channels, some people are from other workspaces.
    ...(isReply && hasAgents && channel.startsWith('D')
      ? agentAddress(team, place)
      : channelAddress(team, { ...place, name: interaction.channel?.name })),
    ...(isReply && { thread }),
    ...responseUrlData(interaction.response_url, now),
  };
}

/** A pressed button. What is chosen from a menu counts as a button of that value. */
export const pressedSchema = z
  .object({
    value: z.string().optional(),
    action_id: z.string(),
    selected_option: z.object({ value: z.string() }).optional().catch(undefined),
    selected_conversation: z.string().optional(),
  })
  .transform(({ selected_option: chosen, value, ...pressed }) => ({
    ...pressed,
    value: chosen?.value ?? value,
  }));
