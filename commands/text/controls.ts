/** Buttons under moderators' answers. They open the form of a subcommand, or run it, with options that the button carries. */
import { type AnyCommand, formTexts } from '../../src/core/bot/command.ts';
import type { Context } from '../../src/core/bot/context.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import { UserError } from '../../src/core/errors.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import { type ActionButton, actionId } from '../../src/core/message.ts';
import { MODERATORS, type Subject, VISITORS } from '../../src/core/moderation.ts';
import { validateOptions } from '../../src/core/options.ts';
import { own } from '../../src/core/util/own.ts';

interface ControlTarget {
  readonly command: string;
  readonly subcommand: string;
  readonly options?: Readonly<Record<string, string | undefined>>;
}

/** A button that opens the form of a subcommand. `options` are its initial values. */
export const formControl = (target: ControlTarget, label: string) => control('form', target, label);

/** A button that runs a subcommand. */
export const runControl = (target: ControlTarget, label: string) => control('run', target, label);

/** Empty if an option has characters that an action id cannot carry. */
function control(
  action: 'form' | 'run',
  { command, subcommand, options = {} }: ControlTarget,
  label: string,
): ActionButton[] {
  const given = Object.entries(options).flatMap(([name, value]) =>
    value === undefined ? [] : [{ name, value }],
  );
  if (given.some(({ value }) => !/^[A-Za-z0-9]+$/.test(value))) return [];
  const job = [subcommand, ...given.map(({ name, value }) => `${name}-${value}`)].join('_');
  return [{ type: 'action', id: actionId({ command, action, job, index: 0 }), label }];
}

const OF_PEOPLE = { role: 'r', person: 'p' } as const satisfies Record<Subject['type'], string>;

/** A mention as letters and digits, for an action id. */
export const subjectCode = ({ type, id }: Subject): string => `${OF_PEOPLE[type]}${id}`;

function mentionOf(code: string): string {
  const id = code.slice(1);
  if (code.startsWith(OF_PEOPLE.person)) return `<@${id}>`;
  return id === MODERATORS.id || id === VISITORS.id ? id : `<@&${id}>`;
}

/** Adds the controls that {@link formControl} and {@link runControl} press. */
export function withControls(group: AnyCommand): AnyCommand {
  function read({ action }: Invocation) {
    const [subcommand = '', ...pairs] = (action?.job ?? '').split('_');
    const part = own(group.subcommands, subcommand);
    if (part === undefined) throw new UserError('This button no longer works. Use the command again.');
    const options = pairs.map((pair) => {
      const [name = '', value = ''] = pair.split('-');
      return [name, name === 'who' ? mentionOf(value) : value] as const;
    });
    return { subcommand, part, options: Object.fromEntries(options) };
  }

  return {
    ...group,
    controls: {
      async form(invocation: Invocation, context: Context): Promise<Outcome> {
        const { subcommand, part, options: initial } = read(invocation);
        if (part.asks) return part.run({ ...invocation, subcommand, options: {} }, context);
        const id = `${group.name} ${subcommand}`;
        return {
          type: 'form',
          form: { id, ...formTexts(group, subcommand), options: part.options, initial },
        };
      },
      async run(invocation: Invocation, context: Context): Promise<Outcome> {
        const { subcommand, part, options } = read(invocation);
        return part.run(
          { ...invocation, subcommand, options: validateOptions(options, part.options) },
          context,
        );
      },
    },
  };
}
