/** Reads times that people type, such as `every friday at 17:00` or `tomorrow at 9`. */
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

/** Words between the parts of a time. */
const FILLERS: ReadonlySet<string> = new Set([
  'on',
  'the',
  'and',
  'at',
  'of',
  'each',
  'every',
  'a',
  'day',
  'week',
]);
/** Words that begin a recurring time. */
const RECURRING: ReadonlySet<string> = new Set(['every', 'each', 'daily', 'weekly', 'monthly']);

const unclear = (typed: string) =>
  new UserError(`I don't understand the time “${typed}”. ${EXAMPLES}`, 'when');

/**
 * Reads a time. `timeZone` is an IANA name, `now` is in milliseconds since the epoch. Throws UserError if the text is not understood
 * or the time has passed.
 */
export async function readWhen(
  typed: string,
  { timeZone, now }: { readonly timeZone: string; readonly now: number },
): Promise<When> {
  const words = wordsOf(typed);
  const when = RECURRING.has(words[0] ?? '') ? recurring(typed, words) : await once(typed, timeZone, now);
  if (nextRun(when.pattern, timeZone, now) === undefined)
    throw new UserError(`“${typed}” has already passed. Choose a later time.`, 'when');
  return when;
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
  // `5 pm` is one time.
  const joined = words.flatMap((word, index) => {
    if (word === 'am' || word === 'pm') return [];
    const next = words[index + 1];
    return [next === 'am' || next === 'pm' ? `${word}${next}` : word];
  });
  for (const [index, word] of joined.entries()) {
    if (!readPart(word, joined[index - 1], parts)) throw unclear(typed);
  }
  const { days, monthDay, isMonthly, time } = parts;
  const isContradictory = (isMonthly || monthDay !== undefined) && days.size > 0;
  const isWithoutDay =
    (isMonthly && monthDay === undefined) ||
    (words.some((word) => word.startsWith('week')) && days.size === 0);
  if (isContradictory || isWithoutDay) throw unclear(typed);
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
function readPart(word: string, previous: string | undefined, parts: Parts): boolean {
  if (word === 'daily') return true;
  if (word === 'weekly') return true;
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
  if (monthDay !== undefined && parts.monthDay === undefined) {
    parts.monthDay = monthDay;
    // Later days are missing in some months.
    return monthDay === 'L' || (Number(monthDay) >= 1 && Number(monthDay) <= 28);
  }
  const time = timeOf(word);
  if (time && parts.time === undefined && (previous === 'at' || !/^\d+$/.test(word) || parts.days.size > 0)) {
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

/** Such as `17:00`, `5pm`, `9`, `noon` and `midnight`. */
function timeOf(word: string): Time | undefined {
  if (word === 'noon') return { hour: 12, minute: 0 };
  if (word === 'midnight') return { hour: 0, minute: 0 };
  const [, hours, minutes = '0', half] = /^(\d{1,2})(?:[:.h](\d{2}))?(am|pm)?$/.exec(word) ?? [];
  if (hours === undefined) return undefined;
  const [hour, minute] = [Number(hours), Number(minutes)];
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
  const pattern = start.isCertain('timezoneOffset')
    ? start
        .date()
        .toISOString()
        .replace(/\.\d+Z$/, 'Z')
    : (['year', 'month', 'day', 'hour', 'minute'] as const)
        .map((part) => String(start.get(part) ?? 0).padStart(2, '0'))
        .reduce((text, part, index) => `${text}${'--T:'[index - 1] ?? ''}${part}`)
        .concat(':00');
  return { pattern, when: 'once' };
}

/** Minutes that the zone is ahead of UTC at a time. */
function offsetMinutes(timeZone: string, at: number): number {
  const name = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' })
    .formatToParts(at)
    .find(({ type }) => type === 'timeZoneName')?.value;
  const [, sign, hours, minutes] = /^GMT([+-])(\d{2}):(\d{2})/.exec(name ?? '') ?? [];
  return (sign === '-' ? -1 : 1) * (Number(hours ?? 0) * 60 + Number(minutes ?? 0));
}
