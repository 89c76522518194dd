/** Handles buttons, the stop button of the agent view, and shortcuts. */
import type { App } from '@slack/bolt';
import { z } from 'zod';
import { UserError } from '../../../core/errors.ts';
import type { Address } from '../../../core/invocation.ts';
import { plain } from '../../../core/message.ts';
import { menuForm } from '../../shared/message-menu.ts';
import { buttonTarget } from '../../shared/target.ts';
import { call } from '../connection/client.ts';
import { sendPrivately } from '../deliver/private.ts';
import { slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { GLOBAL_SHORTCUT, MESSAGE_SHORTCUT } from '../manifest.ts';
import { HOME_ACTIONS } from '../render/home.ts';
import { MORE_OPTIONS } from '../render/modal.ts';
import { contentOfTalk, ownPictures } from './content.ts';
import { talkSchema } from './incoming-message.ts';
import { openCommandForm, openForm } from './open-form.ts';
import {
  agentAddress,
  agentThreadOf,
  interactionAddress,
  interactionSchema,
  pressedSchema,
} from './payloads.ts';
import { type ListenerTools, respond, toolsIn, type WorkspaceTools } from './respond.ts';

const messageSchema = z.object({
  message: talkSchema
    .pick({ user: true, text: true, files: true, blocks: true, attachments: true, bot_id: true })
    .optional(),
});

export function listenToButtons(app: App, shared: ListenerTools): void {
  app.action(/.*/, async ({ ack, body, payload, context }) => {
    const { value, action_id: actionId } = pressedSchema.parse(payload);
    if (HOME_ACTIONS.test(actionId) || actionId === MORE_OPTIONS) return;
    const target = buttonTarget(value ?? actionId);
    // A button that opens a page, or a menu in a form.
    if (target === undefined) return ack();
    const tools = await toolsIn(context, shared);
    const interaction = interactionSchema.parse(body);
    const { user, trigger_id: triggerId } = interaction;
    const address = await addressOf(interaction, tools);
    const id = triggerId ?? `${user.id}:${value}`;
    const acknowledge = { sentAt: tools.sentAt, silently: () => ack() };
    const invocation = { id, ...target, options: {}, address };
    await respond(invocation, user, { acknowledge, triggerId }, tools);
  });
}

const stoppedSchema = z.object({ user: z.string(), channel: z.string(), thread_ts: z.string() });

/** Slack shows the button only if the app subscribes to this event. */
export function listenToStop(app: App, shared: ListenerTools): void {
  app.event('agent_session_stopped', async ({ event, context }) => {
    const { user, channel, thread_ts: thread } = stoppedSchema.parse(event);
    const tools = await toolsIn(context, shared);
    const { team } = await tools.identity.read();
    const person = await tools.people.find(user);
    await tools.bot.cancelRunning({ address: agentAddress(team, { channel, thread, person: user }), person });
    await tools.agents.setIdle({ channel, thread });
  });
}

export function listenToShortcuts(app: App, shared: ListenerTools): void {
  app.shortcut(/.*/, async ({ ack, body, payload, context }) => {
    const tools = await toolsIn(context, shared);
    await ack();
    const { callback_id: callback } = payload;
    const prefix = [MESSAGE_SHORTCUT, GLOBAL_SHORTCUT].find((known) => callback.startsWith(known));
    const commandName = callback.slice(prefix?.length ?? 0);
    const command = tools.bot.commands.find(({ name }) => name === commandName);
    if (command === undefined) return;
    const interaction = interactionSchema.parse(body);
    const { user, channel } = interaction;
    const origin = await addressOf(interaction, tools);
    const direct = channel === undefined ? await directChannel(user.id, tools) : undefined;
    const address = direct === undefined ? origin : { ...origin, channel: direct };
    const { trigger_id: triggerId } = interaction;
    const { message } = messageSchema.parse(body);
    const menu = command.messageMenu;
    if (menu === undefined || message === undefined)
      return await openCommandForm(command, {}, { address, triggerId }, tools);
    const content = await contentOfTalk(message, tools);
    const own = 'option' in menu ? [] : await ownPictures(message, tools);
    const files = [...content.files, ...own];
    if (!('subcommand' in menu)) {
      const form = menuForm(command, menu, { ...content, files });
      if (form instanceof UserError) {
        const [text = form.message] = content.problems;
        return await sendPrivately(address, { text: plain(text) }, tools);
      }
      return await openForm(form, { address, triggerId }, tools);
    }
    const id = triggerId ?? `${user.id}:${callback}`;
    const request = { id, command: command.name, subcommand: menu.subcommand, options: {} };
    const acknowledge = { silently: async () => {} };
    await respond({ ...request, address, files }, user, { acknowledge, triggerId }, tools);
  });
}

/** The agent view can be recognised only once the bot's identity is known. */
async function addressOf(
  interaction: z.infer<typeof interactionSchema>,
  { identity, agents, team, now }: WorkspaceTools,
): Promise<Address> {
  const inAgents = interactionAddress(interaction, team, now(), { hasAgents: true });
  if (agentThreadOf(inAgents) === undefined) return inAgents;
  await identity.settle();
  return agents.isAvailable() ? inAgents : interactionAddress(interaction, team, now(), { hasAgents: false });
}

/** The person's direct messages with the bot. Undefined if Slack does not open them within a second. */
async function directChannel(person: string, tools: WorkspaceTools): Promise<string | undefined> {
  const open = () => tools.web.conversations.open({ users: person });
  const opening = call(open, { repeatable: true }, tools).then(
    ({ channel }) => channel?.id,
    (error: unknown) => {
      tools.log.warn({ err: error, code: slackErrorOf(error) }, 'Could not open a direct message');
      return undefined;
    },
  );
  return (await Promise.race([opening, tools.sleep(LIMITS.lookUpWithinMs)])) ?? undefined;
}
