/** What a typed line does: a command, a button's number, help. */
import type { Bot } from '../../../core/bot.ts';
import type { AnyCommand } from '../../../core/command.ts';
import { UserError } from '../../../core/errors.ts';
import type { Form } from '../../../core/form.ts';
import type { Address, Person } from '../../../core/invocation.ts';
import { type Message, plain } from '../../../core/message.ts';
import type { OptionDeclaration, OptionValue, RawOptions } from '../../../core/options.ts';
import { askedHelp, readLine, typedOptions } from '../../shared/command-line.ts';
import { nearest } from '../../shared/parse.ts';
import { buttonTarget, formTarget, type Target } from '../../shared/target.ts';
import { typedValue } from '../../shared/values.ts';
import { type Completion, complete, help } from './help.ts';

/** The one address of a terminal. */
export const HERE = { platform: 'terminal', channel: 'terminal', person: 'you' } as const satisfies Address;

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
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Whether there is a person to ask. */
  readonly interactive: () => boolean;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(options: SessionOptions) {
  const { bot, sendPrivately } = options;

  async function invoke(target: Target, filled: RawOptions): Promise<Ran> {
    const id = options.newId();
    const outcome = await bot.run({ id, address: HERE, person: YOU, ...target, options: filled });
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
    await sendPrivately({ title, text: plain('Enter alone leaves a question out; Ctrl+C gives up.') });
    const filled: Record<string, OptionValue | undefined> = { ...initial };
    for (const [name, declaration] of Object.entries(declarations)) {
      const answer = await options.ask(`${questionOf(name, declaration, initial)} `);
      if (answer === undefined) return 'refused';
      const typed = answer.trim();
      if (typed !== '')
        filled[name] = declaration.type === 'file' ? typedValue(name, declaration, typed, '') : typed;
    }
    return invoke(target, filled);
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
    const asked = askedHelp(declared, found);
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
        const asked = /^help(?:\s+\/?(\S+))?$/i.exec(typed);
        if (asked) {
          await sendPrivately(help(bot.commands, asked[1]));
          return 'answered';
        }
        throw new UserError(
          'Type a command such as /song a tune for rain, the number of a button, help, or exit.',
        );
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        await sendPrivately({ text: plain(error.message) });
        return 'refused';
      }
    },

    complete: (line: string): Promise<Completion> =>
      complete(line, bot.commands, (request) => bot.suggest({ ...request, address: HERE, person: YOU })),
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

function questionOf(name: string, declaration: OptionDeclaration, initial: RawOptions): string {
  const { description, required, type } = declaration;
  const before = initial[name];
  const hints = [
    ...(required ? ['needed'] : []),
    ...(type === 'choice' ? [declaration.choices.map((choice) => choice.name).join(', ')] : []),
    ...(type === 'flag' ? ['yes or no'] : []),
    ...(before === undefined || typeof before === 'object' ? [] : [`now: ${String(before).slice(0, 40)}`]),
  ];
  return `${name}: ${description}${hints.length > 0 ? ` (${hints.join('; ')})` : ''}?`;
}
