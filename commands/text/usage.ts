/** Texts about usage. */
import { type Message, plain } from '../../src/core/message.ts';
import type {
  DayUsage,
  FamilyUsage,
  PersonUsage,
  SettledUsage,
  UsageReport,
} from '../../src/core/moderation.ts';
import { present } from '../../src/core/util/present.ts';
import { amount, counted, lastDays } from '../../src/core/util/words.ts';

/** Lines per section. The report states how many more there are. */
const MOST_LISTED = 25;

const UNCERTAIN = 'Uncertain: the gateway may have accepted these requests, so they count towards limits.';

export function usageReport(
  { days: rows, people, peopleInAll, chart, feedback }: UsageReport,
  days: number,
  hasUnits: boolean,
): Message {
  const votes = feedback.map(
    ({ model, good, bad }) => `- ${plain(model)}: ${amount(good)} good, ${amount(bad)} bad`,
  );
  const voteSections = votes.length === 0 ? [] : [['Votes on answers', shortList(votes)] as const];
  if (rows.length + votes.length === 0) return { text: `No usage in ${lastDays(days)}.` };
  const byDay = [...byKey(rows, 'day')].toSorted(([left], [right]) => right.localeCompare(left));
  const sections = [
    ['Total', list(new Map([['All requests', total(rows)]]), hasUnits)],
    ['By type', list(byKey(rows, 'family'), hasUnits)],
    ['By person', list(byPerson(people), hasUnits, peopleInAll)],
    ['By day (UTC)', list(new Map(byDay), hasUnits)],
    ...voteSections,
  ] as const;
  const alt = `Requests by day and type over ${lastDays(days)}`;
  return present({
    title: `Usage in ${lastDays(days)}`,
    text: sections.map(([title, lines]) => `**${title}**\n\n${lines}`).join('\n\n'),
    footer: rows.some(({ uncertain }) => uncertain > 0) ? UNCERTAIN : undefined,
    media: chart && [
      { kind: 'image' as const, name: 'usage.png', source: { type: 'stored' as const, file: chart }, alt },
    ],
  });
}

export function ownUsageText(rows: readonly FamilyUsage[], days: number, hasUnits: boolean): string {
  if (rows.length === 0) return `You have used nothing here in ${lastDays(days)}.`;
  const note = rows.some(({ uncertain }) => uncertain > 0) ? `\n\n${UNCERTAIN}` : '';
  return `Your usage here in ${lastDays(days)}:\n\n${list(byKey(rows, 'family'), hasUnits)}${note}`;
}

function list(sums: ReadonlyMap<string, SettledUsage>, hasUnits: boolean, count = sums.size): string {
  const listed = [...sums].slice(0, MOST_LISTED).map(([name, { requests, units, uncertain }]) => {
    const cost = hasUnits ? `, ${counted(units, 'unit')}` : '';
    const uncertainText = uncertain > 0 ? ` (${amount(uncertain)} uncertain)` : '';
    return `- ${plain(name)}: ${amount(requests)}${cost}${uncertainText}`;
  });
  return shortList(listed, count);
}

function shortList(lines: readonly string[], count = lines.length): string {
  const listed = lines.slice(0, MOST_LISTED);
  const more = count - listed.length;
  return [...listed, ...(more > 0 ? [`- and ${more} more`] : [])].join('\n');
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
