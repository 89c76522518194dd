/** Builds forms from command declarations, and reads submitted values. */
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
import { capitalised } from '../../../core/util/words.ts';
import { addField, partLabel, textParts } from '../../shared/form-text.ts';
import { preselectedHint } from '../../shared/message-menu.ts';
import { LIMITS } from '../limits.ts';
import { optionWithSlackTerms } from '../words.ts';
import { plainText } from './escape.ts';

export const FORM_CALLBACK = 'form';
/** Action ID of the button that shows the other fields. */
export const MORE_OPTIONS = 'more-options';

/** File extensions without the dot: https://docs.slack.dev/reference/block-kit/block-elements/file-input-element */
const FILE_TYPES = {
  audio: ['mp3', 'wav', 'm4a', 'ogg', 'flac', 'aac', 'mp4', 'webm'],
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp'],
  video: ['mp4', 'mov', 'webm'],
  text: ['txt', 'md', 'csv', 'log', 'json'],
} as const satisfies Record<FileOption['accept'][number], readonly string[]>;

const fileReferenceSchema = z.custom<FileReference>(
  (value) => z.looseObject({ name: z.string(), url: z.string() }).safeParse(value).success,
);

const metadataSchema = z.object({
  form: z.string(),
  address: addressSchema,
  /** The person's direct messages with the bot, for a form opened from the Home tab. */
  home: z.string().optional(),
  /** Files that the form's fields cannot show. */
  files: z.record(z.string(), fileReferenceSchema).optional(),
});

export interface FormPlace {
  readonly address: Address;
  /** The person's direct messages with the bot, for a form opened from the Home tab. */
  readonly home?: string | undefined;
  /** Also shows the fields under "More options". */
  readonly expanded?: boolean;
}

/**
 * Builds the modal. Block IDs are the option names, so that errors appear at their fields. Throws UserError if a text does
 * not fit.
 */
export function formView(form: Form, { address, home, expanded = false }: FormPlace): types.ModalView {
  const all = Object.entries(form.options);
  const hidden = expanded ? [] : all.filter(([name, { rare }]) => rare && form.initial[name] === undefined);
  const shown = all.filter((entry) => !hidden.includes(entry));
  return {
    type: 'modal',
    callback_id: FORM_CALLBACK,
    title: plainText(form.title, LIMITS.viewTitle),
    submit: plainText(form.submitLabel, LIMITS.viewButton),
    close: plainText('Cancel', LIMITS.viewButton),
    private_metadata: metadataOf(form, address, home),
    blocks: [
      ...shown.flatMap(([name, option]) =>
        inputBlocks(name, optionWithSlackTerms(option), form.initial[name]),
      ),
      ...(hidden.length > 0 ? [MORE_BLOCK] : []),
    ],
  };
}

const MORE_BLOCK: types.ActionsBlock = {
  type: 'actions',
  block_id: MORE_OPTIONS,
  elements: [
    { type: 'button', action_id: MORE_OPTIONS, text: plainText('More options', LIMITS.buttonLabel) },
  ],
};

function metadataOf({ id: form, initial }: Form, address: Address, home: string | undefined): string {
  const carried = Object.entries(initial).filter(([, value]) => typeof value === 'object');
  const files = carried.length === 0 ? undefined : Object.fromEntries(carried);
  const json = JSON.stringify({ form, address, home, files });
  if (json.length <= LIMITS.privateMetadata) return json;
  const { platformData: _, ...bare } = address;
  return JSON.stringify({ form, address: bare, home, files });
}

/** Returns undefined for other modals. */
export const readMetadata = (metadata: string) => readJson(metadataSchema, metadata);

/** Parses JSON that Slack returned. Returns undefined if it does not match the schema. */
export function readJson<Content>(schema: z.ZodType<Content>, json = ''): Content | undefined {
  try {
    return schema.safeParse(JSON.parse(json)).data;
  } catch {
    return undefined;
  }
}

/** One field, or several for a long text. Throws UserError like {@link textParts}. */
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
  const hint = file === undefined ? (option.help ?? option.description) : preselectedHint(file);
  return {
    type: 'input',
    block_id: name,
    // An unticked box is an answer too.
    optional: option.required !== true || option.type === 'flag' || file !== undefined,
    label: plainText(partLabel(name, option), LIMITS.inputHint),
    ...(option.type !== 'flag' && { hint: plainText(hint, LIMITS.inputHint) }),
    element: { action_id: name, ...inputElement(option, initial) },
  };
}

function inputElement(option: OptionDeclaration, initial: OptionValue | undefined): types.InputBlockElement {
  switch (option.type) {
    case 'text': {
      if (option.mention === true) return { type: 'users_select' };
      const text = typeof initial === 'string' && initial !== '' ? initial : undefined;
      // Menus do not support longer text.
      if (option.autocomplete && (text === undefined || text.length <= LIMITS.optionValue)) {
        const first = text === undefined ? undefined : choiceOption(text, text);
        return { type: 'external_select', min_query_length: 0, ...present({ initial_option: first }) };
      }
      const maxLength = Math.min(option.maximumLength ?? LIMITS.inputText, LIMITS.inputText);
      return {
        type: 'plain_text_input',
        multiline: option.multiline === true,
        max_length: maxLength,
        ...present({ initial_value: text }),
      };
    }
    case 'choice': {
      const options = option.choices
        .slice(0, LIMITS.options)
        .map((choice) => choiceOption(capitalised(choice.name), choice.value));
      const first = options.find(({ value }) => value === (initial ?? option.default));
      return { type: 'static_select', options, ...present({ initial_option: first }) };
    }
    case 'flag': {
      const options = [choiceOption(option.help ?? option.description, 'true')];
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

/** A menu option. Its text is shortened, but its value is not: a value that is too long cannot be offered. */
export function choiceOption(name: string, value: string): types.PlainTextOption {
  return { text: plainText(name.trim() === '' ? value : name, LIMITS.optionText), value };
}

const fileSchema = z.object({
  name: z.string().catch('file'),
  mimetype: z.string().optional(),
  size: z.number().optional(),
  /** Its address is controlled by the app that added it: https://docs.slack.dev/messaging/working-with-files */
  is_external: z.boolean().catch(false),
  url_private_download: z.string().optional(),
  url_private: z.string().optional(),
});

/** Converts a file in an event or form to a reference. Undefined for a file without content, such as a deleted one. */
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

/** Reads the options of a submitted form from `view.state.values`. Empty fields are absent. */
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
