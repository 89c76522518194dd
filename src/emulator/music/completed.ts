import type { EmulatorContext } from '../context.ts';
import { Refusal } from '../refusal.ts';
import type { Audio, MusicTask } from '../store.ts';

/** A song task that is complete. Refuses ids of unknown, unfinished, failed or other tasks (contract, States). */
export function completedSongTask(context: EmulatorContext, taskId: string): MusicTask {
  const task = context.store.tasks.get(taskId);
  if (task === undefined) throw new Refusal('not found', `taskId: no task ${taskId}`);
  if (task.kind !== 'songs') throw new Refusal('invalid', `taskId: task ${taskId} made no song`);
  switch (task.state) {
    case 'complete':
      return task;
    case 'working':
      throw new Refusal('invalid', `taskId: task ${taskId} is not complete yet`);
    case 'failed':
      throw new Refusal('invalid', `taskId: task ${taskId} failed`);
    case 'undelivered':
      throw new Refusal('invalid', `taskId: task ${taskId} is not complete: no callback of it was taken`);
    default:
      return task.state satisfies never;
  }
}

/** One song of a completed task. */
export function completedAudio(context: EmulatorContext, taskId: string, audioId: string): Audio {
  const task = completedSongTask(context, taskId);
  const audio = task.audios.find((candidate) => candidate.id === audioId);
  if (audio === undefined) throw new Refusal('not found', `audioId: task ${taskId} has no audio ${audioId}`);
  return audio;
}
