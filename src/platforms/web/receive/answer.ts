/** What the page asks, and the answers. */

import { UserError } from '../../../core/errors.ts';
import { plain } from '../../../core/message.ts';
import type { OptionValue } from '../../../core/options.ts';
import type { BrowserAnswer } from '../../../core/web/browser-chat.ts';
import { declarationOf } from '../../shared/command-line.ts';
import { completeLine } from '../../shared/completion.ts';
import { buttonTarget, formTarget } from '../../shared/target.ts';
import { channelsOf, findPerson, MENTIONS, webAddress } from '../connection/community.ts';
import type { WebMessage } from '../render/message.ts';
import { type Asking, DONE, formAnswer, invoke, referenceTo, type WebReceivingTools } from './invoke.ts';
import { runLine } from './line.ts';
import type { SentValues, WebAsking, WebRequest } from './requests.ts';

const OUTDATED = 'This button is too old. Use the command again.';

/** Answers one request. Never throws for what a person did wrong. */
export async function answerRequest(request: WebRequest, tools: WebReceivingTools): Promise<BrowserAnswer> {
  const asking = askingOfRequest(request);
  if (!asking) return { type: 'refused', sentence: "This person isn't in this channel." };
  try {
    switch (request.type) {
      case 'line':
        return await runLine(request, asking, tools);
      case 'press':
        return await press(request, asking, tools);
      case 'form':
        return await sendForm(request, asking, tools);
      case 'menu':
        return openMenu(request, asking, tools);
      case 'complete': {
        const { person, address } = asking;
        const completion = await completeLine(request.line, {
          commands: tools.bot.commands,
          suggest: (wanted) => tools.bot.suggest({ ...wanted, person, address }),
          mentions: MENTIONS,
        });
        return { type: 'candidates', ...completion };
      }
      case 'suggest':
        return await suggest(request, asking, tools);
      case 'clear':
        tools.history.remove(
          ({ channel, to }) => channel === asking.channel.id && (to === undefined || to === asking.person.id),
        );
        return DONE;
      default:
        return request satisfies never;
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    await tools.posts.sendPrivately(asking.address, { text: plain(error.message) });
    return DONE;
  }
}

function askingOfRequest({ person: id, channel: name }: WebRequest): Asking | undefined {
  const person = findPerson(id);
  const channel = channelsOf(id).find((one) => one.id === name);
  return person && channel && { person, channel, address: webAddress(channel, id) };
}

/** The message, where the person sees it in this channel. */
function seenMessage(
  id: string,
  { channel, person }: Asking,
  { history }: Pick<WebReceivingTools, 'history'>,
): WebMessage | undefined {
  const message = history.find(id);
  return message?.channel === channel.id && (message.to ?? person.id) === person.id ? message : undefined;
}

async function press(
  { id, message: pressed, action }: WebAsking<'press'>,
  asking: Asking,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const { buttons = [], more = [] } = seenMessage(pressed, asking, tools) ?? {};
  const target = buttonTarget(action);
  if (!target || ![...buttons, ...more].some((button) => button.id === action)) throw new UserError(OUTDATED);
  return await invoke({ id, target, options: {} }, asking, tools);
}

async function sendForm(
  { id, form, options }: WebAsking<'form'>,
  asking: Asking,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const target = formTarget(form);
  const values = valuesOf(options, tools);
  const given = Object.entries(values).map(
    ([name, value]) => `${name}: ${typeof value === 'object' ? value.name : String(value)}`,
  );
  const said = target.action ? undefined : { line: [`/${form}`, ...given].join(' '), attached: [] };
  return await invoke({ id, target, options: values, said, isForm: true }, asking, tools);
}

function openMenu(
  { message: id, command: name }: WebAsking<'menu'>,
  asking: Asking,
  tools: WebReceivingTools,
): BrowserAnswer {
  const command = tools.bot.commands.find((candidate) => candidate.name === name);
  const message = seenMessage(id, asking, tools);
  if (!command?.messageMenu || !message) throw new UserError('That message was deleted.');
  const { label: title, option } = command.messageMenu;
  const initial = { [option]: message.source || (message.line ?? '') };
  return formAnswer({ id: name, title, submitLabel: 'Send', options: command.options, initial }, name);
}

async function suggest(
  { form, option, typed, options }: WebAsking<'suggest'>,
  { person, address }: Asking,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const { command, subcommand } = formTarget(form);
  const declaration = declarationOf(formTarget(form), tools.bot.commands)?.options[option];
  if (declaration?.type === 'text' && declaration.mention) return { type: 'choices', choices: MENTIONS };
  const { [option]: _replaced, ...others } = options;
  const filled = valuesOf(others, tools);
  const wanted = { command, subcommand, option, typed, options: filled, person, address };
  return { type: 'choices', choices: await tools.bot.suggest(wanted) };
}

function valuesOf(
  values: SentValues,
  tools: Pick<WebReceivingTools, 'uploads'>,
): Record<string, OptionValue> {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      typeof value === 'object' ? referenceTo(value.upload, tools) : value,
    ]),
  );
}
