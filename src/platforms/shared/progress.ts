/** Describes work in progress. */
import type { Message, Progress } from '../../core/message.ts';
import { queuePositionText, roughDuration } from '../../core/util/words.ts';

/** The stage of the message's progress; empty if the title begins with the same word, as “Splitting “Rain” into stems” does. */
export function stageText({ title = '', progress }: Message): string {
  const stage = progress?.stage.trim() ?? '';
  return firstWord(title) === firstWord(stage) ? '' : stage;
}

const firstWord = (text: string): string => text.trim().toLowerCase().split(/\s/, 1)[0] ?? '';

/** Plain-text facts besides the stage. `time` formats a time (milliseconds since the epoch) for the platform, or returns nothing. */
export function progressFacts(
  { startedAt, until, queuePosition, estimateMs }: Progress,
  time: (word: 'started' | 'requested' | 'until', at: number) => readonly string[],
): string[] {
  return [
    ...time(queuePosition === undefined ? 'started' : 'requested', startedAt),
    ...(until === undefined ? [] : time('until', until)),
    ...(queuePosition === undefined ? [] : [queuePositionText(queuePosition)]),
    ...(estimateMs === undefined ? [] : [`usually takes about ${roughDuration(estimateMs)}`]),
  ];
}
