/** A form built from a declaration, and what a person put into it. */
import type { types } from '@slack/bolt';
import { z } from 'zod';
import type { Address, FileOption, Form, OptionDeclaration, OptionValue, RawOptions } from '../../command.ts';
import { addressSchema } from '../../command.ts';
import { ellipsis, wholeCharacters } from './escape.ts';
import { LIMITS } from './limits.ts';

export const FORM_CALLBACK = 'form';

/** https://docs.slack.dev/reference/block-kit/block-elements/file-input-element: extensions without the dot. */
const FILE_TYPES = {
  audio: ['mp3', 'wav', 'm4a', 'ogg', 'flac', 'aac', 'mp4', 'webm'],
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp'],
} as const satisfies Record<FileOption['accept'][number], readonly string[]>;

const metadataSchema = z.object({
  form: z.string(),
  address: addressSchema,
  /** It was opened from the Home tab, which shows what comes of it: the person's own talk with the bot. */
  home: z.string().optional(),
});

/** What brings a sent form back to its place. */
export type FormMetadata = z.infer<typeof metadataSchema>;
export type FormOrigin = Pick<FormMetadata, 'home'>;

/** Builds the modal. Blocks are named after their options, so that a sentence finds its field. */
export function formView(form: Form, address: Address, origin: FormOrigin = {}): types.ModalView {
  return {
    type: 'modal',
    callback_id: FORM_CALLBACK,
    title: plainText(form.title, LIMITS.viewTitle),
    submit: plainText(form.submitLabel, LIMITS.viewButton),
    close: plainText('Cancel', LIMITS.viewButton),
    private_metadata: metadataOf(form, address, origin),
    blocks: Object.entries(form.options).flatMap(([name, option]) =>
      inputBlocks(name, option, form.initial[name]),
    ),
  };
}

/** Undefined for a modal that is not a form of ours. */
export function readMetadata(metadata: string): FormMetadata | undefined {
  try {
    return metadataSchema.safeParse(JSON.parse(metadata)).data;
  } catch {
    return undefined;
  }
}

function metadataOf(form: Form, address: Address, origin: FormOrigin): string {
  const whole = JSON.stringify({ form: form.id, address, ...origin });
  if (whole.length <= LIMITS.privateMetadata) return whole;
  const { platformData: _, ...bare } = address;
  return JSON.stringify({ form: form.id, address: bare, ...origin });
}

/** Marks the field in which a text goes on that is too long for one. */
const MORE_SUFFIX = ':more';

/** One field, or two for a text that one cannot hold. */
function inputBlocks(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): types.InputBlock[] {
  if (option.type !== 'text' || option.suggest || typeof initial !== 'string') {
    return [inputBlock(name, option, initial)];
  }
  if (initial.length <= LIMITS.inputText) return [inputBlock(name, option, initial)];
  const line = initial.lastIndexOf('\n', LIMITS.inputText);
  const end = line > 0 ? line : wholeCharacters(initial, LIMITS.inputText);
  const rest = initial.slice(line > 0 ? end + 1 : end);
  const goesOn = { ...option, required: false };
  return [inputBlock(name, option, initial.slice(0, end)), inputBlock(`${name}${MORE_SUFFIX}`, goesOn, rest)];
}

function inputBlock(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): types.InputBlock {
  return {
    type: 'input',
    block_id: name,
    optional: option.required !== true,
    label: plainText(labelOf(name), LIMITS.inputHint),
    ...(option.type === 'flag' ? {} : { hint: plainText(option.description, LIMITS.inputHint) }),
    element: inputElement(name, option, initial),
  };
}

