/** Layout and accessible names of a message's buttons. */
import type { ActionButton, Button, Message } from '../../core/message.ts';

/** Buttons that fit in one row on every platform. */
const ROW = 5;
/** Buttons shown before a menu, which takes its own row. Leaves space for links. */
const BEFORE_MENU = 4;

export interface ArrangedButtons {
  /** Not empty, of at most {@link ROW} actions, plus links. */
  readonly rows: readonly (readonly Button[])[];
  /** Actions in the overflow menu, group by group; empty if all buttons fit. */
  readonly more: readonly ActionButton[];
}

/**
 * Arranges buttons in one row for each group, and one for the others. Actions with a hint, and those that don't fit, go into a
 * menu. At most one stays primary in each row.
 */
export function arrangeButtons(input: readonly Button[]): ArrangedButtons {
  const groups = Map.groupBy(withDistinctLabels(input), (button) =>
    button.type === 'action' ? (button.group ?? '') : '',
  );
  const ungrouped = groups.get('') ?? [];
  groups.delete('');
  const arranged = [...groups.values(), ungrouped].map(arrangeRow);
  return {
    rows: arranged.flatMap(({ row }) => (row.length > 0 ? [row] : [])),
    more: arranged.flatMap(({ more }) => more),
  };
}

function arrangeRow(buttons: readonly Button[]): { row: Button[]; more: ActionButton[] } {
  const actions = buttons.filter((button) => button.type === 'action');
  const clear = actions.filter(({ hint = '' }) => hint.trim() === '');
  const links = buttons.length - actions.length;
  const fit = clear.length + links <= ROW ? ROW : Math.max(0, Math.min(BEFORE_MENU, ROW - links));
  const primary = actions.find(({ emphasis }) => emphasis === 'primary');
  const shown = clear.slice(0, fit);
  const more = actions.filter((button) => !shown.includes(button));
  const row = buttons
    .filter((button) => button.type === 'link' || shown.includes(button))
    .map((button) => (button === primary || button.type === 'link' ? button : withoutPrimary(button)));
  return { row, more: more.map(withoutPrimary) };
}

/** Numbers buttons that share a label but have different targets. Keeps only short labels that are distinct. */
function withDistinctLabels(buttons: readonly Button[]): readonly Button[] {
  const shorts = Map.groupBy(buttons, shownLabel);
  const targetsByLabel = new Map<string, Set<string>>();
  return buttons.map((button) => {
    const label = button.label.trim();
    const targets = targetsByLabel.get(label) ?? new Set();
    targetsByLabel.set(label, targets.add(button.type === 'link' ? button.url : button.id));
    const isDistinct = shorts.get(shownLabel(button))?.length === 1;
    const { short: _, ...long } = button;
    const shown = isDistinct ? button : long;
    return targets.size === 1 || label === '' ? shown : { ...shown, label: `${label} (${targets.size})` };
  });
}

/** The label in a row of buttons. */
export function shownLabel({ label, short = '' }: Pick<Button, 'label' | 'short'>): string {
  return (short.trim() === '' ? label : short).trim();
}

/** The text of a menu with the actions that are not in a row. */
export const MENU_TEXT = 'More actions';

/** The button's accessible name as plain text: its label and the subject of its action. */
export function accessibleNameOf(button: Button, { title = '' }: Pick<Message, 'title'>): string {
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
