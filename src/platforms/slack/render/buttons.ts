/** Renders buttons and menus. */
import type { types } from '@slack/bolt';
import type { ActionButton, Button, LinkButton, Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { accessibleNameOf, arrangeButtons, chunks, MENU_TEXT, shownLabel } from '../../shared/buttons.ts';
import { EMOJI } from '../../shared/icons.ts';
import { LIMITS } from '../limits.ts';
import { plainText, splitMrkdwn } from './escape.ts';
import { linkLine } from './lines.ts';

/** Rows of buttons and menus in blocks of at most 25, and lines for buttons that Slack does not support. */
export function buttonsOf(message: Pick<Message, 'actions' | 'title'>): {
  inPlace: types.ActionsBlock[];
  asLines: string[];
} {
  const { rows, more } = arrangeButtons(message.actions ?? []);
  const ids = new Set<string>();
  const asLines = rows.flat().flatMap(lineOf);
  const elements: Element[][] = rows.map((row) => row.flatMap((button) => elementOf(button, message, ids)));
  const last = elements.pop() ?? [];
  elements.push([...last, ...menusOf(more)]);
  return {
    inPlace: elements
      .flatMap((row) => chunks(row, LIMITS.buttonsInBlock))
      .map((chunk) => ({ type: 'actions', elements: chunk })),
    asLines,
  };
}

type Element = types.Button | types.StaticSelect | types.Overflow;

export const isLinkable = (button: LinkButton): boolean =>
  /^https?:\/\/\S+$/i.test(button.url) &&
  button.url.length <= LIMITS.url &&
  nameOf(button).length <= LIMITS.buttonLabel;

/** Text for a button that Slack does not support, or whose label is too long. */
function lineOf(button: Button): string[] {
  const label = nameOf(button);
  if (button.type === 'link') return isLinkable(button) ? [] : linkLine(button.url, label);
  return label.length > LIMITS.buttonLabel ? splitMrkdwn(label, LIMITS.contextText) : [];
}

/** Adds the button's ID to `ids`, because Slack requires unique ones. */
function elementOf(button: Button, message: Pick<Message, 'title'>, ids: Set<string>): types.Button[] {
  const number = ids.size;
  if (button.type === 'link') {
    if (!isLinkable(button)) return [];
    const id = `link:${number}`;
    ids.add(id);
    return [linkElement(button, message, id)];
  }
  const { id, emphasis } = button;
  const isUsable = id !== '' && id.length <= LIMITS.actionId && !ids.has(id);
  const actionId = isUsable ? id : `button:${number}`;
  ids.add(actionId);
  return [
    {
      ...slackButton(button, actionId),
      ...accessibleName(button, message),
      ...(id !== '' && id.length <= LIMITS.buttonValue && { value: id }),
      ...present({ style: emphasis }),
    },
  ];
}

export const linkElement = (
  button: LinkButton,
  message: Pick<Message, 'title'>,
  id: string,
): types.Button => ({ ...slackButton(button, id), ...accessibleName(button, message), url: button.url });

/** A few actions fit in an overflow menu, which has no groups and no explanations. */
function menusOf(buttons: readonly ActionButton[]): (types.StaticSelect | types.Overflow)[] {
  const options = menuOptions(buttons);
  if (options.length === 0) return [];
  const isPlain = buttons.every(({ group, hint }) => group === undefined && hint === undefined);
  if (isPlain && options.length <= LIMITS.overflowOptions)
    return [{ type: 'overflow', action_id: 'more', options: options.map(({ option }) => option) }];
  return chunks(options, LIMITS.options).map((chunk, index) => menu(chunk, index));
}

/** Slack's feedback buttons. */
export function feedbackBlocks({ feedback, title = '' }: Message): types.ContextActionsBlock[] {
  if (feedback === undefined) return [];
  const button = (text: string, value: string, label: string) => ({
    text: { type: 'plain_text' as const, text },
    value,
    accessibility_label: ellipsis(title.trim() === '' ? label : `${label}: ${title}`, LIMITS.feedbackText),
  });
  return [
    {
      type: 'context_actions',
      elements: [
        {
          type: 'feedback_buttons',
          action_id: FEEDBACK,
          positive_button: button('Good', feedback.good, 'This answer is good'),
          negative_button: button('Bad', feedback.bad, 'This answer is bad'),
        },
      ],
    },
  ];
}

const FEEDBACK = 'feedback';

interface MenuOption {
  readonly option: types.PlainTextOption;
  readonly group: string;
}

const menu = (options: readonly MenuOption[], index: number): types.StaticSelect => ({
  type: 'static_select',
  action_id: `more:${index}`,
  placeholder: plainText(MENU_TEXT, LIMITS.placeholder),
  ...optionsOf(options),
});

/** Options under the names of their groups, if there are groups. */
function optionsOf(all: readonly MenuOption[]): Pick<types.StaticSelect, 'options' | 'option_groups'> {
  const groups = [...Map.groupBy(all, ({ group }) => group)];
  if (groups.every(([group]) => group === '')) return { options: all.map(({ option }) => option) };
  return {
    option_groups: groups.map(([group, members]) => ({
      label: textOf(group === '' ? 'More' : group, LIMITS.optionText),
      options: members.map(({ option }) => option),
    })),
  };
}

/** Read by screen readers instead of the label, to distinguish the buttons of several messages. */
function accessibleName(
  button: Button,
  message: Pick<Message, 'title'>,
): Pick<types.Button, 'accessibility_label'> {
  const name = accessibleNameOf({ ...button, label: nameOf(button) }, message);
  const isShown = name === shownLabel(button) && button.icon === undefined;
  return isShown ? {} : { accessibility_label: ellipsis(name, LIMITS.buttonLabel) };
}

const nameOf = ({ label }: Button): string => (label.trim() === '' ? '…' : label);

/** Each action once, except those with an ID that is too long for Slack. */
function menuOptions(buttons: readonly ActionButton[]): MenuOption[] {
  const known = new Map(buttons.map((button) => [button.id, button]));
  return [...known.values()]
    .filter(({ id }) => id !== '' && id.length <= LIMITS.optionValue)
    .map(({ group = '', hint = '', item = '', ...button }) => ({
      group: group.trim(),
      option: {
        text: textOf(item.trim() || nameOf(button), LIMITS.optionText),
        value: button.id,
        ...(hint.trim() !== '' && { description: textOf(hint.trim(), LIMITS.optionText) }),
      },
    }));
}

const textOf = (text: string, limit: number): types.PlainTextElement => ({
  type: 'plain_text',
  text: ellipsis(text, limit),
  emoji: true,
});

function slackButton(button: Button, id: string): types.Button {
  const icon = button.icon === undefined ? '' : `${EMOJI[button.icon]} `;
  const label = shownLabel(button) || '…';
  return { type: 'button', action_id: id, text: textOf(`${icon}${label}`, LIMITS.buttonLabel) };
}
