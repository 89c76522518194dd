/** Slash commands. */
import type { AckFn, App, RespondArguments } from '@slack/bolt';
import type { z } from 'zod';
import type { AnyCommand } from '../../../core/bot/command.ts';
import { toMessage, UserError } from '../../../core/errors.ts';
import type { RawOptions } from '../../../core/options.ts';
import { askedHelp, type CommandLine, readCommandLine, typedOptions } from '../../shared/command-line.ts';
import { renderPrivately } from '../deliver/private.ts';
import { unescapeSlack } from '../render/escape.ts';
import { inSlackWords } from '../render/words.ts';
import {
  type Acknowledgement,
  type ListenerTools,
  respond,
  toolsIn,
  type WorkspaceTools,
} from './answering.ts';
import { slashAddress, slashSchema } from './invocations.ts';
import { openCommandForm } from './open-form.ts';

export function listenToCommands(app: App, shared: ListenerTools): void {
  const commands = new Map(
    shared.bot.commands.map(inSlackWords).map((command) => [`/${command.name}`, command]),
  );
  app.command(/./, async ({ body, context, ack }) => {
    const command = commands.get(body.command);
    if (command === undefined) return;
    const tools = await toolsIn(context, shared);
    await take(command, slashSchema.parse(body), ack, tools);
  });
}

async function take(
  command: AnyCommand,
  slash: z.infer<typeof slashSchema>,
  ack: AckFn<string | RespondArguments>,
  tools: WorkspaceTools,
): Promise<void> {
  const { trigger_id: id } = slash;
  const address = slashAddress(slash, tools.now());
  const privately: Acknowledgement['privately'] = ({ text, blocks }) =>
    ack({ response_type: 'ephemeral', text, blocks });
  const line = readSlashLine(command, slash.text);
  const help = askedHelp(command, line);
  if (help) {
    const [part] = (await renderPrivately(address, help, tools)).parts;
    return await (part === undefined ? ack() : privately(part));
  }
  try {
    const { subcommand, options } = readTyped(command, line);
    if (options === 'form') {
      await ack();
      return await openCommandForm(command, { subcommand }, { address, triggerId: id }, tools);
    }
    // A workspace's people use its commands, and visitors those of their own.
    const user = { id: slash.user_id, username: slash.user_name, team_id: tools.team };
    const acknowledge = { sentAt: tools.sentAt, silently: () => ack(), privately };
    const asking = { id, command: command.name, subcommand, options, address };
    await respond(asking, user, { acknowledge, triggerId: id }, tools);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    const message = toMessage(error, { log: tools.log, reference: id });
    const [part] = (await renderPrivately(address, message, tools)).parts;
    if (part !== undefined) await privately(part);
  }
}

/** The text as Slack sends it; people in it stay what an option for one takes. */
export function readSlashLine(command: AnyCommand, escaped: string): CommandLine {
  const line = readCommandLine(command, unescapeSlack(escaped).trim());
  const keepMentions =
    escaped.includes('<@') &&
    Object.values(line.options).some((option) => option.type === 'text' && option.mention === true);
  return keepMentions ? readCommandLine(command, unescapeSlack(escaped, { keepMentions }).trim()) : line;
}

/** Typed options; `form` for an empty text or `?`, when there is a form. Throws UserError like {@link typedOptions}. */
export function readTyped(
  command: AnyCommand,
  line: CommandLine,
): { readonly subcommand: string | undefined; readonly options: RawOptions | 'form' } {
  const { name, subcommand, text } = line;
  const isWhole = command.subcommands === undefined || subcommand !== undefined;
  if (!line.asks && Object.keys(line.options).length > 0 && (text === '?' || (text === '' && isWhole)))
    return { subcommand, options: 'form' };
  const fileHint = `Send /${name} alone: the form takes your file.`;
  const options = typedOptions(command, { ...line, text: text === '?' ? '' : text }, fileHint);
  return { subcommand, options };
}
