/** Slack's payloads as invocations. Everything from outside passes a schema here. */
import { z } from 'zod';
import type { Address, Invocation } from '../../command.ts';
import { type ActionReference, parseActionId } from '../../message.ts';
import type { Identity } from './identity.ts';
import { responseUrlData } from './response-url.ts';

export const PLATFORM_NAME = 'slack';

/** The fields that every interaction has, whatever it is. */
export const interactionSchema = z.object({
  trigger_id: z.string().optional(),
  response_url: z.string().optional(),
  team: z.object({ id: z.string() }).nullish(),
  user: z.object({ id: z.string(), name: z.string().optional(), username: z.string().optional() }),
  channel: z.object({ id: z.string() }).optional(),
  container: z
    .object({
      channel_id: z.string().optional(),
      message_ts: z.string().optional(),
      thread_ts: z.string().optional(),
    })
    .optional(),
  message: z.object({ ts: z.string().optional(), thread_ts: z.string().optional() }).optional(),
});
export type Interaction = z.infer<typeof interactionSchema>;

export const slashSchema = z.object({
  command: z.string(),
  text: z.string().catch(''),
  team_id: z.string(),
  channel_id: z.string(),
  user_id: z.string(),
  user_name: z.string().optional(),
  response_url: z.string().optional(),
  trigger_id: z.string(),
});
export type SlashCommand = z.infer<typeof slashSchema>;

export function slashAddress(slash: SlashCommand, now: number): Address {
  return {
    platform: PLATFORM_NAME,
    guild: slash.team_id,
    channel: slash.channel_id,
    person: slash.user_id,
    ...responseUrlData(slash.response_url, now),
  };
}

/** Where a pressed button or a shortcut belongs: beside the message it came from. Without a channel: the person's own. */
export function interactionAddress(interaction: Interaction, identity: Identity, now: number): Address {
  const { user, channel, container, message } = interaction;
  const thread = container?.thread_ts ?? message?.thread_ts;
  // A message with replies names itself as its thread.
  const own = container?.message_ts ?? message?.ts;
  return {
    platform: PLATFORM_NAME,
    // The workspace that the app acts in: in shared channels, people come from others too.
    guild: identity.team,
    channel: channel?.id ?? container?.channel_id ?? user.id,
    person: user.id,
    ...(thread !== undefined && thread !== own ? { thread } : {}),
    ...responseUrlData(interaction.response_url, now),
  };
}

/** What a pressed button stands for; undefined when it is none of ours. */
export function actionOf(
  id: string,
): (Pick<Invocation, 'command'> & { action: NonNullable<Invocation['action']> }) | undefined {
  const reference: ActionReference | undefined = parseActionId(id);
  if (reference === undefined) return undefined;
  const { command, action, job, index } = reference;
  return { command, action: { name: action, job, index } };
}
