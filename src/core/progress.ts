/** The words for work in progress, the same on every chat. */
import type { Progress } from './message.ts';

export function roughDuration(milliseconds: number): string {
  return milliseconds < 120_000
    ? `${Math.max(1, Math.round(milliseconds / 1000))} s`
    : `${Math.round(milliseconds / 60_000)} min`;
}

export const queueWords = (position: number): string => `place ${position} in the queue`;

/** Plain facts besides the stage. `time` writes a moment (milliseconds since the epoch) as the platform shows it, or nothing. */
export function progressFacts(
  { startedAt, until, queuePosition, estimateMs }: Progress,
  time: (word: 'started' | 'until', at: number) => readonly string[],
): string[] {
  return [
    ...time('started', startedAt),
    ...(until === undefined ? [] : time('until', until)),
    ...(queuePosition === undefined ? [] : [queueWords(queuePosition)]),
    ...(estimateMs === undefined ? [] : [`usually takes about ${roughDuration(estimateMs)}`]),
  ];
}
