import { asFields, asList, asText, type Fields } from './json.ts';
import type { StoredFile } from './workspace.ts';

/** What a person puts into a form, by option name: text, several choices, or files. */
export type FormValues = Readonly<Record<string, string | readonly string[] | readonly StoredFile[]>>;

/**
 * Fills a modal as a person would and returns its `view.state`. Fields are named by block_id or action_id. What is not
 * named keeps its initial value. Throws when the form has no such field, when a choice is not offered, when a required
 * field stays empty, or when a text is longer than the field allows: Slack's client would not let the person do that. An `unfinished` form is still being filled in.
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
  given: FormValues[string] | undefined,
  wire: (file: StoredFile) => Fields,
): Fields {
  switch (element.type) {
    case 'static_select':
    case 'radio_buttons': {
      const groups = asList(element.option_groups).flatMap((group) => asList(asFields(group).options));
      const options = [...asList(element.options), ...groups];
      if (given === undefined) return { selected_option: element.initial_option ?? null };
      return { selected_option: pick(options, String(given)) };
    }
    case 'external_select':
      if (given === undefined) return { selected_option: element.initial_option ?? null };
      return { selected_option: { text: { type: 'plain_text', text: String(given) }, value: String(given) } };
    case 'checkboxes': {
      if (given === undefined) return { selected_options: element.initial_options ?? [] };
      const chosen = Array.isArray(given) ? given.map(String) : [String(given)];
      return { selected_options: chosen.map((value) => pick(asList(element.options), value)) };
    }
    case 'file_input':
      return { files: (Array.isArray(given) ? given : []).map((file) => wire(asStored(file))) };
    default: {
      const text = given === undefined ? asText(element.initial_value) : String(given);
      const most = typeof element.max_length === 'number' ? element.max_length : 3000;
      if (text !== undefined && text.length > most) throw new Error(`The field takes ${most} characters`);
      return { value: text === undefined || text === '' ? null : text };
    }
  }
}

function asStored(file: unknown): StoredFile {
  if (typeof file !== 'object' || file === null || !('bytes' in file))
    throw new Error('A file field takes files');
  // Sound: `bytes` is what tells a StoredFile from the strings that FormValues also allows.
  return file as StoredFile;
}

function pick(options: readonly unknown[], value: string): unknown {
  const found = options.find((option) => asFields(option).value === value);
  if (found === undefined) throw new Error(`The form does not offer ${value}`);
  return found;
}

function isEmpty(value: Fields): boolean {
  return Object.values(value).every(
    (item) => item === null || item === undefined || asListLength(item) === 0,
  );
}

function asListLength(value: unknown): number {
  return Array.isArray(value) ? value.length : 1;
}
