/** What a message says of work in progress. */
import type { Message, Progress } from '../../core/message.ts';
import { queueWords, roughDuration } from '../../core/util/words.ts';

/** The stage of the message's progress, empty where its title says the same. */
export function stageToSay({ title = '', progress }: Message): string {
  const stage = progress?.stage.trim() ?? '';
  return title.toLowerCase().startsWith(stage.toLowerCase()) ? '' : stage;
}

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
