/** What people used, in words. */
import { type Message, plain } from '../src/message.ts';
import type { UsageReport, UsageRow } from '../src/moderation.ts';
import { amount } from './moderation-text.ts';

/** People and days that a report lists; it says how many more there are. */
const MOST_LISTED = 25;

interface Sum {
  readonly requests: number;
  readonly units: number;
}

export function usageReport({ rows, chart }: UsageReport, days: number, hasUnits: boolean): Message {
  if (rows.length === 0) return { text: `Nothing was used in the last ${days} days.` };
  const list = (title: string, sums: ReadonlyMap<string, Sum>) => [
    `**${title}**`,
    lines(sums, hasUnits).join('\n'),
  ];
  return {
    title: `Used in the last ${days} days`,
    text: [
      ...list('All', new Map([['Together', total(rows)]])),
      ...list(
        'By what',
        byKey(rows, ({ family }) => family),
      ),
      ...list('By person', byPerson(rows)),
      ...list('By day (UTC)', newestFirst(byKey(rows, ({ day }) => day))),
    ].join('\n\n'),
    ...(chart
      ? {
          media: [
            {
              kind: 'image' as const,
              name: 'usage.png',
              source: { type: 'kept' as const, file: chart },
              alt: `Requests by day and family over the last ${days} days`,
            },
          ],
        }
      : {}),
  };
}

/** One person's own, by what. */
export function ownUsageText(rows: readonly UsageRow[], days: number, hasUnits: boolean): string {
  if (rows.length === 0) return `You used nothing here in the last ${days} days.`;
  return [
    `In the last ${days} days you used here:`,
    lines(
      byKey(rows, ({ family }) => family),
      hasUnits,
    ).join('\n'),
  ].join('\n\n');
}

function lines(sums: ReadonlyMap<string, Sum>, hasUnits: boolean): string[] {
  const listed = [...sums].slice(0, MOST_LISTED).map(([name, { requests, units }]) => {
    const cost = hasUnits ? `, ${amount(units)} units` : '';
    return `- ${plain(name)}: ${amount(requests)}${cost}`;
  });
  const more = sums.size - listed.length;
  return more > 0 ? [...listed, `- and ${more} more`] : listed;
}

function total(rows: readonly UsageRow[]): Sum {
  return rows.reduce<Sum>(
    (sum, { requests, units }) => ({ requests: sum.requests + requests, units: sum.units + units }),
    { requests: 0, units: 0 },
  );
}

/** Most first. */
function byKey(rows: readonly UsageRow[], key: (row: UsageRow) => string): ReadonlyMap<string, Sum> {
  const sums = [...Map.groupBy(rows, key)].map(([name, some]) => [name, total(some)] as const);
  return new Map(sums.toSorted(([, left], [, right]) => right.requests - left.requests));
}

/** By id, since two may have one name; shown by the latest name. */
function byPerson(rows: readonly UsageRow[]): ReadonlyMap<string, Sum> {
  const named = new Map(rows.map(({ person, displayName }) => [person, displayName]));
  const taken = new Map<string, number>();
  return new Map(
    [...byKey(rows, ({ person }) => person)].map(([person, sum]) => {
      const name = named.get(person) ?? person;
      const before = taken.get(name) ?? 0;
      taken.set(name, before + 1);
      return [before === 0 ? name : `${name} (${person})`, sum];
    }),
  );
}

function newestFirst(sums: ReadonlyMap<string, Sum>): ReadonlyMap<string, Sum> {
  return new Map([...sums].toSorted(([left], [right]) => right.localeCompare(left)));
}