function labelOf(name: string): string {
  const words = name.replace(MORE_SUFFIX, ' (it goes on)').replace(/[-_]/g, ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function inputElement(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): types.InputBlockElement {
  const common = { action_id: name };
  switch (option.type) {
    case 'text': {
      if (option.mention === true) return { type: 'users_select', ...common };
      if (option.suggest !== undefined) {
        const first =
          typeof initial === 'string' && initial !== '' ? choiceOption(initial, initial) : undefined;
        return {
          type: 'external_select',
          ...common,
          min_query_length: 0,
          ...(first ? { initial_option: first } : {}),
        };
      }
      const most = Math.min(option.maximumLength ?? LIMITS.inputText, LIMITS.inputText);
      return {
        type: 'plain_text_input',
        ...common,
        multiline: option.multiline === true,
        max_length: most,
        ...(typeof initial === 'string' && initial !== ''
          ? { initial_value: initial.slice(0, wholeCharacters(initial, most)) }
          : {}),
      };
    }
    case 'choice': {
      const options = option.choices
        .slice(0, LIMITS.options)
        .map((choice) => choiceOption(choice.name, choice.value));
      const first = options.find(({ value }) => value === initial);
      return { type: 'static_select', ...common, options, ...(first ? { initial_option: first } : {}) };
    }
    case 'flag': {
      const only = choiceOption(option.description, 'true');
      return {
        type: 'checkboxes',
        ...common,
        options: [only],
        ...(initial === true ? { initial_options: [only] } : {}),
      };
    }
    case 'number':
      return {
        type: 'number_input',
        ...common,
        is_decimal_allowed: option.integer !== true,
        ...(option.minimum === undefined ? {} : { min_value: String(option.minimum) }),
        ...(option.maximum === undefined ? {} : { max_value: String(option.maximum) }),
        ...(typeof initial === 'number' ? { initial_value: String(initial) } : {}),
      };
    case 'file':
      return {
        type: 'file_input',
        ...common,
        max_files: 1,
        filetypes: option.accept.flatMap((kind) => [...FILE_TYPES[kind]]),
      };
    default:
      return option satisfies never;
  }
}

/** An option of a menu; its text is shortened, its value never: a value that is too long cannot be offered. */
export function choiceOption(name: string, value: string): types.PlainTextOption {
  return { text: plainText(name.trim() === '' ? value : name, LIMITS.optionText), value };
}

function plainText(text: string, most: number): types.PlainTextElement {
  return { type: 'plain_text', text: ellipsis(text, most), emoji: false };
}

const fileSchema = z.object({
  name: z.string().catch('file'),
  mimetype: z.string().optional(),
  size: z.number().optional(),
  url_private_download: z.string().optional(),
  url_private: z.string().optional(),
});

/** A file in an event or a form, as a reference; undefined for what has no bytes, such as a deleted file. */
export function fileReference(file: unknown): Exclude<OptionValue, string | number | boolean> | undefined {
  const { data } = fileSchema.safeParse(file);
  const url = data?.url_private_download ?? data?.url_private;
  if (data === undefined || url === undefined) return undefined;
  return {
    name: data.name,
    url,
    ...(data.mimetype === undefined ? {} : { contentType: data.mimetype }),
    ...(data.size === undefined ? {} : { bytes: data.size }),
  };
}

const stateSchema = z.record(
  z.string(),
  z.record(
    z.string(),
    z.object({
      type: z.string(),
      value: z.string().nullish(),
      selected_option: z.object({ value: z.string() }).nullish(),
      selected_user: z.string().nullish(),
      selected_options: z.array(z.object({ value: z.string() })).nullish(),
      files: z.array(z.unknown()).nullish(),
    }),
  ),
);

/** The options that a sent form holds: `view.state.values`. Fields that were left empty are absent. */
export function formOptions(values: unknown): RawOptions {
  const read = stateSchema.safeParse(values);
  if (!read.success) return {};
  const options: Record<string, OptionValue> = {};
  for (const [field, content] of Object.values(read.data).flatMap(Object.entries<FormField>)) {
    const value = fieldValue(content);
    if (value === undefined) continue;
    const name = field.replace(MORE_SUFFIX, '');
    const before = options[name];
    options[name] = typeof before === 'string' ? `${before}\n${value}` : value;
  }
  return options;
}

type FormField = z.infer<typeof stateSchema>[string][string];

function fieldValue(field: FormField): OptionValue | undefined {
  switch (field.type) {
    case 'checkboxes':
      return (field.selected_options ?? []).length > 0;
    case 'static_select':
    case 'external_select':
      return field.selected_option?.value;
    case 'users_select':
      return field.selected_user ? `<@${field.selected_user}>` : undefined;
    case 'number_input':
      return field.value ? Number(field.value) : undefined;
    case 'file_input':
      return fileReference(field.files?.[0]);
    default:
      return field.value ?? undefined;
  }
}
