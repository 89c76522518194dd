/** A typed line: a command as in `/song a tune for rain --style lofi`, or talk. */

import { UserError } from '../../../core/errors.ts';
import type { FileReference, OptionDeclarations, OptionValue, RawOptions } from '../../../core/options.ts';
import type { BrowserAnswer } from '../../../core/web/browser-chat.ts';
import { askedHelp, opensForm, readKnownLine, typedOptions } from '../../shared/command-line.ts';
import { readableText, webNodes } from '../render/markdown.ts';
import type { WebMessage } from '../render/message.ts';
import {
  type Asking,
  DONE,
  finish,
  formAnswer,
  invoke,
  referenceTo,
  saidId,
  type WebReceivingTools,
} from './invoke.ts';
import type { WebAsking } from './requests.ts';
import { questionAsking, wordsToBot } from './talk.ts';

/** Throws UserError for what is typed wrong. */
export async function runLine(
  request: WebAsking<'line'>,
  asking: Asking,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const files = request.uploads.map((id) => referenceTo(id, tools));
  const line = readableText(request.line).trim();
  if (!line.startsWith('/')) return await talk({ ...request, line }, files, asking, tools);
  const found = readKnownLine(line, tools.bot.commands);
  const help = askedHelp(found.command, found);
  if (help) {
    await tools.posts.sendPrivately(asking.address, help);
    return DONE;
  }
  if (files.length === 0 && opensForm(found.command, found)) {
    const { name, description: title, options } = found;
    return formAnswer({ id: name, title, submitLabel: 'Send', options, initial: {} }, name);
  }
  const typed = typedOptions(
    found.command,
    found,
    'Or attach the file with the paper clip, or drop it here.',
  );
  const options = withFiles(typed, files, found);
  const said = { line, attached: files.map(({ name }) => name) };
  const target = { command: found.command.name, subcommand: found.subcommand };
  return await invoke({ id: request.id, target, options, said }, asking, tools);
}

/** Attached files fill the options that take them, in their order. */
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
    const [fitting = free[0]] = free.filter(
      ([, option]) => option.type === 'file' && option.accept.some((accepted) => accepted === kind),
    );
    if (!fitting) throw new UserError(`/${name} can't use ${file.name}.`);
    options[fitting[0]] = file;
  }
  return options;
}

async function talk(
  { id, line, replyTo }: WebAsking<'line'>,
  files: readonly FileReference[],
  { person, channel, address }: Asking,
  tools: WebReceivingTools,
): Promise<BrowserAnswer> {
  const { history, now } = tools;
  if (line === '' && files.length === 0) return DONE;
  const said: WebMessage = {
    id: saidId(id),
    channel: channel.id,
    at: now(),
    author: person.id,
    body: await webNodes(line),
    source: line,
    replyTo,
    attached: files.length > 0 ? files.map(({ name }) => name) : undefined,
  };
  history.put(said);
  const where = { isDirect: channel.direct !== undefined, history };
  const text = wordsToBot(said, where);
  if (text === undefined) return DONE;
  const to = { ...address, platformData: { message: said.id } };
  const asked = questionAsking(said, { text, files }, where);
  return await finish({ id, person, address: to, ...asked }, tools);
}
