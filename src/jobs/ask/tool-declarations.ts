/** Converts commands into function declarations for models, and the arguments of a call into options. */
import type { AnyCommand } from '../../core/bot/command.ts';
import type { OptionDeclaration, OptionValue, RawOptions } from '../../core/options.ts';
import type { ToolDeclaration } from '../../gateway/questions.ts';

/** Hidden options: moderators choose the model, not another model, and `earlier` answers privately. */
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

/** A model cannot pass files. */
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

/** Converts the arguments of a call into options, which are validated later. Rejects objects, lists and names that were not offered. */
export function readArguments(args: Readonly<Record<string, unknown>>, command: AnyCommand): ReadArguments {
  const offered = new Set(offeredOptions(command.options).map(([name]) => name));
  const options: Record<string, OptionValue> = {};
  for (const [name, value] of Object.entries(args)) {
    if (value === null || value === undefined || value === '') continue;
    if (!offered.has(name)) {
      const hint = offered.size > 0 ? ` Its options are ${[...offered].join(', ')}.` : '';
      return { ok: false, problem: `/${command.name} has no option “${name}” here.${hint}` };
    }
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return { ok: false, problem: `“${name}” takes text, a number, or true or false.` };
    options[name] = value;
  }
  return { ok: true, options };
}
