import { asFields, asList, asText, type Fields } from './json.ts';
import type { StoredFile } from './workspace.ts';

/** Values for a form's fields by option name: text, several choices, or files. */
export type FormValues = Readonly<Record<string, string | readonly string[] | readonly StoredFile[]>>;

/**
 * Fills a modal and returns its `view.state`. Fields are named by block_id or action_id; others keep their initial value.
 * Throws if Slack's client would not allow it: an unknown field or choice, an empty required field, or a text that is too
 * long. An `unfinished` form may have empty fields.
 */
export function fillForm(
  view: Fields,
  values: FormValues,
  wire: (file: StoredFile) => Fields,
  { unfinished = false } = {},
): Fields {
  const inputs = asList(view.blocks)
    .map(asFields)
    .filter((block) => block.type === 'input');
  const left = new Set(Object.keys(values));
  const state: Record<string, Fields> = {};
  for (const block of inputs) {
    const element = asFields(block.element);
    const blockId = String(block.block_id);
    const actionId = String(element.action_id);
    const name = [blockId, actionId].find((key) => key in values);
    if (name !== undefined) left.delete(name);
    const value = elementState(element, name === undefined ? undefined : values[name], wire);
    if (!unfinished && block.optional !== true && isEmpty(value))
      throw new Error(`The form requires ${blockId}`);
    state[blockId] = { [actionId]: { type: element.type, ...value } };
  }
  if (left.size > 0) {
    const known = inputs.map((block) => String(block.block_id)).join(', ');
    throw new Error(`The form has no field ${[...left].join(', ')}; it has ${known}`);
  }
  return { values: state };
}

function elementState(
  element: Fields,
  input: FormValues[string] | undefined,
  wire: (file: StoredFile) => Fields,
): Fields {
  switch (element.type) {
    case 'static_select':
    case 'radio_buttons': {
      const groups = asList(element.option_groups).flatMap((group) => asList(asFields(group).options));
      const options = [...asList(element.options), ...groups];
      if (input === undefined) return { selected_option: element.initial_option ?? null };
      return { selected_option: pick(options, String(input)) };
    }
    case 'external_select':
      if (input === undefined) return { selected_option: element.initial_option ?? null };
      return { selected_option: { text: { type: 'plain_text', text: String(input) }, value: String(input) } };
    case 'checkboxes': {
      if (input === undefined) return { selected_options: element.initial_options ?? [] };
      const choices = Array.isArray(input) ? input.map(String) : [String(input)];
      return { selected_options: choices.map((value) => pick(asList(element.options), value)) };
    }
    case 'file_input':
      return { files: (Array.isArray(input) ? input : []).map((file) => wire(asStored(file))) };
    default: {
      const text = input === undefined ? asText(element.initial_value) : String(input);
      const most = typeof element.max_length === 'number' ? element.max_length : 3000;
      if (text !== undefined && text.length > most) throw new Error(`The field takes ${most} characters`);
      return { value: text === undefined || text === '' ? null : text };
    }
  }
}

function asStored(file: unknown): StoredFile {
  if (typeof file !== 'object' || file === null || !('bytes' in file))
    throw new Error('A file field takes files');
  // Sound: of the types in FormValues, only StoredFile has `bytes`.
  return file as StoredFile;
}

function pick(options: readonly unknown[], value: string): unknown {
  const match = options.find((option) => asFields(option).value === value);
  if (match === undefined) throw new Error(`The form does not offer ${value}`);
  return match;
}

function isEmpty(value: Fields): boolean {
  return Object.values(value).every(
    (item) => item === null || item === undefined || asListLength(item) === 0,
  );
}

function asListLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}
