/** Settings about who is served, and how much may be used. */
import { open } from './fields.ts';

const SCOPES = ['person', 'channel', 'server', 'deployment'] as const;
const FAMILIES = ['song', 'ask', 'image', 'video'] as const;
const PERIODS = ['hour', 'day'] as const;

interface OperatorLimit {
  readonly scope: (typeof SCOPES)[number];
  readonly family?: (typeof FAMILIES)[number];
  readonly per: (typeof PERIODS)[number];
  readonly of: 'requests' | 'units';
  readonly most: number;
}

const LIMIT = /^(\w+)(?:\s+(\w+))?\s+(\d{1,9}(?:\.\d{1,3})?)(\s*units)?\s*\/\s*(\w+)$/;

function readLimit(text: string): OperatorLimit | undefined {
  const [, scopeWord, familyWord, most, units, perWord] = LIMIT.exec(text.trim()) ?? [];
  const scope = SCOPES.find((known) => known === scopeWord);
  const family = FAMILIES.find((known) => known === familyWord);
  const per = PERIODS.find((known) => known === perWord);
  if (scope === undefined || per === undefined || (familyWord !== undefined && family === undefined))
    return undefined;
  return {
    scope,
    ...(family === undefined ? {} : { family }),
    per,
    of: units === undefined ? 'requests' : 'units',
    most: Number(most),
  };
}

const listOf = (value: string): string[] => value.split(',').map((item) => item.trim());

/** Items that are all readable, or undefined. */
function all<Item>(items: readonly (Item | undefined)[]): Item[] | undefined {
  const read = items.filter((item) => item !== undefined);
  return read.length === items.length ? read : undefined;
}

export const limits = open(
  'limits with commas between them, each as a scope (person, channel, server or deployment), perhaps a family (song, ask, image or video), and how much, such as "person song 5/day, server 500/day, deployment 2000 units/day"',
  (value) => all(listOf(value).map(readLimit)),
);

const PRICE = /^([\w.:/@+-]{1,200})\s*=\s*(\d{1,9}(?:\.\d{1,6})?)$/;
const PRICED = new RegExp(`^(${FAMILIES.join('|')})(:.+)?$|^(music|media|gen)\\.\\w+$|^answer$`);

export const costs = open(
  'prices with commas between them, each of a family, a family and its model, or a route, such as "song=10, video=50, ask:some-model=3, music.vocalRemoval=2"',
  (value): Readonly<Record<string, number>> | undefined => {
    const prices = all(
      listOf(value).map((item) => {
        const [, name, units] = PRICE.exec(item) ?? [];
        return name !== undefined && PRICED.test(name) ? ([name, Number(units)] as const) : undefined;
      }),
    );
    return prices && Object.fromEntries(prices);
  },
);

export const servers = open(
  'ids of servers and workspaces with commas between them, such as "1100000000000000001, slack:T0ABCDEFG", and "direct" for direct messages on Discord',
  (value) => {
    const ids = listOf(value);
    return ids.every((id) => /^((discord|slack):)?[\w-]{1,64}$/.test(id)) ? ids : undefined;
  },
);
