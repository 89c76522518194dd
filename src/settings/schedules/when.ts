/** Reads times that people type, such as `every friday at 17:00` or `tomorrow at 9`. */
import type { Component } from 'chrono-node';
import { Cron } from 'croner';
import { UserError } from '../../core/errors.ts';

/** See ScheduledRequest. */
export interface When {
  readonly pattern: string;
  readonly when: string;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;
const WORKDAYS: readonly number[] = [1, 2, 3, 4, 5];
const EXAMPLES =
  'Try “every day at 9:00”, “every friday at 17:00”, “every month on the 1st at 9:00” or “tomorrow at 18:00”.';

/** Words that make a time recurring. */
const RECURRING = ['every', 'each', 'daily', 'weekly', 'monthly'] as const;
/** Words between the parts of a time. */
const FILLERS: ReadonlySet<string> = new Set([
  ...RECURRING,
  'on',
  'the',
  'and',
  'at',
  'of',
  'a',
  'day',
  'week',
]);

const unclear = (typed: string, examples = EXAMPLES) =>
  new UserError(`I don't understand the time “${typed}”. ${examples}`, 'when');

/**
 * Reads a time. `timeZone` is an IANA name, `now` is in milliseconds since the epoch. Throws UserError if the text is not understood
 * or the time has passed.
 */
export async function readWhen(
  typed: string,
  { timeZone, now }: { readonly timeZone: string; readonly now: number },
): Promise<When> {
  const words = wordsOf(typed);
  const isRecurring = RECURRING.some((word) => words.includes(word));
  const when = isRecurring ? recurring(typed, words) : await once(typed, timeZone, now);
  if (nextRun(when.pattern, timeZone, now) === undefined)
    throw new UserError(`“${typed}” has already passed. Choose a later time.`, 'when');
  return when;
}

const SINGLE_EXAMPLES = 'Try “friday at 18:00”, “tomorrow at 9:00” or “in 3 hours”.';

/**
 * Reads a single time. Returns milliseconds since the epoch. Throws UserError if the text is not understood or the time has
 * passed, with the name of the option.
 */
export async function readSingleTime(
  typed: string,
  tools: Parameters<typeof readWhen>[1],
  option: string,
): Promise<number> {
  try {
    const { pattern } = await readWhen(typed, tools);
    if (!isSingleRun(pattern)) throw unclear(typed, SINGLE_EXAMPLES);
    return nextRun(pattern, tools.timeZone, tools.now) ?? tools.now;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    throw new UserError(error.message.replace(EXAMPLES, SINGLE_EXAMPLES), option);
  }
}

/** The first run after `after` (milliseconds since the epoch); undefined if no run is left. */
export function nextRun(pattern: string, timeZone: string, after: number): number | undefined {
  return new Cron(pattern, { timezone: timeZone, paused: true }).nextRun(new Date(after))?.getTime();
}

/** True for a pattern with a single run. */
export const isSingleRun = (pattern: string): boolean => pattern.includes('T');

export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}

const wordsOf = (typed: string): string[] =>
  typed
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== '');

interface Parts {
  readonly days: Set<number>;
  monthDay?: string;
  isMonthly: boolean;
  time?: Time;
}

interface Time {
  readonly hour: number;
  readonly minute: number;
}

function recurring(typed: string, words: readonly string[]): When {
  const parts: Parts = { days: new Set(), isMonthly: false };
  // A number alone is a time only in `at 5` and `5 pm`.
  const times = words
    .join(' ')
    .replace(/ (?=[ap]m\b)/g, '')
    .replace(/\bat (\d+)(?= |$)/g, '$1:00');
  for (const word of times.split(' ')) if (!readPart(word, parts)) throw unclear(typed);
  const { days, monthDay, isMonthly, time } = parts;
  const isWeekly = words.some((word) => word.startsWith('week'));
  const hasItsDays = isMonthly ? monthDay !== undefined && days.size === 0 : !isWeekly || days.size > 0;
  if (!hasItsDays) throw unclear(typed);
  if (!time) throw new UserError(`Add a time of day to “${typed}”, such as “at 17:00”.`, 'when');
  const clock = `${time.minute} ${time.hour}`;
  const at = `at ${String(time.hour).padStart(2, '0')}:${String(time.minute).padStart(2, '0')}`;
  if (monthDay !== undefined)
    return { pattern: `${clock} ${monthDay} * *`, when: `every month on ${monthDayText(monthDay)} ${at}` };
  const sorted = [...days].toSorted((one, other) => one - other);
  if (sorted.length === 0 || sorted.length === WEEKDAYS.length)
    return { pattern: `${clock} * * *`, when: `every day ${at}` };
  return { pattern: `${clock} * * ${sorted.join(',')}`, when: `every ${weekdaysText(sorted)} ${at}` };
}

