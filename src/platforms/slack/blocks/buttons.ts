/** Buttons as Slack takes them. */
import type { types } from '@slack/bolt';
import type { Button } from '../../../message.ts';
import { ellipsis, splitMrkdwn } from '../escape.ts';
import { LIMITS } from '../limits.ts';
import { linkLine } from './lines.ts';

/** Buttons in blocks of at most 25, and lines for those that Slack would not take as buttons. */
export function buttonsOf(buttons: readonly Button[]): { inPlace: types.ActionsBlock[]; asLines: string[] } {
  const asLines: string[] = [];
  const elements: Placed[] = [];
  const ids = new Set<string>();
  for (const [index, button] of buttons.entries()) {
    const label = button.label.trim() === '' ? '…' : button.label;
    if (button.type === 'link') {
      if (
        /^https?:\/\/\S+$/i.test(button.url) &&
        button.url.length <= LIMITS.url &&
        label.length <= LIMITS.buttonLabel
      ) {
        elements.push({
          group: undefined,
          button: {
            type: 'button',
            action_id: `link:${index}`,
            text: plainText(label),
            url: button.url,
          },
        });
      } else asLines.push(...linkLine(button.url, label));
      continue;
    }
    const shown = button.emoji ? `${button.emoji} ${label}` : label;
    const id =
      ids.has(button.id) || button.id === '' || button.id.length > LIMITS.actionId
        ? `button:${index}`
        : button.id;
    ids.add(id);
    if (shown.length > LIMITS.buttonLabel) asLines.push(...splitMrkdwn(shown, LIMITS.contextText));
    elements.push({
      group: button.group,
      button: {
        type: 'button',
        action_id: id,
        ...(button.id === '' || button.id.length > LIMITS.buttonValue ? {} : { value: button.id }),
        text: plainText(ellipsis(shown, LIMITS.buttonLabel)),
        ...(button.emphasis === undefined ? {} : { style: button.emphasis }),
      },
    });
  }
  return { inPlace: actionBlocks(elements), asLines };
}

interface Placed {
  readonly group: string | undefined;
  readonly button: types.Button;
}

/** A block for each group of buttons, and one for those without; past what one block holds, no groups are made. */
function actionBlocks(buttons: readonly Placed[]): types.ActionsBlock[] {
  const isMany = buttons.length > LIMITS.buttonsInBlock;
  const blocks: types.ActionsBlock[] = [];
  let group: string | undefined;
  for (const placed of buttons) {
    const last = blocks.at(-1);
    if (last && (isMany || group === placed.group) && last.elements.length < LIMITS.buttonsInBlock)
      last.elements.push(placed.button);
    else blocks.push({ type: 'actions', elements: [placed.button] });
    group = placed.group;
  }
  return blocks;
}

function plainText(text: string): types.PlainTextElement {
  return { type: 'plain_text', text, emoji: true };
}
