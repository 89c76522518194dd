/** A form built from a declaration, and what a person put into it. */
import type { types } from '@slack/bolt';
import { z } from 'zod';
import { type Address, addressSchema } from '../../../core/invocation.ts';
import type {
  FileOption,
  FileReference,
  Form,
  OptionDeclaration,
  OptionValue,
  RawOptions,
} from '../../../core/options.ts';
import { present } from '../../../core/util/present.ts';
import { willBeUsed } from '../../shared/form-files.ts';
import { addField, fieldName, textParts } from '../../shared/form-text.ts';
import { LIMITS } from '../limits.ts';
import { optionInSlackWords } from '../words.ts';
import { plainText } from './escape.ts';

export const FORM_CALLBACK = 'form';

/** https://docs.slack.dev/reference/block-kit/block-elements/file-input-element: extensions without the dot. */
const FILE_TYPES = {
  audio: ['mp3', 'wav', 'm4a', 'ogg', 'flac', 'aac', 'mp4', 'webm'],
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp'],
  text: ['txt', 'md', 'csv', 'log', 'json'],
} as const satisfies Record<FileOption['accept'][number], readonly string[]>;

const fileReferenceSchema = z.custom<FileReference>(
  (value) => z.looseObject({ name: z.string(), url: z.string() }).safeParse(value).success,
);

const metadataSchema = z.object({
  form: z.string(),
  address: addressSchema,
  /** For a form that was opened from the Home tab: the person's own talk with the bot. */
  home: z.string().optional(),
  /** Files that the form cannot show in their fields. */
  files: z.record(z.string(), fileReferenceSchema).optional(),
});

/**
 * Builds the modal. Blocks are named after their options, so that a sentence finds its field. Throws UserError where a text
 * does not fit.
 */
export function formView(form: Form, address: Address, home?: string): types.ModalView {
  return {
    type: 'modal',
    callback_id: FORM_CALLBACK,
    title: plainText(form.title, LIMITS.viewTitle),
    submit: plainText(form.submitLabel, LIMITS.viewButton),
    close: plainText('Cancel', LIMITS.viewButton),
    private_metadata: metadataOf(form, address, home),
    blocks: Object.entries(form.options).flatMap(([name, option]) =>
      inputBlocks(name, optionInSlackWords(option), form.initial[name]),
    ),
  };
}

function metadataOf({ id: form, initial }: Form, address: Address, home: string | undefined): string {
  const carried = Object.entries(initial).filter(([, value]) => typeof value === 'object');
  const files = carried.length === 0 ? undefined : Object.fromEntries(carried);
  const whole = JSON.stringify({ form, address, home, files });
  if (whole.length <= LIMITS.privateMetadata) return whole;
  const { platformData: _, ...bare } = address;
  return JSON.stringify({ form, address: bare, home, files });
}

/** Undefined for a modal that is not a form of ours. */
export const readMetadata = (metadata: string) => readJson(metadataSchema, metadata);

