/** What a typed line does: a command, a button, an answer, help. */
import type { Bot } from '../../core/bot/create-bot.ts';
import { UserError } from '../../core/errors.ts';
import type { Address, Person } from '../../core/invocation.ts';
import { type ActionButton, type Message, plain } from '../../core/message.ts';
import type { OptionDeclarations, OptionValue, RawOptions } from '../../core/options.ts';
import { ellipsis } from '../../core/util/words.ts';
import { askedHelp, commandHelp, optionHelp, readKnownLine, typedOptions } from '../shared/command-line.ts';
import { completeLine } from '../shared/completion.ts';
import { buttonTarget, formTarget, type Target } from '../shared/target.ts';
import { typedValue } from '../shared/values.ts';
import type { Prompt } from './prompt.ts';

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
export type Ran = { readonly job: string } | 'answered' | 'refused';

export interface SessionOptions {
  readonly bot: Bot;
  readonly newId: () => string;
  readonly next: Prompt['next'];
  readonly sendPrivately: (message: Message) => Promise<void>;
  readonly post: (key: string, message: Message) => Promise<void>;
  /** The buttons that were printed; the number of the first is 1. */
  readonly buttons: readonly ActionButton[];
}

interface Asked {
  readonly target: Target;
  readonly declared: OptionDeclarations;
  readonly filled: RawOptions;
}

const FORM_HINT = 'Enter keeps the current value, - clears it, Ctrl-C cancels.';
/** Characters of what a field holds. */
const LONGEST_SHOWN = 40;

export type Session = ReturnType<typeof createSession>;

export function createSession({ bot, newId, next, sendPrivately, post, buttons }: SessionOptions) {
  async function invoke({ target, declared, filled }: Asked): Promise<Ran> {
    const id = newId();
    const outcome = await bot.run({ id, address: HERE, person: YOU, ...target, options: filled });
    switch (outcome.type) {
      case 'accepted':
        outcome.begin();
        return { job: outcome.job };
      case 'form': {
        const { form } = outcome;
        await sendPrivately({ title: form.title, text: plain(FORM_HINT) });
        const asked = { target: formTarget(form.id), declared: form.options, filled: form.initial };
        return ask(Object.keys(form.options), asked);
      }
      case 'message': {
        const { option, message, visibility } = outcome;
        if (visibility === 'channel') await post(id, message);
        else await sendPrivately(message);
        // What is missing or wrong is asked for, and costs none of the others.
        if (option !== undefined && Object.hasOwn(declared, option))
          return ask([option], { target, declared, filled: { ...filled, [option]: undefined } });
        const isAnswer = bot.commands.some(
          ({ name, answersPrivately }) => name === target.command && answersPrivately,
        );
        return visibility === 'channel' || isAnswer ? 'answered' : 'refused';
      }
      default:
        return outcome satisfies never;
    }
  }

  /** Asks for these options one by one, and goes on with all of them. */
  async function ask(names: readonly string[], { target, declared, filled }: Asked): Promise<Ran> {
    const answers: Record<string, OptionValue | undefined> = { ...filled };
    for (const name of names) {
      const declaration = declared[name];
      if (!declaration) continue;
      const held = answers[name];
      const now = held === undefined ? '' : ` \\(now: ${plain(shortened(held))}\\)`;
      await sendPrivately({ text: optionHelp(name, declaration) + now });
      const command = [target.command, target.subcommand].filter(Boolean).join(' ');
      const typed = (await next({ name, completes: `/${command} --${name} ` }))?.trim();
      if (typed === undefined) throw new UserError('Canceled. Nothing was started.');
      if (typed === '-') answers[name] = undefined;
      else if (typed !== '')
        answers[name] = declaration.type === 'file' ? typedValue(name, declaration, typed, '') : typed;
    }
    return invoke({ target, declared, filled: answers });
  }

  /** A button by its number, or the newest one with this label. */
  function buttonFor(typed: string): ActionButton | undefined {
    const word = typed.toLowerCase();
    return /^\d{1,6}$/.test(word)
      ? buttons[Number(word) - 1]
      : buttons.findLast(({ label }) => label.toLowerCase() === word);
  }

  function press({ id }: Pick<ActionButton, 'id'>): Promise<Ran> {
    return invoke({ target: buttonTarget(id) ?? { command: id }, declared: {}, filled: {} });
  }

  async function answer(message: Message): Promise<Ran> {
    await sendPrivately(message);
    return 'answered';
  }

  async function runCommand(line: string): Promise<Ran> {
    const found = readKnownLine(line, bot.commands);
    const { command, subcommand, options: declared } = found;
    const help = found.isAsked ? commandHelp(command) : askedHelp(command, found);
    if (help) return answer(help);
    return invoke({
      target: { command: command.name, subcommand },
      declared,
      filled: typedOptions(command, found, ''),
    });
  }

  /** Runs a line, or throws UserError. */
  async function runLine(typed: string): Promise<Ran> {
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
        ? `Button ${typed} doesn't exist.`
        : 'Type a command, such as /song a tune for rain, or a button’s number or name. Or type help or exit.',
    );
  }

  /** Says what is wrong, where a UserError tells. */
  async function orRefused(running: Promise<Ran>): Promise<Ran> {
    try {
      return await running;
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      await sendPrivately({ text: plain(error.message) });
      return 'refused';
    }
  }

  return {
    run: (line: string): Promise<Ran> => orRefused(runLine(line.trim())),
    press: (button: Pick<ActionButton, 'id'>): Promise<Ran> => orRefused(press(button)),

    async complete(line: string): Promise<[candidates: string[], typed: string]> {
      const { candidates, typed } = await completeLine(line, {
        commands: bot.commands,
        suggest: (request) => bot.suggest({ ...request, address: HERE, person: YOU }),
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
      '- Type a button’s **number** or **name** to press it',
      '- **help** and a command’s name shows its options, Tab completes your input, **exit** quits',
    ].join('\n'),
  };
}

function shortened(value: OptionValue): string {
  return ellipsis(typeof value === 'object' ? value.name : String(value), LONGEST_SHOWN);
}
