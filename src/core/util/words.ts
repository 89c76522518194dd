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

/** Such as `840 kB` or `3.2 MB`. */
export function fileSize(bytes: number): string {
  return bytes < 1_000_000
    ? `${Math.max(1, Math.round(bytes / 1000))} kB`
    : `${(bytes / 1_000_000).toFixed(1)} MB`;
}
