/** Runs typed lines: commands, buttons, answers and help. */
import type { Bot } from '../../core/bot/create-bot.ts';
import { UserError } from '../../core/errors.ts';
import type { Address, Person } from '../../core/invocation.ts';
import { type ActionButton, type Message, plain } from '../../core/message.ts';
import type { OptionDeclarations, OptionValue, RawOptions } from '../../core/options.ts';
import { ellipsis } from '../../core/util/words.ts';
import {
  commandHelp,
  optionHelp,
  readKnownLine,
  requestedHelp,
  typedOptions,
} from '../shared/command-line.ts';
import { completeLine } from '../shared/completion.ts';
import { buttonTarget, formTarget, type Target } from '../shared/target.ts';
import { typedValue } from '../shared/values.ts';
import type { Prompt } from './prompt.ts';

/** A terminal's only address. Its pages open on this machine. */
export const TERMINAL_ADDRESS = {
  platform: 'terminal',
  channel: 'terminal',
  public: true,
  person: 'you',
} as const satisfies Address;

/** The only person, who may do everything. */
const YOU = {
  id: TERMINAL_ADDRESS.person,
  displayName: 'you',
  moderator: true,
  roles: [],
} as const satisfies Person;

/** The result of a line: a job, an answer or a refusal. */
export type LineResult = { readonly job: string } | 'answered' | 'refused';

export interface SessionOptions {
  readonly bot: Bot;
  readonly newId: () => string;
  readonly next: Prompt['next'];
  readonly sendPrivately: (message: Message) => Promise<void>;
  readonly post: (key: string, message: Message) => Promise<void>;
  /** The printed buttons; the first has number 1. */
  readonly buttons: readonly ActionButton[];
}

interface FilledCommand {
  readonly target: Target;
  readonly declarations: OptionDeclarations;
  readonly values: RawOptions;
}

const FORM_HINT = 'Press Enter to keep the current value, type - to clear it, or press Ctrl-C to cancel.';
/** Maximum characters shown of a field's value. */
const MAX_VALUE_LENGTH = 40;

export type Session = ReturnType<typeof createSession>;

export function createSession({ bot, newId, next, sendPrivately, post, buttons }: SessionOptions) {
  async function invoke({ target, declarations, values }: FilledCommand): Promise<LineResult> {
    const id = newId();
    const outcome = await bot.run({ id, address: TERMINAL_ADDRESS, person: YOU, ...target, options: values });
    switch (outcome.type) {
      case 'accepted':
        outcome.begin();
        if (outcome.reply) await sendPrivately(outcome.reply);
        return { job: outcome.job };
      case 'form': {
        const { form } = outcome;
        await sendPrivately({ title: form.title, text: plain(FORM_HINT) });
        const filledForm = { target: formTarget(form.id), declarations: form.options, values: form.initial };
        return ask(Object.keys(form.options), filledForm);
      }
      case 'message': {
        const { option, message, visibility } = outcome;
        if (visibility === 'channel') await post(id, message);
        else await sendPrivately(message);
        // Ask only for the missing or invalid option, and keep the others.
        if (option !== undefined && Object.hasOwn(declarations, option))
          return ask([option], { target, declarations, values: { ...values, [option]: undefined } });
        const isAnswer = bot.commands.some(
          ({ name, answersPrivately }) => name === target.command && answersPrivately,
        );
        return visibility === 'channel' || isAnswer ? 'answered' : 'refused';
      }
      default:
        return outcome satisfies never;
    }
  }

  /** Asks for these options one by one, then runs the command with all of them. */
  async function ask(
    names: readonly string[],
    { target, declarations, values }: FilledCommand,
  ): Promise<LineResult> {
    const answers: Record<string, OptionValue | undefined> = { ...values };
    for (const name of names) {
      const declaration = declarations[name];
      if (!declaration) continue;
      const current = answers[name];
      const note = current === undefined ? '' : ` \\(now: ${plain(shortened(current))}\\)`;
      await sendPrivately({ text: optionHelp(name, declaration) + note });
      const command = [target.command, target.subcommand].filter(Boolean).join(' ');
      const typed = (await next({ name, completes: `/${command} --${name} ` }))?.trim();
      if (typed === undefined) throw new UserError('Cancelled. Nothing was started.');
      if (typed === '-') answers[name] = undefined;
      else if (typed !== '')
        answers[name] = declaration.type === 'file' ? typedValue(name, declaration, typed, '') : typed;
    }
    return invoke({ target, declarations, values: answers });
  }

  /** A button by its number, or the newest one with this label. */
  function buttonFor(typed: string): ActionButton | undefined {
    const word = typed.toLowerCase();
    return /^\d{1,6}$/.test(word)
      ? buttons[Number(word) - 1]
      : buttons.findLast(({ label }) => label.toLowerCase() === word);
  }

  function press({ id }: Pick<ActionButton, 'id'>): Promise<LineResult> {
    return invoke({ target: buttonTarget(id) ?? { command: id }, declarations: {}, values: {} });
  }

  async function answer(message: Message): Promise<LineResult> {
    await sendPrivately(message);
    return 'answered';
  }

  async function runCommand(line: string): Promise<LineResult> {
    const found = readKnownLine(line, bot.commands);
    const { command, subcommand, options: declarations } = found;
    const help = found.hasQuestionMark ? commandHelp(command) : requestedHelp(command, found);
    if (help) return answer(help);
    return invoke({
      target: { command: command.name, subcommand },
      declarations,
      values: typedOptions(command, found, ''),
    });
  }

  /** Runs a line, or throws UserError. */
  async function runLine(typed: string): Promise<LineResult> {
    if (typed === '') return 'refused';
    if (typed.startsWith('/')) return runCommand(typed);
    const [isHelp, name] = /^(?:help|\?)(?:\s+\/?(\S+))?$/i.exec(typed) ?? [];
    if (isHelp !== undefined) {
      const command = bot.commands.find((candidate) => candidate.name === name);
      return answer(command ? commandHelp(command) : overview(bot));
    }
    const button = buttonFor(typed);
    if (button) return press(button);
    throw new UserError(
      /^\d+$/.test(typed)
        ? `There is no button ${typed}. Type the number or name of a button above.`
        : "Type a command such as /minstrel help, or a button's number or name. Type help for help, or exit to quit.",
    );
  }

  /** Shows the message of a UserError. */
  async function reportUserError(result: Promise<LineResult>): Promise<LineResult> {
    try {
      return await result;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await sendPrivately({ text: plain(error.message) });
      return 'refused';
    }
  }

  return {
    run: (line: string): Promise<LineResult> => reportUserError(runLine(line.trim())),
    press: (button: Pick<ActionButton, 'id'>): Promise<LineResult> => reportUserError(press(button)),

    async complete(line: string): Promise<[candidates: string[], typed: string]> {
      const { candidates, typed } = await completeLine(line, {
        commands: bot.commands,
        suggest: (request) => bot.suggest({ ...request, address: TERMINAL_ADDRESS, person: YOU }),
      });
      return [candidates.map(({ value }) => value), typed];
    },
  };
}

function overview({ commands }: Pick<Bot, 'commands'>): Message {
  return {
    title: 'Commands and keys',
    text: [
      ...commands.map(({ name, description }) => `- **/${name}** ${plain(description)}`),
      '- To press a button, type its **number** or **name**',
      "- To see a command's options, type **help** and its name",
      '- **Tab** completes your input, **exit** quits',
    ].join('\n'),
  };
}

function shortened(value: OptionValue): string {
  return ellipsis(typeof value === 'object' ? value.name : String(value), MAX_VALUE_LENGTH);
}
