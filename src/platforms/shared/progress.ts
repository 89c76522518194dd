/** Describes work in progress. */
import type { Message, Progress } from '../../core/message.ts';
import { queuePositionText, roughDuration } from '../../core/util/words.ts';

/** The stage of the message's progress; empty if the title already contains it. */
export function stageText({ title = '', progress }: Message): string {
  const stage = progress?.stage.trim() ?? '';
  return title.toLowerCase().startsWith(stage.toLowerCase()) ? '' : stage;
}

/** Plain-text facts besides the stage. `time` formats a time (milliseconds since the epoch) for the platform, or returns nothing. */
export function progressFacts(
  { startedAt, until, queuePosition, estimateMs }: Progress,
  time: (word: 'started' | 'until', at: number) => readonly string[],
): string[] {
  return [
    ...time('started', startedAt),
    ...(until === undefined ? [] : time('until', until)),
    ...(queuePosition === undefined ? [] : [queuePositionText(queuePosition)]),
    ...(estimateMs === undefined ? [] : [`usually takes about ${roughDuration(estimateMs)}`]),
  ];
}