/** Reads JSON that Slack gave back; undefined when it is not of this schema. */
export function readJson<Content>(schema: z.ZodType<Content>, json = ''): Content | undefined {
  try {
    return schema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/** One field, or several for a text that one cannot hold. Throws UserError like {@link textParts}. */
function inputBlocks(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): types.InputBlock[] {
  const isLong = option.type === 'text' && typeof initial === 'string';
  if (!isLong) return [inputBlock(name, option, initial)];
  return textParts(name, option, initial, LIMITS.inputText).map(({ field, text }) =>
    inputBlock(field, field === name ? option : { ...option, required: false }, text),
  );
}

function inputBlock(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): types.InputBlock {
  const file = typeof initial === 'object' ? initial : undefined;
  const hint = file === undefined ? option.description : willBeUsed(file);
  const { name: whole, by } = fieldName(name);
  const words = `${whole.replace(/[-_]/g, ' ')}${by === undefined ? '' : ' (continued)'}`;
  return {
    type: 'input',
    block_id: name,
    // A box that is not ticked is an answer, too.
    optional: option.required !== true || option.type === 'flag' || file !== undefined,
    label: plainText(words.charAt(0).toUpperCase() + words.slice(1), LIMITS.inputHint),
    ...(option.type !== 'flag' && { hint: plainText(hint, LIMITS.inputHint) }),
    element: { action_id: name, ...inputElement(option, initial) },
  };
}

function inputElement(option: OptionDeclaration, initial: OptionValue | undefined): types.InputBlockElement {
  switch (option.type) {
    case 'text': {
      if (option.mention === true) return { type: 'users_select' };
      const text = typeof initial === 'string' && initial !== '' ? initial : undefined;
      // A menu cannot hold a longer text.
      if (option.autocomplete && (text === undefined || text.length <= LIMITS.optionValue)) {
        const first = text === undefined ? undefined : choiceOption(text, text);
        return { type: 'external_select', min_query_length: 0, ...present({ initial_option: first }) };
      }
      const most = Math.min(option.maximumLength ?? LIMITS.inputText, LIMITS.inputText);
      return {
        type: 'plain_text_input',
        multiline: option.multiline === true,
        max_length: most,
        ...present({ initial_value: text }),
      };
    }
    case 'choice': {
      const options = option.choices
        .slice(0, LIMITS.options)
        .map((choice) => choiceOption(choice.name, choice.value));
      const first = options.find(({ value }) => value === initial);
      return { type: 'static_select', options, ...present({ initial_option: first }) };
    }
    case 'flag': {
      const options = [choiceOption(option.description, 'true')];
      return { type: 'checkboxes', options, ...(initial === true && { initial_options: options }) };
    }
    case 'number':
      return {
        type: 'number_input',
        is_decimal_allowed: option.integer !== true,
        ...present({
          min_value: option.minimum?.toString(),
          max_value: option.maximum?.toString(),
          initial_value: typeof initial === 'number' ? String(initial) : undefined,
        }),
      };
    case 'file':
      return {
        type: 'file_input',
        max_files: 1,
        filetypes: option.accept.flatMap((kind) => [...FILE_TYPES[kind]]),
      };
    default:
      return option satisfies never;
  }
}

/** An option of a menu. Its text is shortened, its value never: a value that is too long cannot be offered. */
export function choiceOption(name: string, value: string): types.PlainTextOption {
  return { text: plainText(name.trim() === '' ? value : name, LIMITS.optionText), value };
}

const fileSchema = z.object({
  name: z.string().catch('file'),
  mimetype: z.string().optional(),
  size: z.number().optional(),
  /** Its address leads wherever the app that added it likes. https://docs.slack.dev/messaging/working-with-files */
  is_external: z.boolean().catch(false),
  url_private_download: z.string().optional(),
  url_private: z.string().optional(),
});

/** A file in an event or a form, as a reference; undefined for a file without bytes, such as a deleted one. */
export function fileReference(file: unknown): FileReference | undefined {
  const { data } = fileSchema.safeParse(file);
  const url = data?.url_private_download ?? data?.url_private;
  if (data === undefined || url === undefined) return undefined;
  return {
    name: data.name,
    url,
    ...(!data.is_external && { attached: true }),
    ...present({ contentType: data.mimetype, bytes: data.size }),
  };
}

const fieldSchema = z.object({
  type: z.string(),
  value: z.string().nullish(),
  selected_option: z.object({ value: z.string() }).nullish(),
  selected_user: z.string().nullish(),
  selected_options: z.array(z.unknown()).nullish(),
  files: z.array(z.unknown()).nullish(),
});
const stateSchema = z.record(z.string(), z.record(z.string(), fieldSchema));

/** The options that a sent form holds: `view.state.values`. Fields that were left empty are absent. */
export function formOptions(values: unknown): RawOptions {
  const options: Record<string, OptionValue> = {};
  for (const block of Object.values(stateSchema.safeParse(values).data ?? {}))
    for (const [field, content] of Object.entries(block)) {
      const value = fieldValue(content);
      if (value !== undefined) addField(options, field, value);
    }
  return options;
}

function fieldValue(field: z.infer<typeof fieldSchema>): OptionValue | undefined {
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
