/** Opens forms of commands and answers. */
import type { types } from '@slack/bolt';
import { type AnyCommand, formTexts } from '../../../core/bot/command.ts';
import { UserError } from '../../../core/errors.ts';
import { plain } from '../../../core/message.ts';
import type { Form, RawOptions } from '../../../core/options.ts';
import { PlatformError } from '../../platform.ts';
import { call } from '../connection/client.ts';
import { type PrivateTools, sendPrivately } from '../deliver/private.ts';
import { slackErrorOf } from '../errors.ts';
import { type FormPlace, formView } from '../render/modal.ts';

export interface FormPlacement extends Pick<FormPlace, 'address' | 'home'> {
  readonly triggerId: string | undefined;
}

/** Opens the form of a command or subcommand. */
export async function openCommandForm(
  command: AnyCommand,
  { subcommand, initial = {} }: { subcommand?: string | undefined; initial?: RawOptions },
  placement: FormPlacement,
  tools: PrivateTools,
): Promise<void> {
  const id = subcommand === undefined ? command.name : `${command.name} ${subcommand}`;
  const { options } = (subcommand === undefined ? undefined : command.subcommands?.[subcommand]) ?? command;
  await openForm({ id, ...formTexts(command, subcommand), options, initial }, placement, tools);
}

/** Returns the form, or a UserError if a text does not fit. */
export function viewOf(form: Form, place: FormPlace): types.ModalView | UserError {
  try {
    return formView(form, place);
  } catch (error) {
    if (error instanceof UserError) return error;
    throw error;
  }
}

/** Opens a form. A trigger ID is valid for three seconds. */
export async function openForm(
  form: Form,
  { triggerId, ...placement }: FormPlacement,
  tools: PrivateTools,
): Promise<void> {
  const { address } = placement;
  const view = viewOf(form, placement);
  if (view instanceof UserError) return sendPrivately(address, { text: plain(view.message) }, tools);
  try {
    if (triggerId === undefined)
      throw new PlatformError('refused', 'Cannot open a form without a trigger ID');
    await call(() => tools.web.views.open({ trigger_id: triggerId, view }), { repeatable: false }, tools);
  } catch (error) {
    tools.log.warn({ err: error, code: slackErrorOf(error) }, 'Could not open a form');
    const text = "Slack didn't open the form in time. Try again.";
    await sendPrivately(address, { text }, tools);
  }
}
