/** Forms as Discord's modals, and what people sent in them. */
import {
  type APILabelComponent,
  type APIModalInteractionResponseCallbackData,
  ButtonStyle,
  ComponentType,
  TextInputStyle,
} from 'discord.js';
import type { AnyCommand, Form, OptionDeclaration, OptionValue, RawOptions } from '../../command.ts';
import { parseActionId } from '../../message.ts';
import { type Row, shorten } from './buttons.ts';
import { deadenMentions, ZERO_WIDTH_SPACE } from './escape.ts';
import {
  type CommandInteraction,
  type FormInteraction,
  fileReferenceOf,
  type IncomingAttachment,
  type IncomingField,
} from './interaction.ts';
import { LIMITS } from './limits.ts';

/** A button that runs a command without options, which opens its form. */
export const OPEN_FORM = /^open:([\w-]{1,32}(?: [\w-]{1,32})?)$/;
const SHORTEST_TEXT_AREA = 200;
/** Marks the fields whose text is a number, so that a form can be read without its declaration. */
const NUMBER_SUFFIX = ':number';

/** Marks the field in which a text goes on that is too long for one. */
const MORE_SUFFIX = ':more';

interface Field {
  readonly name: string;
  readonly option: OptionDeclaration;
  readonly initial: OptionValue | undefined;
  /** Lower ones are kept first. */
  readonly rank: number;
  readonly goesOn?: true;
}

/** At most five fields, Discord's limit: required ones first, then those that already hold something. */
export function modalOf(form: Form): APIModalInteractionResponseCallbackData {
  const fields = Object.entries(form.options).flatMap(([name, option]) =>
    fieldsOf(name, option, form.initial[name]),
  );
  const kept = new Set(fields.toSorted((left, right) => left.rank - right.rank).slice(0, LIMITS.modalFields));
  return {
    custom_id: form.id,
    title: shorten(form.title, LIMITS.modalTitle) || 'Minstrel',
    components: fields.filter((field) => kept.has(field)).map(labelOf),
  };
}

/** One field, or two for a text that one cannot hold. */
function fieldsOf(name: string, option: OptionDeclaration, initial: OptionValue | undefined): Field[] {
  const rank = option.required ? 0 : initial === undefined ? 2 : 1;
  if (option.type !== 'text' || typeof initial !== 'string' || initial.length <= LIMITS.textInput) {
    return [{ name, option, initial, rank }];
  }
  const line = initial.lastIndexOf('\n', LIMITS.textInput);
  const end = line > 0 ? line : LIMITS.textInput;
  const rest = initial.slice(line > 0 ? end + 1 : end);
  return [
    { name, option, initial: initial.slice(0, end), rank },
    {
      name: `${name}${MORE_SUFFIX}`,
      option: { ...option, required: false },
      initial: rest,
      rank,
      goesOn: true,
    },
  ];
}

function labelOf({ name, option, initial, goesOn }: Field): APILabelComponent {
  const words = name.replace(MORE_SUFFIX, '').replace(/[-_]/g, ' ');
  const title = `${words.charAt(0).toUpperCase()}${words.slice(1)}${goesOn ? ' (it goes on)' : ''}`;
  return {
    type: ComponentType.Label,
    label: shorten(title, LIMITS.labelText),
    description: shorten(option.description, LIMITS.labelDescription),
    component: fieldOf(name, option, initial),
  };
}

function fieldOf(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): APILabelComponent['component'] {
  const required = option.required ?? false;
  switch (option.type) {
    case 'text': {
      const longest = Math.min(option.maximumLength ?? LIMITS.textInput, LIMITS.textInput);
      const style =
        option.multiline || longest > SHORTEST_TEXT_AREA ? TextInputStyle.Paragraph : TextInputStyle.Short;
      return {
        type: ComponentType.TextInput,
        custom_id: name,
        style,
        required,
        max_length: longest,
        ...textValue(initial, longest),
      };
    }
    case 'number':
      return {
        type: ComponentType.TextInput,
        custom_id: `${name}${NUMBER_SUFFIX}`,
        style: TextInputStyle.Short,
        required,
        max_length: 20,
        ...textValue(initial, 20),
      };
    case 'choice':
      return {
        type: ComponentType.StringSelect,
        custom_id: name,
        required,
        min_values: required ? 1 : 0,
        max_values: 1,
        options: option.choices.slice(0, LIMITS.choices).map((choice) => ({
          label: shorten(choice.name, LIMITS.choiceText),
          value: choice.value,
          ...(choice.value === initial ? { default: true } : {}),
        })),
      };
    case 'flag':
      return { type: ComponentType.Checkbox, custom_id: name, default: initial === true };
    case 'file':
      return {
        type: ComponentType.FileUpload,
        custom_id: name,
        required,
        min_values: required ? 1 : 0,
        max_values: 1,
      };
    default:
      return option satisfies never;
  }
}

function textValue(initial: OptionValue | undefined, longest: number): { value?: string } {
  if (initial === undefined || typeof initial === 'object' || initial === '') return {};
  return { value: String(initial).slice(0, longest) };
}

/** Empty fields are left out, so that defaults hold. */
export function formOptions({ data }: FormInteraction): RawOptions {
  const options: Record<string, OptionValue> = {};
  for (const { component } of data.components) {
    if (!component) continue;
    const value = fieldValue(component, data.resolved?.attachments ?? {});
    if (value === undefined || value === '') continue;
    const name = component.custom_id.replace(NUMBER_SUFFIX, '').replace(MORE_SUFFIX, '');
    const before = options[name];
    options[name] = typeof before === 'string' ? `${before}\n${value}` : value;
  }
  return options;
}

function fieldValue(
  field: IncomingField,
  attachments: Readonly<Record<string, IncomingAttachment>>,
): OptionValue | undefined {
  if (field.type === ComponentType.FileUpload) {
    const file = attachments[field.values?.[0] ?? ''];
    return file ? fileReferenceOf(file) : undefined;
  }
  const value = field.value ?? field.values?.[0];
  if (value === undefined) return undefined;
  if (!field.custom_id.endsWith(NUMBER_SUFFIX) || typeof value !== 'string' || value.trim() === '')
    return value;
  // What is no number stays text, and gets the sentence that the command has for it.
  const number = Number(value.trim().replace(',', '.'));
  return Number.isFinite(number) ? number : value;
}

/** The form of a command that was chosen in a message's menu; undefined when there is no such command any more. */
export function menuForm({ data }: CommandInteraction, commands: readonly AnyCommand[]): Form | undefined {
  const command = commands.find(({ messageMenu }) => messageMenu?.label === data.name);
  const message = data.resolved?.messages?.[data.target_id ?? ''];
  if (!command?.messageMenu || !message) return undefined;
  const embedded = message.embeds.flatMap(({ title, description }) => [title, description]);
  const text = [message.content, ...embedded].filter(Boolean).join('\n\n').replaceAll(ZERO_WIDTH_SPACE, '');
  return {
    id: command.name,
    title: command.messageMenu.label,
    submitLabel: command.description,
    options: command.options,
    initial: { [command.messageMenu.option]: text },
  };
}

/** For a form that came too late to be opened by itself: a button that asks for it again. */
export function openFormButton(form: Form): Row {
  const id = parseActionId(form.id) ? form.id : `open:${form.id}`;
  const label = shorten(deadenMentions(form.title), LIMITS.buttonLabel) || 'Open the form';
  return {
    type: ComponentType.ActionRow,
    components: [{ type: ComponentType.Button, style: ButtonStyle.Primary, custom_id: id, label }],
  };
}
