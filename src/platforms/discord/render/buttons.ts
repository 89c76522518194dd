/** Renders a message's buttons: a row for each group, and menus with the rest. */
import {
  type APIActionRowComponent,
  type APIButtonComponent,
  type APIComponentInMessageActionRow,
  type APIMessageComponentEmoji,
  type APIStringSelectComponent,
  ButtonStyle,
  ComponentType,
} from 'discord.js';
import type { ActionButton, Button, Icon, LinkButton } from '../../../core/message.ts';
import { ellipsis } from '../../../core/util/words.ts';
import { arrangeButtons, chunks, MENU_TEXT, shownLabel } from '../../shared/buttons.ts';
import { EMOJI } from '../../shared/icons.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import { disableMentions, safeUrl } from './escape.ts';

/** The `custom_id` of the button that opens a thread. It needs no target: the thread belongs to its message. */
export const OPEN_THREAD = 'thread';

export type Row = APIActionRowComponent<APIComponentInMessageActionRow>;

/** The prefix of a menu's `custom_id`. The chosen value is the action's id. */
const MENU_PREFIX = 'more';

/** Toggles between two `custom_id`s of a menu: clients reset a menu when its id changes. */
export const alternateMenuId = (id: string): string => (id.endsWith(':') ? id.slice(0, -1) : `${id}:`);

/**
 * Renders rows of buttons, and menus with the rest. Long labels are shortened, and duplicate ids are
 * dropped.
 * @returns `messages`: the rows of each message, at most five; `links`: buttons whose address is too long
 */
export function renderButtons(buttons: readonly Button[]) {
  const ids = new Set(['']);
  const unique = buttons.filter((button) => {
    if (button.type === 'link') return true;
    const isNew = button.id.length <= DISCORD_LIMITS.customId && !ids.has(button.id);
    ids.add(button.id);
    return isNew;
  });
  const { rows: arranged, more } = arrangeButtons(unique);
  const rows: Row[] = [
    ...arranged.flatMap((row) => chunks(row.flatMap(renderButton), DISCORD_LIMITS.buttonsInRow)),
    ...chunks(more, DISCORD_LIMITS.menuOptions).map((some, index) => [menu(some, index)]),
  ].map((components) => ({ type: ComponentType.ActionRow, components }));
  const links = unique.filter((button) => button.type === 'link').filter((button) => !linkButton(button));
  return { messages: chunks(rows, DISCORD_LIMITS.rows), links };
}

const menu = (buttons: readonly ActionButton[], index: number): APIStringSelectComponent => ({
  type: ComponentType.StringSelect,
  custom_id: `${MENU_PREFIX}:${index}`,
  placeholder: MENU_TEXT,
  options: buttons.map(({ id, label, group = '', item, about = '', hint = '', icon }) => ({
    // Discord's menus have no groups.
    label: labelOf(item === undefined ? label : `${group}: ${item}`),
    value: id,
    ...emojiOf(icon),
    ...descriptionOf(about.trim() === '' ? hint : about),
  })),
});

const descriptionOf = (text: string): { description?: string } =>
  text.trim() === ''
    ? {}
    : { description: ellipsis(disableMentions(text.trim()), DISCORD_LIMITS.menuDescription) };

const emojiOf = (icon: Icon | undefined): { emoji?: APIMessageComponentEmoji } =>
  icon === undefined ? {} : { emoji: { name: EMOJI[icon] } };

function renderButton(button: Button): APIButtonComponent[] {
  if (button.type === 'action') return [actionButton(button)];
  const link = linkButton(button);
  return link ? [link] : [];
}

function linkButton({ url, icon, ...button }: LinkButton): APIButtonComponent | undefined {
  const safe = safeUrl(url);
  if (safe === undefined || safe.length > DISCORD_LIMITS.buttonUrl) return undefined;
  return {
    type: ComponentType.Button,
    style: ButtonStyle.Link,
    label: labelOf(shownLabel(button)),
    ...emojiOf(icon),
    url: safe,
  };
}

const actionButton = ({ id, emphasis, icon, ...button }: ActionButton): APIButtonComponent => ({
  type: ComponentType.Button,
  style: emphasis === 'primary' ? ButtonStyle.Primary : ButtonStyle.Secondary,
  label: labelOf(shownLabel(button)),
  ...emojiOf(icon),
  custom_id: id,
});

const labelOf = (text: string): string =>
  ellipsis(disableMentions(text.trim()) || '…', DISCORD_LIMITS.buttonLabel);
