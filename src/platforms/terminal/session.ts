/** What a typed line does: a command, a button's number, help. */
import { closest, distance } from 'fastest-levenshtein';
import type {
  Address,
  AnyCommand,
  Form,
  Invocation,
  OptionDeclaration,
  OptionValue,
  Outcome,
  RawOptions,
} from '../../command.ts';
import { UserError } from '../../errors.ts';
import { type Message, parseActionId, plain } from '../../message.ts';
import { parseCommandLine } from '../command-line.ts';
import type { Bot } from '../platform.ts';

/** The one place and the one person of a terminal. */
export const HERE = { platform: 'terminal', channel: 'terminal', person: 'you' } as const satisfies Address;

/** What became of a line. */
export type Ran =
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

  async function invoke(part: Pick<Invocation, 'command' | 'options' | 'action'>): Promise<Ran> {
    const invocation: Invocation = {
      id: options.newId(),
      address: HERE,
      person: { id: HERE.person, displayName: 'you', moderator: true, roles: [] },
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
        return fill(outcome.form);
      default:
        return outcome satisfies never;
    }
  }

  /** A terminal's form is one question after the other. */
  async function fill({ id, title, options: declarations, initial }: Form): Promise<Ran> {
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
    const action = parseActionId(id);
    if (!action) return invoke({ command: id, options: filled });
    return invoke({
      command: action.command,
      action: { name: action.action, job: action.job, index: action.index },
      options: filled,
    });
  }

  async function press(number: number): Promise<Ran> {
    const action = parseActionId(options.action(number) ?? '');
    if (!action) throw new UserError(`There is no button ${number} here.`);
    return invoke({
      command: action.command,
      action: { name: action.action, job: action.job, index: action.index },
      options: {},
    });
  }

  async function command(line: string): Promise<Ran> {
    const [, name = '', text = ''] = /^\/(\S*)\s*([\s\S]*)$/.exec(line) ?? [];
    const found = commandOf(name);
    if (!found) throw new UserError(unknownCommand(name, bot.commands));
    const isEmpty = text.trim() === '';
    if (isEmpty && options.interactive() && Object.values(found.options).some(({ required }) => required)) {
      return fill({
        id: found.name,
        title: found.description,
        submitLabel: 'Go',
        options: found.options,
        initial: {},
      });
    }
    return invoke({ command: found.name, options: parseCommandLine(text, found.options) });
  }

  return {
    async run(line) {
      const typed = line.trim();
      try {
        if (typed === '') return { type: 'nothing' };
        if (/^\d{1,6}$/.test(typed)) return await press(Number(typed));
        if (typed.startsWith('/')) return await command(typed);
        const [, name] = /^help(?:\s+\/?(\S+))?$/i.exec(typed) ?? [undefined, undefined];
        if (/^help\b/i.test(typed)) {
          await whisper(help(bot.commands, name));
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

function unknownCommand(name: string, commands: readonly AnyCommand[]): string {
  const names = commands.map((command) => command.name);
  const near = names.length > 0 ? closest(name, names) : '';
  const known = `Commands: ${names.map((known) => `/${known}`).join(' ')}`;
  return distance(name, near) <= 2
    ? `There is no command /${name}. Did you mean /${near}?`
    : `There is no command /${name}. ${known}`;
}

function help(commands: readonly AnyCommand[], name: string | undefined): Message {
  const command = commands.find((candidate) => candidate.name === name);
  if (!command)
    return {
      title: 'What you can type',
      text: [
        ...commands.map((each) => `- **/${each.name}** ${plain(each.description)}`),
        '- **a number** presses the button of that number',
        '- **help** and a command’s name tells its options, **exit** ends',
      ].join('\n'),
    };
  const options = Object.entries(command.options).map(
    ([option, { description, required }]) =>
      `- **${plain(`--${option}`)}** ${plain(description)}${required ? ' (needed)' : ''}`,
  );
  return { title: `/${command.name}`, text: [plain(command.description), '', ...options].join('\n') };
}

/** Completes command names, option names, choices, and what an option suggests. */
async function complete(line: string, bot: Bot): Promise<[string[], string]> {
  const [, name, space, rest = ''] = /^\/([\w-]*)(\s*)([\s\S]*)$/.exec(line) ?? [];
  if (name === undefined) return [[], line];
  if (!space) {
    const names = bot.commands.map((command) => `/${command.name} `);
    return [names.filter((candidate) => candidate.startsWith(line)), line];
  }
  const command = bot.commands.find((candidate) => candidate.name === name);
  if (!command) return [[], line];
  const word = /\S*$/.exec(rest)?.[0] ?? '';
  if (word.startsWith('-')) {
    const flags = Object.keys(command.options).map((option) => `--${option} `);
    return [flags.filter((candidate) => candidate.startsWith(word)), word];
  }
  const [, option = '', typed = ''] = /--([\w-]+)[ =]([^\n]*)$/.exec(rest) ?? [];
  const declaration = Object.hasOwn(command.options, option) ? command.options[option] : undefined;
  if (declaration?.type === 'choice') {
    const values = declaration.choices.map(({ value }) => value);
    return [values.filter((value) => value.startsWith(typed)), typed];
  }
  if (declaration?.type !== 'text' || !declaration.suggest) return [[], word];
  const choices = await bot.suggest({
    command: name,
    option,
    typed,
    address: HERE,
    person: { id: HERE.person, displayName: 'you', moderator: true, roles: [] },
  });
  return [choices.map(({ value }) => value), typed];
}
