/** Converts forms to Discord's modals, and submitted modals to options. */
import {
  type APILabelComponent,
  type APIModalInteractionResponseCallbackData,
  type Attachment,
  ButtonStyle,
  ComponentType,
  type MessageContextMenuCommandInteraction,
  type ModalData,
  TextInputStyle,
} from 'discord.js';
import type { AnyCommand } from '../../../core/bot/command.ts';
import { UserError } from '../../../core/errors.ts';
import type { Invocation } from '../../../core/invocation.ts';
import { parseActionId } from '../../../core/message.ts';
import {
  type Form,
  type OptionDeclaration,
  type OptionValue,
  type RawOptions,
  readNumber,
} from '../../../core/options.ts';
import { capitalised, ellipsis } from '../../../core/util/words.ts';
import { addField, partLabel, textParts } from '../../shared/form-text.ts';
import { menuForm, preselectedHint } from '../../shared/message-menu.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import type { Row } from '../render/buttons.ts';
import { disableMentions } from '../render/escape.ts';
import { type ContentTools, contentOf } from './content.ts';
import { fileOf, toIncomingMessage } from './incoming-message.ts';

/** A button that runs a command without options, which opens its form. */
export const OPEN_FORM = /^open:([\w-]{1,32}(?: [\w-]{1,32})?)$/;
const TEXT_AREA_ABOVE = 200;
/** Marks text fields that contain a number, so that a form can be read without its declaration. */
const NUMBER_SUFFIX = ':number';
const MAX_NUMBER_LENGTH = 20;
interface Field {
  readonly name: string;
  readonly option: OptionDeclaration;
  readonly initial: OptionValue | undefined;
  /** Fields with a lower rank have priority. */
  readonly rank: number;
}

/** Returns the modal, or the reason why it cannot be opened. */
export function modalOrReason(form: Form): APIModalInteractionResponseCallbackData | string {
  try {
    return modalOf(form);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return error.message;
  }
}

/**
 * Keeps five fields, Discord's limit: required fields first, then those with a value, rare ones last. Throws UserError if a
 * text does not fit.
 */
function modalOf(form: Form): APIModalInteractionResponseCallbackData {
  const fields = Object.entries(form.options).flatMap(([name, option]) =>
    fieldsOf(name, option, form.initial[name]),
  );
  const byRank = fields.toSorted((left, right) => left.rank - right.rank);
  const included = new Set(byRank.slice(0, DISCORD_LIMITS.modalFields));
  return {
    custom_id: form.id,
    title: ellipsis(form.title, DISCORD_LIMITS.modalTitle) || 'Minstrel',
    components: fields.filter((field) => included.has(field)).map(labelOf),
  };
}

/** Returns one field, or several for a text that is too long for one. Those are never left out. */
function fieldsOf(name: string, option: OptionDeclaration, initial: OptionValue | undefined): Field[] {
  const rank = option.required ? 0 : initial !== undefined ? 1 : option.rare ? 3 : 2;
  if (option.type !== 'text' || typeof initial !== 'string') return [{ name, option, initial, rank }];
  return textParts(name, option, initial, DISCORD_LIMITS.textInput).map(({ field, text }, index, parts) => ({
    name: field,
    option: index === 0 ? option : { ...option, required: false },
    initial: text,
    rank: parts.length > 1 ? 0 : rank,
  }));
}

function labelOf({ name, option, initial }: Field): APILabelComponent {
  return {
    type: ComponentType.Label,
    label: ellipsis(partLabel(name, option), DISCORD_LIMITS.labelText),
    description: ellipsis(
      typeof initial === 'object' ? preselectedHint(initial) : (option.help ?? option.description),
      DISCORD_LIMITS.labelDescription,
    ),
    component: fieldOf(name, option, initial),
  };
}

function fieldOf(
  name: string,
  option: OptionDeclaration,
  initial: OptionValue | undefined,
): APILabelComponent['component'] {
  // A preselected file is used unless the person chooses another.
  const required = option.required === true && typeof initial !== 'object';
  const choiceField = { custom_id: name, required, min_values: required ? 1 : 0, max_values: 1 };
  switch (option.type) {
    case 'text': {
      const longest = Math.min(option.maximumLength ?? DISCORD_LIMITS.textInput, DISCORD_LIMITS.textInput);
      const isArea = option.multiline || longest > TEXT_AREA_ABOVE;
      const style = isArea ? TextInputStyle.Paragraph : TextInputStyle.Short;
      return { ...textInput(name, initial, longest), style, required };
    }
    case 'number':
      return {
        ...textInput(`${name}${NUMBER_SUFFIX}`, initial, MAX_NUMBER_LENGTH),
        style: TextInputStyle.Short,
        required,
      };
    case 'choice':
      return {
        ...choiceField,
        type: ComponentType.StringSelect,
        options: option.choices.slice(0, DISCORD_LIMITS.choices).map((choice) => ({
          label: ellipsis(capitalised(choice.name), DISCORD_LIMITS.choiceText),
          value: choice.value,
          default: choice.value === (initial ?? option.default),
        })),
      };
    case 'flag':
      return { type: ComponentType.Checkbox, custom_id: name, default: initial === true };
    case 'file':
      return { ...choiceField, type: ComponentType.FileUpload };
    default:
      return option satisfies never;
  }
}

