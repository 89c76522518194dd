/** Answers requests from the page. */

import { MENU_FORM } from '../../../core/bot/command.ts';
import { UserError } from '../../../core/errors.ts';
import { plain } from '../../../core/message.ts';
import type { FileReference, OptionValue } from '../../../core/options.ts';
import { own } from '../../../core/util/own.ts';
import { present } from '../../../core/util/present.ts';
import type { BrowserAnswer } from '../../../core/web/browser-chat.ts';
import { declarationOf } from '../../shared/command-line.ts';
import { completeLine } from '../../shared/completion.ts';
import { filledForm, menuForm, preselectedHint } from '../../shared/message-menu.ts';
import { buttonTarget, formTarget, type Target } from '../../shared/target.ts';
import { channelsOf, findPerson, MENTIONS, webAddress } from '../connection/community.ts';
import type { WebMessage } from '../render/message.ts';
import {
  answerPrivately,
  DONE,
  formAnswer,
  invoke,
  personMessage,
  type RequestContext,
  referenceTo,
  type WebReceivingTools,
} from './invoke.ts';
import { runLine, showLinePrivately } from './line.ts';
import type { RequestOf, SentValues, WebRequest } from './requests.ts';

const BUTTON_EXPIRED = 'This button no longer works. Use the command again.';

/** Answers one request. Reports user errors as messages instead of throwing. */
export async function answerRequest(request: WebRequest, tools: WebReceivingTools): Promise<BrowserAnswer> {
  const context = contextOf(request);
  if (!context) return { type: 'refused', sentence: "This person isn't in this channel." };
  try {
    switch (request.type) {
      case 'line':
        return await runLine(request, context, tools);
      case 'press':
        return await press(request, context, tools);
      case 'form':
        return await sendForm(request, context, tools);
      case 'menu':
        return openMenu(request, context, tools);
      case 'complete': {
        const { person, address } = context;
        const completion = await completeLine(request.line, {
          commands: tools.bot.commands,
          suggest: (suggestion) => tools.bot.suggest({ ...suggestion, person, address }),
          mentions: MENTIONS,
        });
        return { type: 'candidates', ...completion };
      }
      case 'suggest':
        return await suggest(request, context, tools);
      case 'clear':
        tools.history.clear(context.channel.id, context.person.id);
        return DONE;
      case 'restore':
        tools.history.restore(context.channel.id, context.person.id);
        return DONE;
      default:
        return request satisfies never;
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    if (request.type === 'line') await showLinePrivately(request, context, tools);
    return await answerPrivately(context, { text: plain(error.message) }, tools);
  }
}

function contextOf({ person: id, channel: name }: WebRequest): RequestContext | undefined {
  const person = findPerson(id);
  const channel = channelsOf(id).find((candidate) => candidate.id === name);
  return person && channel && { person, channel, address: webAddress(channel, id) };
}

/** The message, if the person can see it in this channel. */
function visibleMessage(
  id: string,
  { channel, person }: RequestContext,
  { history }: Pick<WebReceivingTools, 'history'>,
): WebMessage | undefined {
  const message = history.find(id);
  return message?.channel === channel.id && (message.to ?? person.id) === person.id ? message : undefined;
}

async function press(
  { id, message: pressed, action }: RequestOf<'press'>,
  context: RequestContext,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const message = visibleMessage(pressed, context, tools);
  const { buttons = [], more = [], variants = [] } = message ?? {};
  const target = buttonTarget(action);
  const offered = [...buttons, ...more, ...variants.map(({ button }) => button)];
  if (!target || !offered.some(({ id }) => id === action)) throw new UserError(BUTTON_EXPIRED);
  const answer = await invoke({ id, target, options: {} }, context, tools);
  return answer.type === 'form' && target.action ? { ...answer, about: message?.title ?? '' } : answer;
}

async function sendForm(
  { id, form, options }: RequestOf<'form'>,
  context: RequestContext,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const { target, name: typed, message } = readForm(form);
  const chosen = valuesOf(options, tools);
  const declared = declarationOf(target, tools.bot.commands)?.options;
  const files = message === undefined ? undefined : menuFiles(message, context, tools);
  const values = files ? filledForm(declared, chosen, files) : chosen;
  if (values instanceof UserError) throw values;
  const filled = Object.entries(values).map(
    ([name, value]) => `${name}: ${typeof value === 'object' ? value.name : String(value)}`,
  );
  const line = [`/${typed}`, ...filled].join(' ');
  const entry = target.action ? undefined : await personMessage({ id, line, uploads: [] }, context, tools);
  return await invoke({ id, target, options: values, entry }, context, tools);
}

function openMenu(
  { message: id, command: name }: RequestOf<'menu'>,
  context: RequestContext,
  tools: WebReceivingTools,
): BrowserAnswer {
  const command = tools.bot.commands.find((candidate) => candidate.name === name);
  const message = visibleMessage(id, context, tools);
  const menu = command?.messageMenu;
  if (!menu || 'subcommand' in menu || !message) throw new UserError(BUTTON_EXPIRED);
  const text = message.source || (message.line ?? '');
  const form = menuForm(command, menu, { text, files: filesOf(message, tools) });
  if (form instanceof UserError) throw form;
  const entries = Object.entries(form.initial);
  const files = entries.filter((entry): entry is [string, FileReference] => typeof entry[1] === 'object');
  if (files.length === 0) return formAnswer(form, name);
  // The page cannot hold the files, so they are read from the message again.
  const hints = files.map(([option, file]) => [
    option,
    { ...form.options[option], required: false, help: preselectedHint(file) },
  ]);
  const options = { ...form.options, ...Object.fromEntries(hints) };
  const initial = Object.fromEntries(entries.filter(([, value]) => typeof value !== 'object'));
  return formAnswer({ ...form, id: `${form.id}@${id}`, options, initial }, name);
}

/** The target of a form, and the command as people type it. The id may end with the message whose menu opened the form. */
function readForm(id: string): { readonly target: Target; readonly name: string; readonly message?: string } {
  const [form = id, message] = id.split('@');
  const target = formTarget(form);
  const name = target.subcommand === MENU_FORM ? target.command : form;
  return { target, name, ...present({ message }) };
}

/** The files of the message whose menu opened the form. None if it was deleted. */
function menuFiles(id: string, context: RequestContext, tools: WebReceivingTools): FileReference[] {
  const message = visibleMessage(id, context, tools);
  return message ? filesOf(message, tools) : [];
}

/** Uploads are held in memory only, so older ones may be missing. */
function filesOf(
  { uploads = [], media = [] }: WebMessage,
  tools: Pick<WebReceivingTools, 'uploads' | 'reference'>,
): FileReference[] {
  return [
    ...uploads.flatMap((upload) => tools.uploads.reference(upload) ?? []),
    ...media.flatMap(({ file, name }) => (file ? [tools.reference(file, name)] : [])),
  ];
}

async function suggest(
  { form, option, typed, options }: RequestOf<'suggest'>,
  { person, address }: RequestContext,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const { target } = readForm(form);
  const { command, subcommand } = target;
  const declaration = own(declarationOf(target, tools.bot.commands)?.options, option);
  if (declaration?.type === 'text' && declaration.mention) return { type: 'choices', choices: MENTIONS };
  const { [option]: _replaced, ...otherValues } = options;
  const filled = valuesOf(otherValues, tools);
  const suggestion = { command, subcommand, option, typed, options: filled, person, address };
  return { type: 'choices', choices: await tools.bot.suggest(suggestion) };
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
