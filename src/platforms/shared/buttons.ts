/** Layout and accessible names of a message's buttons. */
import type { ActionButton, Button, Message } from '../../core/message.ts';

/** Buttons that fit in one row on every platform. */
const ROW = 5;
/** Buttons shown before a menu, which takes its own row. Leaves space for links. */
const BEFORE_MENU = 4;

export interface ArrangedButtons {
  readonly shown: readonly Button[];
  /** Actions in the overflow menu; empty if all buttons fit. */
  readonly more: readonly ActionButton[];
}

/** Arranges actions in one row. If they don't fit, those after the fourth move into a menu. At most one stays primary. */
export function arrangeButtons(input: readonly Button[]): ArrangedButtons {
  const buttons = withDistinctLabels(input);
  const links = buttons.filter((button) => button.type === 'link');
  const all = buttons.filter((button) => button.type === 'action');
  const primary = all.find(({ emphasis }) => emphasis === 'primary');
  const actions = all.map((button) => (button === primary ? button : withoutPrimary(button)));
  const fit = buttons.length <= ROW ? ROW : Math.min(BEFORE_MENU, ROW - links.length);
  return { shown: [...actions.slice(0, fit), ...links], more: actions.slice(fit) };
}

/** Numbers buttons that share a label but have different targets. */
function withDistinctLabels(buttons: readonly Button[]): readonly Button[] {
  const targetsByLabel = new Map<string, Set<string>>();
  return buttons.map((button) => {
    const label = button.label.trim();
    const targets = targetsByLabel.get(label) ?? new Set();
    targetsByLabel.set(label, targets.add(button.type === 'link' ? button.url : button.id));
    return targets.size === 1 || label === '' ? button : { ...button, label: `${label} (${targets.size})` };
  });
}

/** The button's accessible name as plain text: its label and the subject of its action. */
export function spokenName(button: Button, { title = '' }: Pick<Message, 'title'>): string {
  const about = (button.type === 'action' ? button.about : undefined) ?? title;
  return about.trim() === '' ? button.label : `${button.label}: ${about}`;
}

function withoutPrimary(button: ActionButton): ActionButton {
  if (button.emphasis !== 'primary') return button;
  const { emphasis: _, ...plain } = button;
  return plain;
}

export function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}
