/** What a typed line does: a command, a button's number, help. */
import type { Form, Invocation, OptionDeclaration, OptionValue, Outcome, RawOptions } from '../../command.ts';
import { UserError } from '../../errors.ts';
import { type Message, parseActionId, plain } from '../../message.ts';
import { typedOptions } from '../command-line/typed-command.ts';
import type { Bot } from '../platform.ts';
import { complete } from './completion.ts';
import { help } from './help.ts';
import { HERE, YOU } from './person.ts';
import { typedCommand, unknownCommand } from './typed-command.ts';

/** What became of a line. */
type Ran =
  | { readonly type: 'accepted'; readonly job: string }
  /** Answered at once; `refused` when the answer is why not. */
  | { readonly type: 'said'; readonly refused: boolean }
  | { readonly type: 'nothing' };

export interface SessionOptions {
  readonly bot: Bot;
  readonly newId: () => string;
  readonly whisper: (message: Message) => Promise<void>;
  readonly post: (key: string, message: Message) => Promise<void>;
  readonly action: (number: number) => string | undefined;
  /** Asks the person for one line; undefined when nobody can be asked, or the person gives up. */
  readonly ask: (question: string) => Promise<string | undefined>;
  /** Whether somebody can be asked. */
  readonly interactive: () => boolean;
}

export interface Session {
  run(line: string): Promise<Ran>;
  complete(line: string): Promise<[candidates: string[], typed: string]>;
}

export function createSession(options: SessionOptions): Session {
  const { bot, whisper } = options;
  const commandOf = (name: string) => bot.commands.find((command) => command.name === name);

  async function invoke(
    part: Pick<Invocation, 'command' | 'subcommand' | 'options' | 'action'>,
  ): Promise<Ran> {
    const invocation: Invocation = {
      id: options.newId(),
      address: HERE,
      person: YOU,
      ...part,
    };
    return settle(invocation, await bot.run(invocation));
  }

  async function settle(invocation: Invocation, outcome: Outcome): Promise<Ran> {
    switch (outcome.type) {
      case 'accepted':
        outcome.begin();
        return { type: 'accepted', job: outcome.job };
      case 'message': {
        if (outcome.visibility === 'channel') {
          await options.post(invocation.id, outcome.message);
          return { type: 'said', refused: false };
        }
        await whisper(outcome.message);
        return { type: 'said', refused: commandOf(invocation.command)?.answersPrivately !== true };
      }
      case 'form':
        return fill(outcome.form, sentTo(targetOf(outcome.form.id)));
      default:
        return outcome satisfies never;
    }
  }

  /** A terminal's form is one question after the other; `target` is what the answers are for. */
  async function fill(
    { title, options: declarations, initial }: Pick<Form, 'title' | 'options' | 'initial'>,
    target: Pick<Invocation, 'command' | 'subcommand' | 'action'>,
  ): Promise<Ran> {
    if (!options.interactive()) {
      const needed = Object.entries(declarations)
        .filter(([, { required }]) => required)
        .map(([name]) => `--${name}`);
      throw new UserError(`This needs ${needed.join(', ') || 'more'}, and nobody is here to be asked.`);
    }
    await whisper({ title, text: plain('Enter alone leaves a question out; Ctrl+C gives up.') });
    const filled: Record<string, OptionValue | undefined> = { ...initial };
    for (const [name, declaration] of Object.entries(declarations)) {
      const answer = await options.ask(`${questionOf(name, declaration, initial)} `);
      if (answer === undefined) return { type: 'nothing' };
      if (answer.trim() !== '') filled[name] = answer.trim();
    }
    return invoke({ ...target, options: filled });
  }

  async function press(number: number): Promise<Ran> {
    const id = options.action(number);
    if (id === undefined) throw new UserError(`There is no button ${number} here.`);
    return invoke({ ...targetOf(id), options: {} });
  }

  async function command(line: string): Promise<Ran> {
    const typed = typedCommand(line, bot.commands);
    if (!typed) throw new UserError(unknownCommand(line, bot.commands));
    const { description: title, options: declarations, text, ...target } = typed;
    if (text.trim() === '' && Object.keys(declarations).length > 0 && options.interactive())
      return fill({ title, options: declarations, initial: {} }, target);
    const { command: name, subcommand } = target;
    const declared = commandOf(name);
    if (!declared) throw new UserError(unknownCommand(line, bot.commands));
    const part = { subcommand, options: declarations, text };
    return invoke({ ...target, options: typedOptions(declared, part, { wayToGiveFile: '' }) });
  }

  return {
    async run(line) {
      const typed = line.trim();
      try {
        if (typed === '') return { type: 'nothing' };
        if (/^\d{1,6}$/.test(typed)) return await press(Number(typed));
        if (typed.startsWith('/')) return await command(typed);
        const asked = /^help(?:\s+\/?(\S+))?$/i.exec(typed);
        if (asked) {
          await whisper(help(bot.commands, asked[1]));
          return { type: 'said', refused: false };
        }
        throw new UserError(
          'Type a command such as /song a tune for rain, the number of a button, help, or exit.',
        );
      } catch (error) {
        if (!(error instanceof UserError)) throw error;
        await whisper({ text: plain(error.message) });
        return { type: 'said', refused: true };
      }
    },

    complete: (line) => complete(line, bot),
  };
}

/** What a button or a form stands for. */
function targetOf(id: string): Pick<Invocation, 'command' | 'action'> {
  const reference = parseActionId(id);
  if (!reference) return { command: id };
  const { command, action, job, index } = reference;
  return { command, action: { name: action, job, index } };
}

function sentTo(target: Pick<Invocation, 'command' | 'action'>): Pick<Invocation, 'command' | 'action'> {
  return target.action ? { ...target, action: { ...target.action, sent: true } } : target;
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
