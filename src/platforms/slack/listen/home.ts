/** The Home tab: opened, turned to another channel, changed in place. */
import type { App, Context } from '@slack/bolt';
import { z } from 'zod';
import type { Address, Invocation } from '../../../command.ts';
import type { Message } from '../../../message.ts';
import { answer, openForm } from '../answering.ts';
import { commandForm } from '../forms.ts';
import { changeHome, type HomePlace, homeAddress, publishHome } from '../home/publish.ts';
import { CHANNEL_MENU, HOME_CALLBACK, pressedForm, readShown, type Shown } from '../home/view.ts';
import { actionOf, interactionSchema } from '../invocations.ts';
import { type ListenerTools, toolsIn, type WorkspaceTools, who } from './tools.ts';

const openedSchema = z.object({
  user: z.string(),
  /** The person's own talk with the bot. */
  channel: z.string(),
  tab: z.string(),
  view: z.object({ private_metadata: z.string().optional() }).optional(),
});

const viewSchema = z.object({
  view: z.object({ callback_id: z.string(), private_metadata: z.string().catch('') }),
});

const pressedSchema = z.object({
  value: z.string().optional(),
  action_id: z.string(),
  selected_conversation: z.string().optional(),
});

export function listenToHome(app: App, shared: ListenerTools): void {
  if (shared.bot.home === undefined) return;
  app.event('app_home_opened', async ({ event, context }) => {
    const { user, channel: direct, tab, view } = openedSchema.parse(event);
    if (tab !== 'home') return;
    const tools = await toolsIn(context, shared);
    const { team } = await tools.identity.read();
    const shown = { ...readShown(view?.private_metadata), direct };
    await publishHome({ user, team, shown }, undefined, tools);
  });
}

/** The Home tab that an interaction came from; undefined when it came from elsewhere. */
export function homeOf(body: unknown): Shown | undefined {
  const { data } = viewSchema.safeParse(body);
  return data?.view.callback_id === HOME_CALLBACK ? readShown(data.view.private_metadata) : undefined;
}

interface Pressed {
  readonly body: unknown;
  readonly payload: unknown;
  readonly context: Context;
  readonly ack: () => Promise<void>;
}

/** A button or the menu in the Home tab. */
export async function pressInHome(
  { body, payload, context, ack }: Pressed,
  shown: Shown,
  shared: ListenerTools,
): Promise<void> {
  const tools = await toolsIn(context, shared);
  const interaction = interactionSchema.parse(body);
  const { team } = await tools.identity.read();
  const place: HomePlace = { user: interaction.user.id, team, shown };
  const { value, action_id: id, selected_conversation: chosen } = pressedSchema.parse(payload);
  if (id === CHANNEL_MENU) {
    await ack();
    const turned = chosen === undefined ? shown : { ...shown, channel: chosen };
    return publishHome({ ...place, shown: turned }, undefined, tools);
  }
  const form = pressedForm(value);
  const target = actionOf(value ?? id);
  const address = homeAddress(place);
  const triggerId = interaction.trigger_id;
  if (form !== undefined && form.asks !== true) {
    await ack();
    const command = tools.bot.commands.find(({ name }) => name === form.command);
    if (command === undefined) return;
    return openForm(commandForm(command, form), address, triggerId, tools, { home: shown.direct });
  }
  const asked =
    form === undefined
      ? target
      : { command: form.command, ...(form.subcommand === undefined ? {} : { subcommand: form.subcommand }) };
  if (asked === undefined) return ack();
  const invocation = tools.persons.find(interaction.user.id, interaction.user.username).then(
    (known): Invocation => ({
      id: triggerId ?? `${interaction.user.id}:${value}`,
      ...asked,
      options: form?.initial ?? {},
      address,
      ...who(known),
    }),
  );
  await answer(
    invocation,
    { acknowledge: { silently: ack }, triggerId, home: noticeIn(place, tools) },
    tools,
  );
}

/** How the outcome of what was asked for in the Home tab is told there. */
export function noticeIn(place: HomePlace, tools: WorkspaceTools) {
  return {
    direct: place.shown.direct,
    tell: (message: Message | undefined) => changeHome(place, message, tools),
  };
}

/** The Home tab that a form was opened from. */
export function homePlace({ guild = '', channel, person }: Address, direct: string): HomePlace {
  const shown = channel === direct ? { direct } : { direct, channel };
  return { user: person, team: guild, shown };
}
