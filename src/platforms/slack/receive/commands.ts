/** Slash commands. */
import type { AckFn, App, RespondArguments } from '@slack/bolt';
import type { z } from 'zod';
import type { AnyCommand } from '../../../core/bot/command.ts';
import { toMessage, UserError } from '../../../core/errors.ts';
import type { Message } from '../../../core/message.ts';
import type { RawOptions } from '../../../core/options.ts';
import { opensForm, readKnownLine, requestedHelp, typedOptions } from '../../shared/command-line.ts';
import { renderPrivately } from '../deliver/private.ts';
import { unescapeSlack } from '../render/escape.ts';
import type { Part } from '../render/parts.ts';
import { withSlackTerms } from '../words.ts';
import { openCommandForm } from './open-form.ts';
import { slashAddress, slashSchema } from './payloads.ts';
import { type ListenerTools, respond, toolsIn, type WorkspaceTools } from './respond.ts';

export function listenToCommands(app: App, shared: ListenerTools): void {
  const commands = shared.bot.commands.map(withSlackTerms);
  app.command(/./, async ({ body, context, ack }) => {
    await take(slashSchema.parse(body), commands, ack, await toolsIn(context, shared));
  });
}

async function take(
  slash: z.infer<typeof slashSchema>,
  commands: readonly AnyCommand[],
  ack: AckFn<string | RespondArguments>,
  tools: WorkspaceTools,
): Promise<void> {
  const { trigger_id: id } = slash;
  const address = slashAddress(slash, tools.now());
  const privately = ({ text, blocks }: Part) => ack({ response_type: 'ephemeral', text, blocks });
  const replyPrivately = async (message: Message) => {
    const [part] = (await renderPrivately(address, message, tools)).parts;
    await (part === undefined ? ack() : privately(part));
  };
  try {
    const line = readSlashLine(`${slash.command} ${slash.text}`, commands);
    const help = requestedHelp(line.command, line);
    if (help) return await replyPrivately(help);
    const { subcommand, options } = readTyped(line);
    if (options === 'form') {
      await ack();
      return await openCommandForm(line.command, { subcommand }, { address, triggerId: id }, tools);
    }
    // Slack offers a workspace's commands only to its own people.
    const user = { id: slash.user_id, username: slash.user_name, team_id: tools.team };
    const acknowledge = { sentAt: tools.sentAt, silently: () => ack(), privately };
    const invocation = { id, command: line.command.name, subcommand, options, address };
    await respond(invocation, user, { acknowledge, triggerId: id }, tools);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    await replyPrivately(toMessage(error, { log: tools.log, reference: id }));
  }
}

type SlashLine = ReturnType<typeof readKnownLine>;

/**
 * Parses a typed command as Slack sends it. Keeps mentions for options that take a person. Throws UserError like {@link
 * readKnownLine}.
 */
export function readSlashLine(escaped: string, commands: readonly AnyCommand[]): SlashLine {
  const line = readKnownLine(unescapeSlack(escaped).trim(), commands);
  const keepMentions =
    escaped.includes('<@') &&
    Object.values(line.options).some((option) => option.type === 'text' && option.mention === true);
  return keepMentions ? readKnownLine(unescapeSlack(escaped, { keepMentions }).trim(), commands) : line;
}

/** Typed options, or `form` if a form should ask for them. Throws UserError like {@link typedOptions}. */
export function readTyped(line: SlashLine): {
  readonly subcommand: string | undefined;
  readonly options: RawOptions | 'form';
} {
  const { command, name, subcommand } = line;
  if (opensForm(command, line)) return { subcommand, options: 'form' };
  const fileHint = `To add a file, send /${name} alone and use the form.`;
  return { subcommand, options: typedOptions(command, line, fileHint) };
}
