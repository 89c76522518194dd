/** What all chats do alike with the parts of a message: which buttons are seen at once, and what is left unsaid. */
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
export function arrangeButtons(buttons: readonly Button[]): ArrangedButtons {
  const links = buttons.filter((button) => button.type === 'link');
  const all = buttons.filter((button) => button.type === 'action');
  const primary = all.find(({ emphasis }) => emphasis === 'primary');
  const actions = all.map((button) => (button === primary ? button : withoutPrimary(button)));
  const fit = buttons.length <= ROW ? ROW : BEFORE_MENU;
  return { shown: [...actions.slice(0, fit), ...links], more: actions.slice(fit) };
}

function withoutPrimary(button: ActionButton): ActionButton {
  if (button.emphasis !== 'primary') return button;
  const { emphasis: _, ...plain } = button;
  return plain;
}

/** The stage of the message's progress, empty where its title says the same. */
export function stageToSay({ title = '', progress }: Message): string {
  const stage = progress?.stage.trim() ?? '';
  return title.toLowerCase().startsWith(stage.toLowerCase()) ? '' : stage;
}

export function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}
