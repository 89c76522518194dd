/** What a typed line does: a command, a button's number, help. */
import type { Bot } from '../../../core/bot/bot.ts';
import type { AnyCommand } from '../../../core/bot/command.ts';
import type { Form } from '../../../core/bot/form.ts';
import { UserError } from '../../../core/errors.ts';
import type { Address, Person } from '../../../core/invocation.ts';
import { type Message, plain } from '../../../core/message.ts';
import {
  type OptionDeclaration,
  type OptionValue,
  type RawOptions,
  validateOptions,
} from '../../../core/options.ts';
import { askedHelp, commandHelp, optionHelp, readLine, typedOptions } from '../../shared/command-line.ts';
import { nearest } from '../../shared/parse.ts';
import { buttonTarget, formTarget, type Target } from '../../shared/target.ts';
import { ellipsis } from '../../shared/text.ts';
import { typedChoice, typedValue } from '../../shared/values.ts';
import { type Completion, complete, help, matching } from './help.ts';
import type { PromptQuestion } from './prompt.ts';

/** The one address of a terminal. Its pages open on this machine. */
export const HERE = {
  platform: 'terminal',
  channel: 'terminal',
  public: true,
  person: 'you',
} as const satisfies Address;

/** The one person, who may do everything. */
const YOU = { id: HERE.person, displayName: 'you', moderator: true, roles: [] } as const satisfies Person;

/** The result of a line: a job, an answer, or nothing but a refusal. */
type Ran = { readonly job: string } | 'answered' | 'refused';

export interface SessionOptions {
  readonly bot: Bot;
  readonly newId: () => string;
  readonly sendPrivately: (message: Message) => Promise<void>;
  readonly post: (key: string, message: Message) => Promise<void>;
  readonly action: (number: number) => string | undefined;
  /** Asks the person for one line; undefined when the terminal is not interactive, or the person gives up. */
  readonly ask: (question: PromptQuestion) => Promise<string | undefined>;
  /** Whether there is a person to ask. */
  readonly interactive: () => boolean;
}

export type Session = ReturnType<typeof createSession>;

type OpenForm = Form['options'];

const FORM_HINT =
  'Enter alone leaves a question out or keeps what is there, - alone empties it, ? explains it, Ctrl+C gives up.';

