/** Times in Markdown. Platforms that can show them in each reader's time zone do, others show the text. */
import { longDay } from './words.ts';

export interface Moment {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly show: 'day' | 'time';
}

/** A time as a link, such as `[26 Nov 2026, 17:00 UTC](time:1795712400000)`. `text` is for platforms without times. */
export const timeMark = (at: number, text = timeText(at)): string => `[${text}](time:${at})`;

export const dayMark = (at: number): string => `[${longDay(at)}](day:${at})`;

/** Reads the target of such a link. */
export function readMoment(target: string): Moment | undefined {
  const [, show, at] = /^(day|time):(\d{1,14})$/.exec(target) ?? [];
  return show === 'day' || show === 'time' ? { show, at: Number(at) } : undefined;
}

/** Such as `26 Nov 2026, 17:00 UTC`. In another zone, `Fri, 27 Nov 2026, 17:00`. */
export function timeText(at: number, timeZone?: string): string {
  const text = new Intl.DateTimeFormat('en-GB', {
    ...(timeZone !== undefined && { weekday: 'short' }),
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZone: timeZone ?? 'UTC',
  }).format(at);
  return timeZone === undefined ? `${text} UTC` : text;
}
