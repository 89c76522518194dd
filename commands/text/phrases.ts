/** Helpers for texts, and fields that all results share. */
import type { JobView } from '../../src/core/job.ts';
import { type Button, type Field, plain } from '../../src/core/message.ts';
import { own } from '../../src/core/util/own.ts';
import { beginning, ellipsis } from '../../src/core/util/words.ts';

/** Cuts to at most `most` characters, at a word if possible. */
export function clip(text: string, most: number): string {
  const flat = text.replace(/\s+/g, ' ').trim();
  if (flat.length <= most) return flat;
  const cut = beginning(flat, most);
  const space = cut.lastIndexOf(' ');
  return (space > most / 2 ? cut.slice(0, space) : cut).trim();
}

export function words(text: string, most: number): string {
  return text.trim().split(/\s+/).slice(0, most).join(' ');
}

/** Cuts to at most `most` characters, at a word if possible, and adds an ellipsis. */
export function shortened(text: string, most: number): string {
  const whole = clip(text, text.length);
  return whole.length <= most ? whole : `${clip(text, most - 1)}…`;
}

/** In quotation marks, short enough for a heading. */
export function quoted(text: string): string {
  return `“${shortened(text, 81)}”`;
}

/** A field as a line of Markdown. */
export function fieldLine({ name, value }: Field): string {
  return `**${plain(name)}**: ${plain(value)}`;
}

/** The small print of results. */
export function requestedBy({ person }: JobView): string {
  return `Requested by ${person.displayName}`;
}

/** How a song came from another, by the option “mode”. */
const ORIGINS: Readonly<Record<string, string>> = {
  cover: 'Cover of',
  extend: 'Extended from',
  vocals: 'Vocals added to',
  instrumental: 'Band added to',
};

/** Approximate limit of button labels on Discord and Slack. */
const LABEL_LENGTH = 75;

/** A field and a link that lead to a result's source. The platform may have no link. */
export function lineage({ basedOn, parentUrl, options: { mode = '' } = {} }: JobView): {
  readonly fields: readonly Field[];
  readonly actions: readonly Button[];
} {
  const short = 'Open original';
  const text = basedOn === undefined ? short : `${short}: ${basedOn}`;
  const label = ellipsis(text, LABEL_LENGTH);
  return {
    fields: basedOn === undefined ? [] : [{ name: own(ORIGINS, mode) ?? 'Made from', value: basedOn }],
    actions: parentUrl === undefined ? [] : [{ type: 'link', url: parentUrl, label, short, icon: 'open' }],
  };
}
