/** How the buttons of a message are laid out and called. */
import type { ActionButton, Button, Message } from '../../core/message.ts';

/** Buttons that fit into one row everywhere. */
const ROW = 5;
/** Before a menu: it is a row of its own, and links still fit. */
const BEFORE_MENU = 4;

export interface ArrangedButtons {
  /** In one row. */
  readonly shown: readonly Button[];
  /** Behind a menu, none where all fit. */
  readonly more: readonly ActionButton[];
}

/** Actions in their order, those past the fourth behind a menu where there are more than fit into a row. One is primary at most. */
export function arrangeButtons(given: readonly Button[]): ArrangedButtons {
  const buttons = distinctlyNamed(given);
  const links = buttons.filter((button) => button.type === 'link');
  const all = buttons.filter((button) => button.type === 'action');
  const primary = all.find(({ emphasis }) => emphasis === 'primary');
  const actions = all.map((button) => (button === primary ? button : withoutPrimary(button)));
  const fit = buttons.length <= ROW ? ROW : Math.min(BEFORE_MENU, ROW - links.length);
  return { shown: [...actions.slice(0, fit), ...links], more: actions.slice(fit) };
}

/** The same buttons, where a later one of the same name has a number. A button that comes twice is still one. */
function distinctlyNamed(buttons: readonly Button[]): readonly Button[] {
  const named = new Map<string, Set<string>>();
  return buttons.map((button) => {
    const label = button.label.trim();
    const targets = named.get(label) ?? new Set();
    named.set(label, targets.add(button.type === 'link' ? button.url : button.id));
    return targets.size === 1 || label === '' ? button : { ...button, label: `${label} (${targets.size})` };
  });
}

/** What a button is called where it is heard alone: its label, and what it acts on. Plain. */
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
