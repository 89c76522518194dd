/** Formats numbers for people, and shortens texts. */

/** Minutes and seconds, such as `2:31`. */
export function duration(seconds: number): string {
  const rounded = Math.round(seconds);
  return `${Math.floor(rounded / 60)}:${String(rounded % 60).padStart(2, '0')}`;
}

/** Such as `1,234` or `2.5`. */
export function amount(value: number): string {
  return new Intl.NumberFormat('en').format(value);
}

/** Such as `1 song` or `1,234 songs`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${amount(count)} ${count === 1 ? one : many}`;
}

/** Such as `the last 30 days`. */
export function lastDays(days: number): string {
  return days === 1 ? 'the last day' : `the last ${counted(days, 'day')}`;
}

export function roughDuration(milliseconds: number): string {
  return milliseconds < 120_000
    ? `${Math.max(1, Math.round(milliseconds / 1000))} s`
    : `${Math.round(milliseconds / 60_000)} min`;
}

export const queuePositionText = (position: number): string => `position ${position} in the queue`;

/** The first `limit` characters, without splitting a surrogate pair. */
export function beginning(text: string, limit: number): string {
  return text.slice(0, limit).replace(/[\ud800-\udbff]$/, '');
}

/** Shortens a text to `limit` characters, with an ellipsis at the end. */
export function ellipsis(text: string, limit: number): string {
  return text.length <= limit ? text : `${beginning(text, limit - 1)}…`;
}

/** Starts with a capital letter. Words such as “iPhone” stay as they are. */
export function capitalised(text: string): string {
  const [word = ''] = /^\p{Ll}+(?![\p{L}\p{M}\p{N}])/u.exec(text) ?? [];
  return word === '' ? text : `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** Such as `840 kB` or `3.2 MB`. */
export function fileSize(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.max(1, Math.round(bytes / 1000))} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

const DAY_MS = 86_400_000;
const SPANS = [
  ['day', DAY_MS],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** Such as `just now`, `3 hours ago`, `yesterday`, and after a week `26 Nov 2026`. */
export function timeAgo(at: number, now: number): string {
  const passed = Math.max(0, now - at);
  if (passed >= 7 * DAY_MS) return longDay(at);
  const [unit, span] = SPANS.find(([, milliseconds]) => passed >= milliseconds) ?? [];
  if (unit === undefined) return 'just now';
  return new Intl.RelativeTimeFormat('en', { numeric: 'auto' }).format(-Math.floor(passed / span), unit);
}

/** The day in UTC, such as `26 Nov 2026`. */
export function longDay(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' }).format(at);
}

/** The day in UTC without the year, such as `26 Nov`, where space is scarce. */
export function shortDay(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(at);
}