export function createSession(options: SessionOptions) {
  const { bot, sendPrivately } = options;

  async function invoke(target: Target, filled: RawOptions, form?: OpenForm): Promise<Ran> {
    const id = options.newId();
    const outcome = await bot.run({ id, address: HERE, person: YOU, ...target, options: filled });
    const wrong = outcome.type === 'message' ? outcome.option : undefined;
    if (outcome.type === 'message' && form && wrong !== undefined && Object.hasOwn(form, wrong)) {
      await sendPrivately(outcome.message);
      return fillIn([wrong], { form, filled }, target);
    }
    switch (outcome.type) {
      case 'accepted':
        outcome.begin();
        return { job: outcome.job };
      case 'message':
        if (outcome.visibility === 'channel') {
          await options.post(id, outcome.message);
          return 'answered';
        }
        await sendPrivately(outcome.message);
        return bot.commands.some(({ name, answersPrivately }) => name === target.command && answersPrivately)
          ? 'answered'
          : 'refused';
      case 'form':
        return fill(outcome.form, formTarget(outcome.form.id));
      default:
        return outcome satisfies never;
    }
  }

  /** A terminal's form is one question after the other; `target` is what the answers are for. */
  async function fill(
    { title, options: declarations, initial }: Pick<Form, 'title' | 'options' | 'initial'>,
    target: Target,
  ): Promise<Ran> {
    if (!options.interactive()) {
      const needed = Object.entries(declarations)
        .filter(([, { required }]) => required)
        .map(([name]) => `--${name}`);
      throw new UserError(`This needs ${needed.join(', ') || 'more'}, and nobody is here to be asked.`);
    }
    await sendPrivately({ title, text: plain(FORM_HINT) });
    return fillIn(Object.keys(declarations), { form: declarations, filled: initial }, target);
  }

  /** Asks for these fields and goes on with all of them. Only what is wrong is asked again. */
  async function fillIn(
    names: readonly string[],
    { form, filled: before }: { readonly form: OpenForm; readonly filled: RawOptions },
    target: Target,
  ): Promise<Ran> {
    const filled: Record<string, OptionValue | undefined> = { ...before };
    for (const name of names) {
      const declaration = form[name];
      if (!declaration) continue;
      const answer = await askUntilRight(name, declaration, { filled, target });
      if (!answer) return 'refused';
      filled[name] = answer.value;
    }
    return invoke(target, filled, form);
  }

  /** Undefined when the person gives up. */
  async function askUntilRight(
    name: string,
    declaration: OptionDeclaration,
    { filled, target }: { readonly filled: RawOptions; readonly target: Target },
  ): Promise<{ readonly value: OptionValue | undefined } | undefined> {
    const help = () => sendPrivately({ text: optionHelp(name, declaration) });
    const text = questionOf(name, declaration, filled[name]);
    const complete = async (typed: string): Promise<Completion> => {
      if (declaration.type !== 'text' || !declaration.autocomplete || target.action)
        return matching(wordsFor(declaration), typed);
      const request = { ...target, option: name, typed, options: filled, address: HERE, person: YOU };
      return [(await bot.suggest(request)).map(({ value, typed: word = value }) => word), typed];
    };
    for (;;) {
      const answer = await options.ask({ name, text, help, complete });
      const typed = answer?.trim();
      if (typed === undefined) return undefined;
      if (typed === '?') {
        await help();
        continue;
      }
      try {
        return { value: answerOf(name, declaration, typed, filled[name]) };
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        await sendPrivately({ text: plain(error.message) });
      }
    }
  }

  async function press(number: number): Promise<Ran> {
    const id = options.action(number);
    if (id === undefined) throw new UserError(`There is no button ${number} here.`);
    return invoke(buttonTarget(id) ?? { command: id }, {});
  }

  async function command(line: string): Promise<Ran> {
    const found = readLine(line, bot.commands);
    if (!found) throw unknownCommand(line, bot.commands);
    const { command: declared, subcommand, description: title, options: declarations } = found;
    const asked = found.text.trim() === '?' ? commandHelp(declared) : askedHelp(declared, found);
    if (asked) {
      await sendPrivately(asked);
      return 'answered';
    }
    const target = { command: declared.name, ...(subcommand === undefined ? {} : { subcommand }) };
    if (
      !found.asks &&
      found.text.trim() === '' &&
      Object.keys(declarations).length > 0 &&
      options.interactive()
    )
      return fill({ title, options: declarations, initial: {} }, target);
    return invoke(target, typedOptions(declared, found, ''));
  }

  return {
    async run(line: string): Promise<Ran> {
      const typed = line.trim();
      try {
        if (typed === '') return 'refused';
        if (/^\d{1,6}$/.test(typed)) return await press(Number(typed));
        if (typed.startsWith('/')) return await command(typed);
        const asked = /^(?:help|\?)(?:\s+\/?(\S+))?$/i.exec(typed);
        if (asked) {
          await sendPrivately(help(bot.commands, asked[1]));
          return 'answered';
        }
        throw new UserError(
          'Type a command such as /song a tune for rain, the number of a button, ? for help, or exit.',
        );
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        await sendPrivately({ text: plain(error.message) });
        return 'refused';
      }
    },

    complete: (line: string): Promise<Completion> =>
      complete(line, {
        commands: bot.commands,
        suggest: (request) => bot.suggest({ ...request, address: HERE, person: YOU }),
      }),
  };
}

function unknownCommand(line: string, commands: readonly AnyCommand[]): UserError {
  const name = /^\/(\S*)/.exec(line)?.[1] ?? '';
  const names = commands.map((command) => command.name);
  const near = nearest(name, names);
  const hint =
    near === undefined
      ? `Commands: ${names.map((known) => `/${known}`).join(' ')}`
      : `Did you mean /${near}?`;
  return new UserError(`There is no command /${name}. ${hint}`);
}

function questionOf(name: string, declaration: OptionDeclaration, before: OptionValue | undefined): string {
  const { description, required, type } = declaration;
  const hints = [
    ...(required ? ['needed'] : []),
    ...(type === 'choice' || type === 'flag' ? [wordsFor(declaration).join(', ')] : []),
    ...(before === undefined ? [] : [`now: ${wordFor(before, declaration)}`]),
  ];
  return `${name}: ${description}${hints.length > 0 ? ` (${hints.join('; ')})` : ''}?`;
}

function wordsFor(declaration: OptionDeclaration): string[] {
  if (declaration.type === 'choice') return declaration.choices.map(typedChoice);
  return declaration.type === 'flag' ? ['yes', 'no'] : [];
}

/** Characters of what a field holds. */
const LONGEST_SHOWN = 40;

function wordFor(value: OptionValue, declaration: OptionDeclaration): string {
  if (typeof value === 'object') return ellipsis(value.name, LONGEST_SHOWN);
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  const choice =
    declaration.type === 'choice' ? declaration.choices.find((one) => one.value === value) : undefined;
  return choice ? typedChoice(choice) : ellipsis(String(value), LONGEST_SHOWN);
}

/** What the field holds after this line. Throws UserError for what the option does not take. */
function answerOf(
  name: string,
  declaration: OptionDeclaration,
  typed: string,
  before: OptionValue | undefined,
): OptionValue | undefined {
  const given = () => (declaration.type === 'file' ? typedValue(name, declaration, typed, '') : typed);
  const value = typed === '' ? before : typed === '-' ? undefined : given();
  return validateOptions({ [name]: value }, { [name]: declaration })[name];
}