function textInput(custom_id: string, initial: OptionValue | undefined, max_length: number) {
  const value = typeof initial === 'object' ? '' : String(initial ?? '');
  return {
    type: ComponentType.TextInput as const,
    custom_id,
    max_length,
    ...(value === '' ? {} : { value }),
  };
}

type SubmittedField = Pick<ModalData, 'type'> & {
  readonly value?: string | boolean | null;
  readonly values?: readonly string[];
  readonly attachments?: { first(): Attachment | undefined };
};

/** Leaves out empty fields, so that defaults apply. */
export function optionsOfForm(
  fields: Iterable<readonly [customId: string, field: SubmittedField]>,
): RawOptions {
  const options: Record<string, OptionValue> = {};
  for (const [customId, field] of fields) {
    const value = fieldValue(customId, field);
    if (value === undefined || value === '') continue;
    addField(options, customId.replace(NUMBER_SUFFIX, ''), value);
  }
  return options;
}

function fieldValue(
  customId: string,
  { type, value: text, values, attachments }: SubmittedField,
): OptionValue | undefined {
  if (type === ComponentType.FileUpload) {
    const file = attachments?.first();
    return file && fileOf(file);
  }
  const value = text ?? values?.[0];
  if (!customId.endsWith(NUMBER_SUFFIX) || typeof value !== 'string' || value.trim() === '') return value;
  // Other text is passed on, and the command reports the error.
  return readNumber(value) ?? value;
}

export interface MenuForm {
  readonly command: string;
  readonly form: Form | UserError;
}

/** The effect of an entry in a message menu: it opens a form, or runs at once. */
type MenuChoice =
  | MenuForm
  | { readonly request: Pick<Invocation, 'command' | 'subcommand' | 'options' | 'files'> };

/** Returns undefined if the command no longer exists. */
export function menuChoice(
  { commandName, targetMessage }: MessageContextMenuCommandInteraction,
  { bot, ...tools }: ContentTools & { readonly bot: { readonly commands: readonly AnyCommand[] } },
): MenuChoice | undefined {
  const command = bot.commands.find(({ messageMenu }) => messageMenu?.label === commandName);
  const menu = command?.messageMenu;
  if (!menu) return undefined;
  const content = contentOf(toIncomingMessage(targetMessage), tools);
  if (!('subcommand' in menu)) return { command: command.name, form: menuForm(command, menu, content) };
  const { files } = content;
  return { request: { command: command.name, subcommand: menu.subcommand, options: {}, files } };
}

/** Adds the message if it has files: a modal cannot hold files, so they are read again when it is submitted. */
export function menuFormId(
  { id, initial }: Form,
  { targetMessage }: Pick<MessageContextMenuCommandInteraction, 'targetMessage'>,
): string {
  const hasFile = Object.values(initial).some((value) => typeof value === 'object');
  return hasFile ? `${id}@${targetMessage.channelId}/${targetMessage.id}` : id;
}

/** Splits a submitted form's id into the form and the message whose menu opened it. */
export function readFormId(id: string): {
  readonly form: string;
  readonly message?: { readonly channel: string; readonly id: string };
} {
  const [, form, channel, message] = /^([\w -]+)@(\d{1,20})\/(\d{1,20})$/.exec(id) ?? [];
  if (form === undefined || channel === undefined || message === undefined) return { form: id };
  return { form, message: { channel, id: message } };
}

/** Returns a button that opens a form, for forms that were ready too late. */
export function openFormButton(form: Form): Row {
  const id = parseActionId(form.id) ? form.id : `open:${form.id}`;
  const label = ellipsis(disableMentions(form.title), DISCORD_LIMITS.buttonLabel) || 'Open the form';
  return {
    type: ComponentType.ActionRow,
    components: [{ type: ComponentType.Button, style: ButtonStyle.Primary, custom_id: id, label }],
  };
}
