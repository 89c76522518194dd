/** Texts about usage. */

import { type Chart, type Message, plain, type Table } from '../../src/core/message.ts';
import { familyTitle } from '../../src/core/models/family.ts';
import type {
  DayUsage,
  FamilyUsage,
  ModelFeedback,
  PersonUsage,
  SettledUsage,
  UsageReport,
} from '../../src/core/moderation.ts';
import { dayOf } from '../../src/core/util/clock.ts';
import { present } from '../../src/core/util/present.ts';
import { amount, counted, lastDays, longDay, shortDay } from '../../src/core/util/words.ts';

/** Lines per section. The report states how many more there are. */
const MOST_LISTED = 25;

const UNCERTAIN = 'Uncertain: the service may have accepted these jobs, so they count towards limits.';

interface ReportOptions {
  readonly days: number;
  /** Requests have prices. */
  readonly hasUnits: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

export function usageReport(report: UsageReport, { days, hasUnits, now }: ReportOptions): Message {
  const { days: rows, people, peopleInAll, chart, feedback } = report;
  const votes = feedback.map(({ model, good, bad }) => `${model}: ${amount(good)} good, ${amount(bad)} bad`);
  if (rows.length + votes.length === 0) return { text: `No usage in ${lastDays(days)}.` };
  const types = byType(rows);
  const persons = byPerson(people);
  const byDay = [...byKey(rows, 'day')]
    .toSorted(([left], [right]) => right.localeCompare(left))
    .map(([day, sum]) => [longDay(Date.parse(day)), sum] as const);
  const sections = [
    ['Total', valueLines(new Map([['All jobs', total(rows)]]), hasUnits)],
    ['By kind', valueLines(types, hasUnits)],
    ['By person', valueLines(persons, hasUnits, peopleInAll)],
    ['By day (UTC)', valueLines(new Map(byDay), hasUnits)],
    ...(votes.length === 0 ? [] : [['Votes on answers', shortList(votes)] as const]),
  ] as const;
  const alt = `Jobs by day and kind over ${lastDays(days)}`;
  return present({
    title: `Usage in ${lastDays(days)}`,
    fields: sections.map(([name, lines]) => ({ name, value: lines.join('\n') })),
    footer: rows.some(({ uncertain }) => uncertain > 0) ? UNCERTAIN : undefined,
    media: chart && [
      {
        kind: 'image' as const,
        name: 'usage.png',
        source: { type: 'stored' as const, file: chart },
        alt,
        cover: true,
      },
    ],
    data: present({
      chart: rows.length === 0 ? undefined : chartOf(rows, { days, now }),
      tables: [
        tableOf('By kind', 'Kind', types, hasUnits),
        tableOf('By person', 'Person', persons, hasUnits),
        ...(feedback.length === 0 ? [] : [votesTable(feedback)]),
      ].filter(({ rows: lines }) => lines.length > 0),
    }),
  });
}

/** Bars that a chart has room for. */
const MOST_BARS = 10;
const DAY = 86_400_000;

/** Bars of one day each, or of several days. They are named after their first day. */
function chartOf(rows: readonly DayUsage[], { days, now }: Pick<ReportOptions, 'days' | 'now'>): Chart {
  const size = Math.ceil(days / MOST_BARS);
  const count = Math.ceil(days / size);
  const firstDay = Date.parse(dayOf(now)) - (count * size - 1) * DAY;
  const barOf = (day: string) => Math.max(0, Math.floor((Date.parse(day) - firstDay) / (size * DAY)));
  const series = [...Map.groupBy(rows, ({ family }) => family)].map(([family, used]) => {
    const values = Array.from({ length: count }, () => 0);
    for (const { day, requests } of used) {
      const bar = Math.min(count - 1, barOf(day));
      values[bar] = (values[bar] ?? 0) + requests;
    }
    return { name: familyTitle(family), values };
  });
  const categories = Array.from({ length: count }, (_, bar) => shortDay(firstDay + bar * size * DAY));
  return { title: size === 1 ? 'Jobs by day' : `Jobs per ${size} days`, categories, series };
}

function tableOf(
  caption: string,
  first: string,
  sums: ReadonlyMap<string, SettledUsage>,
  hasUnits: boolean,
): Table {
  const hasUncertain = [...sums.values()].some(({ uncertain }) => uncertain > 0);
  return {
    caption,
    columns: [first, 'Jobs', ...(hasUnits ? ['Units'] : []), ...(hasUncertain ? ['Uncertain'] : [])],
    rows: [...sums].map(([name, { requests, units, uncertain }]) => [
      name,
      requests,
      ...(hasUnits ? [units] : []),
      ...(hasUncertain ? [uncertain] : []),
    ]),
  };
}

const votesTable = (feedback: readonly ModelFeedback[]): Table => ({
  caption: 'Votes on answers',
  columns: ['Model', 'Good', 'Bad'],
  rows: feedback.map(({ model, good, bad }) => [model, good, bad]),
});

export function ownUsageText(rows: readonly FamilyUsage[], days: number, hasUnits: boolean): string {
  if (rows.length === 0) return `You haven't used anything here in ${lastDays(days)}.`;
  const note = rows.some(({ uncertain }) => uncertain > 0) ? `\n\n${UNCERTAIN}` : '';
  return `Your usage here in ${lastDays(days)}:\n\n${list(byType(rows), hasUnits)}${note}`;
}

const list = (sums: ReadonlyMap<string, SettledUsage>, hasUnits: boolean): string =>
  valueLines(sums, hasUnits)
    .map((line) => `- ${plain(line)}`)
    .join('\n');

/** Plain text. `count` includes what is not listed. */
function valueLines(sums: ReadonlyMap<string, SettledUsage>, hasUnits: boolean, count = sums.size): string[] {
  const listed = [...sums].slice(0, MOST_LISTED).map(([name, { requests, units, uncertain }]) => {
    const cost = hasUnits ? `, ${counted(units, 'unit')}` : '';
    const uncertainText = uncertain > 0 ? ` (${amount(uncertain)} uncertain)` : '';
    return `${name}: ${amount(requests)}${cost}${uncertainText}`;
  });
  return shortList(listed, count);
}

function shortList(lines: readonly string[], count = lines.length): string[] {
  const listed = lines.slice(0, MOST_LISTED);
  const more = count - listed.length;
  return [...listed, ...(more > 0 ? [`and ${more} more`] : [])];
}

function total(rows: readonly SettledUsage[]): SettledUsage {
  return rows.reduce<SettledUsage>(
    (sum, { requests, units, uncertain }) => ({
      requests: sum.requests + requests,
      units: sum.units + units,
      uncertain: sum.uncertain + uncertain,
    }),
    { requests: 0, units: 0, uncertain: 0 },
  );
}

function byType(rows: readonly FamilyUsage[]): ReadonlyMap<string, SettledUsage> {
  return new Map([...byKey(rows, 'family')].map(([family, sum]) => [familyTitle(family), sum]));
}

/** Sorted by requests, most first. */
function byKey<Key extends 'day' | 'family'>(
  rows: readonly (SettledUsage & Pick<DayUsage, Key>)[],
  key: Key,
): ReadonlyMap<string, SettledUsage> {
  const sums = [...Map.groupBy(rows, (row) => row[key])].map(
    ([name, group]) => [name, total(group)] as const,
  );
  return new Map(sums.toSorted(([, left], [, right]) => right.requests - left.requests));
}

/** Adds the id to a display name that several people share. */
function byPerson(people: readonly PersonUsage[]): ReadonlyMap<string, SettledUsage> {
  const counts = new Map<string, number>();
  return new Map(
    people.map(({ person, displayName: name, ...sum }) => {
      const before = counts.get(name) ?? 0;
      counts.set(name, before + 1);
      return [before === 0 ? name : `${name} (${person})`, sum];
    }),
  );
}