/** Adds a word to the parts; false if it is not understood there. */
function readPart(word: string, parts: Parts): boolean {
  if (word === 'month' || word === 'monthly') {
    parts.isMonthly = true;
    return true;
  }
  if (word === 'weekday' || word === 'weekdays') {
    for (const day of WORKDAYS) parts.days.add(day);
    return true;
  }
  const weekday = weekdayOf(word);
  if (weekday !== undefined) {
    parts.days.add(weekday);
    return true;
  }
  const monthDay = word === 'last' ? 'L' : /^(\d{1,2})(?:st|nd|rd|th)$/.exec(word)?.[1];
  // After the month, because `every 2nd month` means something else.
  if (monthDay !== undefined && parts.isMonthly && parts.monthDay === undefined) {
    parts.monthDay = monthDay;
    // Later days are missing in some months.
    return monthDay === 'L' || (Number(monthDay) >= 1 && Number(monthDay) <= 28);
  }
  const time = timeOf(word);
  if (time && parts.time === undefined) {
    parts.time = time;
    return true;
  }
  return FILLERS.has(word);
}

/** Such as `fri`, `friday` and `fridays`. */
function weekdayOf(word: string): number | undefined {
  if (word.length < 3) return undefined;
  const index = WEEKDAYS.findIndex((name) => `${name.toLowerCase()}s`.startsWith(word));
  return index === -1 ? undefined : index;
}

/** Such as `17:00`, `5pm`, `noon` and `midnight`. */
function timeOf(word: string): Time | undefined {
  if (word === 'noon') return { hour: 12, minute: 0 };
  if (word === 'midnight') return { hour: 0, minute: 0 };
  const [, hours, minutes, half] = /^(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?$/.exec(word) ?? [];
  if ((minutes ?? half) === undefined) return undefined;
  const [hour, minute] = [Number(hours), Number(minutes ?? 0)];
  if (minute > 59 || hour > 23 || (half !== undefined && (hour === 0 || hour > 12))) return undefined;
  return { hour: half === undefined ? hour : (hour % 12) + (half === 'pm' ? 12 : 0), minute };
}

function weekdaysText(days: readonly number[]): string {
  if (days.join() === WORKDAYS.join()) return 'weekday';
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(days.map((day) => WEEKDAYS[day] ?? ''));
}

function monthDayText(day: string): string {
  if (day === 'L') return 'the last day';
  const suffixes: Readonly<Record<string, string>> = { one: 'st', two: 'nd', few: 'rd' };
  const rule = new Intl.PluralRules('en', { type: 'ordinal' }).select(Number(day));
  return `the ${Number(day)}${suffixes[rule] ?? 'th'}`;
}

/** Reads a single date and time. Loaded on demand: chrono takes 15 MB. */
async function once(typed: string, timeZone: string, now: number): Promise<When> {
  const { casual } = await import('chrono-node/en');
  const reference = { instant: new Date(now), timezone: offsetMinutes(timeZone, now) };
  const [found] = casual.parse(typed, reference, { forwardDate: true });
  const rest = found && typed.replace(found.text, ' ');
  if (!found || found.end || wordsOf(rest ?? '').some((word) => !FILLERS.has(word))) throw unclear(typed);
  const { start } = found;
  if (!start.isCertain('hour') && !start.isCertain('minute'))
    throw new UserError(`Add a time of day to “${typed}”, such as “${typed} at 17:00”.`, 'when');
  // Relative times and times with a zone are moments. Others are read in the server's zone on that day.
  if (start.isCertain('timezoneOffset'))
    return {
      pattern: start
        .date()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z'),
      when: 'once',
    };
  const part = (name: Component) => String(start.get(name) ?? 0).padStart(2, '0');
  const day = `${part('year')}-${part('month')}-${part('day')}`;
  return { pattern: `${day}T${part('hour')}:${part('minute')}:00`, when: 'once' };
}

/** Minutes that the zone is ahead of UTC at a time. */
function offsetMinutes(timeZone: string, at: number): number {
  const name = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  const [, sign, hours, minutes] = /^GMT([+-])(\d{2}):(\d{2})/.exec(name ?? '') ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}
