/** Handles the Home tab, and suggests prompts when the messages tab is opened. */
import type { AllMiddlewareArgs, App, SlackActionMiddlewareArgs } from '@slack/bolt';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import type { Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { buttonTarget } from '../../shared/target.ts';
import { call } from '../connection/client.ts';
import { slackErrorOf } from '../errors.ts';
import {
  CHANNEL_MENU,
  HOME_ACTIONS,
  type HomeChannels,
  homeView,
  pressedForm,
  readHomeChannels,
} from '../render/home.ts';
import { openCommandForm } from './open-form.ts';
import { agentAddress, channelAddress, interactionSchema, pressedSchema } from './payloads.ts';
import { type ListenerTools, respond, toolsIn, type WorkspaceTools } from './respond.ts';

/** Changes from the Home tab, such as a cancelled job, may take this long to show. */
const SETTLE_MS = 1500;

const GREETING = 'Hi! What can I create for you?';

const openedSchema = z.object({
  user: z.string(),
  /** The person's direct messages with the bot. */
  channel: z.string(),
  tab: z.string(),
  view: z.object({ private_metadata: z.string().optional() }).optional(),
});

const viewedSchema = z.object({ view: z.object({ private_metadata: z.string() }) });

/** The address of requests from the tab: the channel whose settings it shows. */
const homeAddress = (person: string, guild: string, { direct, channel = direct }: HomeChannels): Address =>
  channelAddress(guild, { channel, person });

export function listenToHome(app: App, shared: ListenerTools): void {
  app.event('app_home_opened', async ({ event, context }) => {
    const { user, channel: direct, tab, view } = openedSchema.parse(event);
    const tools = await toolsIn(context, shared);
    if (tab === 'messages') return await suggestPrompts(user, direct, tools);
    if (tab !== 'home') return;
    const shown = { ...readHomeChannels(view?.private_metadata), direct };
    await publishHome(homeAddress(user, tools.team, shown), shown, undefined, tools);
  });
  app.action(HOME_ACTIONS, (args) => handlePress(args, shared));
}

async function suggestPrompts(user: string, channel: string, tools: WorkspaceTools): Promise<void> {
  const { team } = await tools.identity.read();
  if (!tools.agents.isAvailable()) return;
  const person = await tools.people.find(user);
  const prompts = await tools.bot.prompts({ address: agentAddress(team, { channel, person: user }), person });
  await tools.agents.suggest(channel, GREETING, prompts);
}

/** Handles a button or the menu in the Home tab. */
async function handlePress(
  { body, payload, context, ack }: SlackActionMiddlewareArgs & AllMiddlewareArgs,
  shared: ListenerTools,
): Promise<void> {
  const tools = await toolsIn(context, shared);
  const { user, trigger_id: triggerId } = interactionSchema.parse(body);
  const { team } = tools;
  const { view } = viewedSchema.parse(body);
  const { value, action_id: actionId, selected_conversation: chosenChannel } = pressedSchema.parse(payload);
  const shown = readHomeChannels(view.private_metadata);
  if (shown === undefined) return ack();
  if (actionId === CHANNEL_MENU) {
    await ack();
    const next = chosenChannel === undefined ? shown : { ...shown, channel: chosenChannel };
    await publishHome(homeAddress(user.id, team, next), next, undefined, tools);
    return;
  }
  const address = homeAddress(user.id, team, shown);
  const form = pressedForm(value);
  const command = tools.bot.commands.find(({ name }) => name === form?.command);
  if (form !== undefined && command?.subcommands?.[form.subcommand ?? '']?.asks !== true) {
    await ack();
    if (command === undefined) return;
    return openCommandForm(command, form, { address, triggerId, home: shown.direct }, tools);
  }
  const target =
    form === undefined
      ? buttonTarget(value ?? actionId)
      : { command: form.command, subcommand: form.subcommand };
  if (target === undefined) return ack();
  const options = form?.initial ?? {};
  const id = triggerId ?? `${user.id}:${value}`;
  const home = homeAnswer(address, shown.direct, tools);
  const acknowledge = { sentAt: tools.sentAt, silently: () => ack() };
  const invocation = { id, ...target, options, address };
  await respond(invocation, user, { acknowledge, triggerId, home }, tools);
}

/** Shows an answer in the Home tab, at once and again after changes have settled. */
export function homeAnswer(address: Address, direct: string, tools: WorkspaceTools) {
  const { channel } = address;
  const shown = channel === direct ? { direct } : { direct, channel };
  return {
    direct,
    async answer(message: Message | undefined) {
      const hash = await publishHome(address, shown, message, tools);
      await tools.sleep(SETTLE_MS);
      await publishHome(address, shown, message, tools, hash);
    },
  };
}

/**
 * Publishes the tab and resolves to its hash. With the hash of an earlier state, does nothing if the tab has changed since.
 * Never throws, because the tab is refreshed when it is opened again.
 */
async function publishHome(
  address: Address,
  shown: HomeChannels,
  message: Message | undefined,
  tools: WorkspaceTools,
  previousHash?: string,
): Promise<string | undefined> {
  const user = address.person;
  try {
    const person = await tools.people.find(user);
    const sections = await tools.bot.home({ address, person });
    const options = { person: user };
    const view = await homeView({ sections, shown, answer: message, options });
    const publication = { user_id: user, view, ...present({ hash: previousHash }) };
    const { view: published } = await call(
      () => tools.web.views.publish(publication),
      { repeatable: true },
      tools,
    );
    return published?.hash;
  } catch (error) {
    if (slackErrorOf(error) !== 'hash_conflict')
      tools.log.warn({ err: error }, 'Could not show the Home tab');
    return undefined;
  }
}
