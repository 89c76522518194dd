/** Runs a typed line: a command such as `/song a tune for rain --style lofi`, or a message. */

import { formTexts } from '../../../core/bot/command.ts';
import { UserError } from '../../../core/errors.ts';
import type { FileReference, OptionDeclarations, OptionValue, RawOptions } from '../../../core/options.ts';
import type { BrowserAnswer } from '../../../core/web/browser-chat.ts';
import { opensForm, readKnownLine, requestedHelp, typedOptions } from '../../shared/command-line.ts';
import { readableText } from '../render/markdown.ts';
import {
  answerPrivately,
  DONE,
  formAnswer,
  invoke,
  personMessage,
  type RequestContext,
  referenceTo,
  runInvocation,
  type WebReceivingTools,
} from './invoke.ts';
import type { RequestOf } from './requests.ts';
import { hintFor, questionFor, textForBot } from './talk.ts';

/** Throws UserError for invalid input. */
export async function runLine(
  request: RequestOf<'line'>,
  context: RequestContext,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const files = request.uploads.map((id) => referenceTo(id, tools));
  const line = readableText(request.line).trim();
  if (!line.startsWith('/')) return await runMessage(request, files, context, tools);
  const parsed = readKnownLine(line, tools.bot.commands);
  const help = requestedHelp(parsed.command, parsed);
  if (help) {
    await showLinePrivately(request, context, tools);
    return await answerPrivately(context, help, tools);
  }
  if (files.length === 0 && opensForm(parsed.command, parsed)) {
    const { name, options, command, subcommand } = parsed;
    return formAnswer({ id: name, ...formTexts(command, subcommand), options, initial: {} }, name);
  }
  const typed = typedOptions(
    parsed.command,
    parsed,
    'Or attach the file with the plus button, or drop it here.',
  );
  const options = withFiles(typed, files, parsed);
  const entry = await personMessage(request, context, tools);
  const target = { command: parsed.command.name, subcommand: parsed.subcommand };
  return await invoke({ id: request.id, target, options, entry }, context, tools);
}

/** Shows the person a line that ran no command, so that they can correct it. */
export async function showLinePrivately(
  request: RequestOf<'line'>,
  context: RequestContext,
  tools: WebReceivingTools,
): Promise<void> {
  const message = await personMessage(request, context, tools);
  if (!tools.history.find(message.id)) tools.history.put({ ...message, to: context.person.id });
}

/** Assigns attached files to the options that accept them, in order. */
function withFiles(
  typed: RawOptions,
  files: readonly FileReference[],
  { name, options: declarations }: { readonly name: string; readonly options: OptionDeclarations },
): RawOptions {
  const options: Record<string, OptionValue | undefined> = { ...typed };
  for (const file of files) {
    const kind = file.contentType?.split('/')[0];
    const free = Object.entries(declarations).filter(
      ([option, { type }]) => type === 'file' && options[option] === undefined,
    );
    const [match = free[0]] = free.filter(
      ([, option]) => option.type === 'file' && option.accept.some((accepted) => accepted === kind),
    );
    if (!match)
      throw new UserError(`/${name} can't use ${file.name}. Remove the file, or use another command.`);
    options[match[0]] = file;
  }
  return options;
}

async function runMessage(
  request: RequestOf<'line'>,
  files: readonly FileReference[],
  context: RequestContext,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const { bot, history } = tools;
  const { person, channel, address } = context;
  const message = await personMessage(request, context, tools);
  if (message.source === '' && files.length === 0) return DONE;
  history.put(message);
  const scope = { isDirect: channel.direct !== undefined, history };
  const text =
    textForBot(message, scope) ?? ((await bot.answersEveryMessage(address)) ? message.source : undefined);
  if (text === undefined) return hintFor(message);
  const to = { ...address, platformData: { message: message.id } };
  const question = questionFor(message, { text, files }, scope);
  return await runInvocation({ id: request.id, person, address: to, ...question }, tools);
}
