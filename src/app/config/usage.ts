/** Settings for served servers, limits, prices and concurrency. */
import { closest } from 'fastest-levenshtein';
import { z } from 'zod';
import { FAMILIES, type Family, LIMITED } from '../../core/models/family.ts';
import { parseModelName } from '../../core/models/model-name.ts';
import { LIMIT_PERIODS, type Limit } from '../../core/moderation.ts';
import { isMusicModel, MUSIC_MODELS } from '../../gateway/music/requests.ts';
import { FAMILY_OF } from '../../settings/limits/meter.ts';
import { commaSeparated, readable } from './fields.ts';

const SCOPES: ReadonlyMap<string, Limit['scope']> = new Map([
  ['person', 'personOnPlatform'],
  ['channel', 'channel'],
  ['server', 'server'],
  ['deployment', 'deployment'],
]);
const LIMIT = /^(\w+)(?:\s+(\w+))?\s+(\d{1,9}(?:\.\d{1,3})?)(\s*units)?\s*\/\s*(\w+)$/;

function readLimit(text: string): Limit | undefined {
  const [, scopeWord, familyWord, most, units, perWord] = LIMIT.exec(text) ?? [];
  const scope = SCOPES.get(scopeWord ?? '');
  const family = LIMITED.find((known) => known === familyWord);
  const per = LIMIT_PERIODS.find((known) => known === perWord);
  if (!scope || !per || (familyWord && !family)) return undefined;
  return { scope, ...(family && { family }), per, of: units ? 'units' : 'requests', most: Number(most) };
}

/** Returns undefined if any item is invalid. */
function allValid<Item>(items: readonly (Item | undefined)[]): Item[] | undefined {
  const read = items.filter((item) => item !== undefined);
  return read.length === items.length ? read : undefined;
}

export const usageLimits = readable(
  'limits separated by commas, such as "person song 5/day, server 500/day, deployment 2000 units/day". Scopes are person, channel, server and deployment; families are song, ask, image, video and party',
  (value) => allValid(commaSeparated(value).map(readLimit)),
);

const PRICE = /^([\w.:/@+-]{1,200})\s*=\s*(\d{1,9}(?:\.\d{1,6})?)$/;
const METERED_ROUTES = Object.keys(FAMILY_OF);

/** Returns the most similar name that can have a price; the name itself if it is known. */
function nearestPriced(name: string): string {
  const [, family, rest = ''] = /^(\w+):(.+)$/.exec(name) ?? [];
  const known = FAMILIES.find((one) => one === family);
  if (known === undefined) return closest(name, [...FAMILIES, ...METERED_ROUTES]);
  const { route, id: model } = parseModelName('ask', rest);
  if (known === 'song') return isMusicModel(model) ? name : `song:${closest(model, MUSIC_MODELS)}`;
  return route === undefined ? name : `${known}:${model}`;
}

const PRICES =
  'prices separated by commas, each for a family, a family and model, or a route, such as "song=10, video=50, ask:some-model=3, music.vocalRemoval=2"';

export const usageCosts = z.string().transform((value, context): Readonly<Record<string, number>> => {
  const prices = new Map<string, number>();
  const refuse = (message: string) => context.addIssue({ code: 'custom', message });
  for (const item of commaSeparated(value)) {
    const [, name, units] = PRICE.exec(item) ?? [];
    if (name === undefined) refuse(`is ${JSON.stringify(item.slice(0, 60))}: it must be ${PRICES}.`);
    else if (nearestPriced(name) !== name)
      refuse(
        `has a price for ${name}, which does not exist: did you mean ${nearestPriced(name)}? Routes are ${METERED_ROUTES.join(', ')}.`,
      );
    else if (prices.has(name)) refuse(`has two prices for ${name}: remove one.`);
    else prices.set(name, Number(units));
  }
  return Object.fromEntries(prices);
});

export const serverList = readable(
  'IDs of servers and workspaces separated by commas, such as "1100000000000000001, slack:T0ABCDEFG", with "direct" for direct messages on Discord',
  (value) => {
    const ids = commaSeparated(value);
    return ids.every((id) => /^((discord|slack):)?[\w-]{1,64}$/.test(id)) ? ids : undefined;
  },
);

/** Defaults for families that are not set. */
const CONCURRENCY = { song: 10, ask: 16, image: 4, video: 3 } as const satisfies Record<Family, number>;

export const concurrency = readable(
  'a number for each family, separated by commas, such as "song=10, ask=16, image=4, video=3"',
  (value): Readonly<Record<Family, number>> | undefined => {
    const entries = commaSeparated(value).map((item) => {
      const [, name, most] = /^(\w+)\s*=\s*([1-9]\d{0,3})$/.exec(item) ?? [];
      const family = FAMILIES.find((known) => known === name);
      return family && ([family, Number(most)] as const);
    });
    const read = allValid(entries);
    return read && { ...CONCURRENCY, ...Object.fromEntries(read) };
  },
);
