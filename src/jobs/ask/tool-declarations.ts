/** The bot's commands as functions that a model may call, and a model's calls as what a person would have typed. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { OptionDeclaration, OptionValue, RawOptions } from '../../core/options.ts';
import type { ToolDeclaration } from '../../gateway/questions.ts';

/** Moderators choose the model that is used, and no other model does. An earlier song is shown to a person alone. */
const HIDDEN: ReadonlySet<string> = new Set(['model', 'earlier']);

/** Contract, "Gen-style request": `parameters` has a type, properties with type and description, and required names. */
export function toolDeclaration({ name, description, options }: AnyCommand): ToolDeclaration {
  const offered = offeredOptions(options);
  return {
    name,
    description: `${description}. It is created in the background and posted to the channel automatically.`,
    parameters: {
      type: 'object',
      properties: Object.fromEntries(
        offered.map(([option, declaration]) => [
          option,
          { type: typeOf(declaration), description: describe(declaration) },
        ]),
      ),
      required: offered.flatMap(([option, { required }]) => (required ? [option] : [])),
    },
  };
}

/** Files cannot be written by a model. */
function offeredOptions(options: AnyCommand['options']): [string, OptionDeclaration][] {
  return Object.entries(options).filter(([name, { type }]) => type !== 'file' && !HIDDEN.has(name));
}

function typeOf(declaration: OptionDeclaration): string {
  switch (declaration.type) {
    case 'text':
    case 'choice':
    case 'file':
      return 'string';
    case 'flag':
      return 'boolean';
    case 'number':
      return declaration.integer ? 'integer' : 'number';
    default:
      return declaration satisfies never;
  }
}

function describe(declaration: OptionDeclaration): string {
  const { description } = declaration;
  switch (declaration.type) {
    case 'choice':
      return `${description}. One of: ${declaration.choices.map(({ name }) => name).join(', ')}.`;
    case 'text':
      return declaration.maximumLength === undefined
        ? `${description}.`
        : `${description}. At most ${declaration.maximumLength} characters.`;
    case 'number': {
      const bounds = [
        ...(declaration.minimum === undefined ? [] : [`at least ${declaration.minimum}`]),
        ...(declaration.maximum === undefined ? [] : [`at most ${declaration.maximum}`]),
      ];
      return bounds.length === 0 ? `${description}.` : `${description}, ${bounds.join(', ')}.`;
    }
    case 'flag':
    case 'file':
      return `${description}.`;
    default:
      return declaration satisfies never;
  }
}

export type ReadArguments =
  | { readonly ok: true; readonly options: RawOptions }
  | { readonly ok: false; readonly problem: string };

/**
 * A call's arguments as options. They are validated later, like those of a person. Objects (such as a file), lists and
 * names that were not offered are a problem: a person could not type them.
 */
export function readArguments(given: Readonly<Record<string, unknown>>, command: AnyCommand): ReadArguments {
  const offered = new Set(offeredOptions(command.options).map(([name]) => name));
  const options: Record<string, OptionValue> = {};
  for (const [name, value] of Object.entries(given)) {
    if (value === null || value === undefined || value === '') continue;
    if (!offered.has(name)) {
      const known = offered.size > 0 ? ` Its options are ${[...offered].join(', ')}.` : '';
      return { ok: false, problem: `/${command.name} has no option “${name}” here.${known}` };
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return { ok: false, problem: `“${name}” takes text, a number, or true or false.` };
    options[name] = value;
  }
  return { ok: true, options };
}
