/** Buttons as Slack takes them. */
import type { types } from '@slack/bolt';
import type { ActionButton, Button, Message } from '../../../core/message.ts';
import { present } from '../../../core/util/present.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { arrangeButtons, chunks, spokenName } from '../../shared/buttons.ts';
import { LIMITS } from '../limits.ts';
import { plainText, splitMrkdwn } from './escape.ts';
import { linkLine } from './lines.ts';

/** A row of buttons and menus with the rest in blocks of at most 25, and lines for what Slack takes as neither. */
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
        elements.push({ ...slackButton(label, `link:${index}`), ...spoken(button, message), url });
      else asLines.push(...linkLine(url, label));
      continue;
    }
    const { id, emphasis } = button;
    const label = nameOf(button);
    if (label.length > LIMITS.buttonLabel) asLines.push(...splitMrkdwn(label, LIMITS.contextText));
    const isOwnId = id !== '' && id.length <= LIMITS.actionId && !ids.has(id);
    ids.add(id);
    elements.push({
      ...slackButton(label, isOwnId ? id : `button:${index}`),
      ...spoken(button, message),
      ...(id !== '' && id.length <= LIMITS.buttonValue && { value: id }),
      ...present({ style: emphasis }),
    });
  }
  const options = menuOptions(more);
  if (options.length <= LIMITS.overflowOptions) {
    if (options.length > 0) elements.push({ type: 'overflow', action_id: 'more', options });
  } else {
    for (const [index, some] of chunks(options, LIMITS.options).entries())
      elements.push(menu(some, index, message));
  }
  return {
    inPlace: chunks(elements, LIMITS.buttonsInBlock).map((some) => ({ type: 'actions', elements: some })),
    asLines,
  };
}

/** Slack's own buttons for what people think of an answer. */
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
  placeholder: plainText(title.trim() === '' ? 'More …' : `More … for ${title.trim()}`, LIMITS.placeholder),
  options,
});

/** Read aloud instead of the label, so that the buttons of several messages are told apart. */
function spoken(button: Button, message: Pick<Message, 'title'>): Pick<types.Button, 'accessibility_label'> {
  const name = spokenName({ ...button, label: nameOf(button) }, message);
  return name === nameOf(button) ? {} : { accessibility_label: ellipsis(name, LIMITS.buttonLabel) };
}

const nameOf = ({ label }: Button): string => (label.trim() === '' ? '…' : label);

/** Each action once, as far as Slack can carry its id. */
function menuOptions(buttons: readonly ActionButton[]): types.PlainTextOption[] {
  const known = new Map(buttons.map((button) => [button.id, button]));
  return [...known.values()]
    .filter(({ id }) => id !== '' && id.length <= LIMITS.optionValue)
    .map((button) => ({ text: textOf(nameOf(button), LIMITS.optionText), value: button.id }));
}

const textOf = (text: string, most: number): types.PlainTextElement => ({
  type: 'plain_text',
  text: ellipsis(text, most),
  emoji: true,
});

function slackButton(label: string, id: string): types.Button {
  return { type: 'button', action_id: id, text: textOf(label, LIMITS.buttonLabel) };
}
