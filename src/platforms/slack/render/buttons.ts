/** Renders buttons and menus. */
import type { types } from '@slack/bolt';
import type { ActionButton, Button, Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { arrangeButtons, chunks, spokenName } from '../../shared/buttons.ts';
import { LIMITS } from '../limits.ts';
import { plainText, splitMrkdwn } from './escape.ts';
import { linkLine } from './lines.ts';

/** The main row of buttons and menus, the rest in blocks of at most 25, and lines for buttons that Slack does not support. */
export function buttonsOf(message: Pick<Message, 'actions' | 'title'>): {
  inPlace: types.ActionsBlock[];
  asLines: string[];
} {
  const { shown, more } = arrangeButtons(message.actions ?? []);
  const asLines: string[] = [];
  const elements: (types.Button | types.StaticSelect | types.Overflow)[] = [];
  const ids = new Set<string>();
  for (const [index, button] of shown.entries()) {
    if (button.type === 'link') {
      const { url } = button;
      const label = nameOf(button);
      const isButton =
        /^https?:\/\/\S+$/i.test(url) && url.length <= LIMITS.url && label.length <= LIMITS.buttonLabel;
      if (isButton)
        elements.push({ ...slackButton(label, `link:${index}`), ...accessibleName(button, message), url });
      else asLines.push(...linkLine(url, label));
      continue;
    }
    const { id, emphasis } = button;
    const label = nameOf(button);
    if (label.length > LIMITS.buttonLabel) asLines.push(...splitMrkdwn(label, LIMITS.contextText));
    const isUsable = id !== '' && id.length <= LIMITS.actionId && !ids.has(id);
    ids.add(id);
    elements.push({
      ...slackButton(label, isUsable ? id : `button:${index}`),
      ...accessibleName(button, message),
      ...(id !== '' && id.length <= LIMITS.buttonValue && { value: id }),
      ...present({ style: emphasis }),
    });
  }
  const options = menuOptions(more);
  if (options.length <= LIMITS.overflowOptions) {
    if (options.length > 0) elements.push({ type: 'overflow', action_id: 'more', options });
  } else {
    for (const [index, chunk] of chunks(options, LIMITS.options).entries())
      elements.push(menu(chunk, index, message));
  }
  return {
    inPlace: chunks(elements, LIMITS.buttonsInBlock).map((chunk) => ({ type: 'actions', elements: chunk })),
    asLines,
  };
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

const menu = (
  options: types.PlainTextOption[],
  index: number,
  { title = '' }: Pick<Message, 'title'>,
): types.StaticSelect => ({
  type: 'static_select',
  action_id: `more:${index}`,
  placeholder: plainText(title.trim() === '' ? 'More…' : `More… for ${title.trim()}`, LIMITS.placeholder),
  options,
});

/** Read by screen readers instead of the label, to distinguish the buttons of several messages. */
function accessibleName(
  button: Button,
  message: Pick<Message, 'title'>,
): Pick<types.Button, 'accessibility_label'> {
  const name = spokenName({ ...button, label: nameOf(button) }, message);
  return name === nameOf(button) ? {} : { accessibility_label: ellipsis(name, LIMITS.buttonLabel) };
}

const nameOf = ({ label }: Button): string => (label.trim() === '' ? '…' : label);

/** Each action once, except those with an ID that is too long for Slack. */
function menuOptions(buttons: readonly ActionButton[]): types.PlainTextOption[] {
  const known = new Map(buttons.map((button) => [button.id, button]));
  return [...known.values()]
    .filter(({ id }) => id !== '' && id.length <= LIMITS.optionValue)
    .map((button) => ({ text: textOf(nameOf(button), LIMITS.optionText), value: button.id }));
}

const textOf = (text: string, limit: number): types.PlainTextElement => ({
  type: 'plain_text',
  text: ellipsis(text, limit),
  emoji: true,
});

function slackButton(label: string, id: string): types.Button {
  return { type: 'button', action_id: id, text: textOf(label, LIMITS.buttonLabel) };
}
