import {
  type APIActionRowComponent,
  type APIButtonComponent,
  type APIComponentInMessageActionRow,
  ButtonStyle,
  ComponentType,
} from 'discord.js';
import type { Button } from '../../message.ts';
import { deadenMentions, safeUrl } from './escape.ts';
import { LIMITS } from './limits.ts';

export type Row = APIActionRowComponent<APIComponentInMessageActionRow>;

export interface RenderedButtons {
  /** One entry a message: rows of five, five rows at most. */
  readonly messages: Row[][];
  /** Links that are no button because their address is too long for one. */
  readonly links: { readonly label: string; readonly url: string }[];
}

/** Buttons in rows of five, groups in rows of their own. Long labels are shortened; an id that comes twice is one button. */
export function renderButtons(buttons: readonly Button[]): RenderedButtons {
  const links: RenderedButtons['links'] = [];
  const seen = new Set<string>();
  const rendered = buttons.flatMap((button): Placed[] => {
    const { group } = { group: undefined, ...button };
    if (button.type === 'link') {
      const url = safeUrl(button.url);
      if (url !== undefined && url.length <= LIMITS.buttonUrl)
        return [
          {
            group,
            button: { type: ComponentType.Button, style: ButtonStyle.Link, label: label(button.label), url },
          },
        ];
      links.push({ label: button.label, url: button.url });
      return [];
    }
    if (button.id === '' || button.id.length > LIMITS.customId || seen.has(button.id)) return [];
    seen.add(button.id);
    const emoji =
      button.emoji !== undefined && /^\p{RGI_Emoji}$/v.test(button.emoji)
        ? { emoji: { name: button.emoji } }
        : {};
    return [
      {
        group,
        button: {
          type: ComponentType.Button,
          style: style(button.emphasis),
          label: label(button.label),
          custom_id: button.id,
          ...emoji,
        },
      },
    ];
  });
  return {
    messages: chunks(rowsOf(rendered), ROWS),
    links,
  };
}

const ROWS = LIMITS.buttons / LIMITS.buttonsInRow;

interface Placed {
  readonly group: string | undefined;
  readonly button: APIButtonComponent;
}

/** Each named group in rows of even length; where that makes more rows than a message has, they are filled one by one. */
function rowsOf(buttons: readonly Placed[]): Row[] {
  const groups: Placed[][] = [];
  for (const placed of buttons) {
    const last = groups.at(-1);
    if (last && last[0]?.group === placed.group) last.push(placed);
    else groups.push([placed]);
  }
  const grouped = groups.flatMap((group) => {
    const rows = Math.ceil(group.length / LIMITS.buttonsInRow);
    const isNamed = group[0]?.group !== undefined;
    return chunks(group, isNamed ? Math.ceil(group.length / rows) : LIMITS.buttonsInRow);
  });
  const filled = chunks(buttons, LIMITS.buttonsInRow);
  const rows = grouped.length <= ROWS ? grouped : filled;
  return rows.map((some) => row(some.map(({ button }) => button)));
}

const row = (components: APIButtonComponent[]): Row => ({ type: ComponentType.ActionRow, components });

function style(
  emphasis: 'primary' | 'danger' | undefined,
): ButtonStyle.Primary | ButtonStyle.Danger | ButtonStyle.Secondary {
  if (emphasis === 'primary') return ButtonStyle.Primary;
  return emphasis === 'danger' ? ButtonStyle.Danger : ButtonStyle.Secondary;
}

function label(text: string): string {
  const safe = deadenMentions(text.trim()) || '…';
  return shorten(safe, LIMITS.buttonLabel);
}

/** At most `length` characters, with an ellipsis where something is missing; never half a character. */
export function shorten(text: string, length: number): string {
  if (text.length <= length) return text;
  return `${text.slice(0, length - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

export function chunks<Item>(items: readonly Item[], size: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}
