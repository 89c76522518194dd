/** Converts the callbacks of a job into events. */
import type { Job } from '../../core/job.ts';
import type { Work } from '../../core/work.ts';
import { keysOf, readMusicCallback } from '../../gateway/music/callback.ts';
import type { TaskFailure } from '../../gateway/transport/errors.ts';
import { parseJson } from '../../gateway/transport/json.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { JobEvent } from '../events.ts';
import { sentenceFor } from '../sentences.ts';
import { fromMusic } from '../transitions.ts';
import type { JobRun } from './run.ts';

/** Applies new callbacks in order. `onRead` gets the time each was received. Throws StorageError. */
export type ReadCallbacks = (run: JobRun, onRead?: (receivedAt: number) => void) => Promise<void>;

export function createReadCallbacks({
  storage,
  newId,
  log,
}: Pick<JobDependencies, 'storage' | 'newId' | 'log'>): ReadCallbacks {
  /** Undefined if the callback has no effect. */
  function eventOf(body: string, at: number, job: Job): JobEvent | undefined {
    const { stage, taskId, ...callback } = readMusicCallback(body);
    if (taskId !== undefined && job.taskId !== undefined && taskId !== job.taskId) {
      // The signed URL identifies the job. The task in the body is only a hint.
      log.warn(
        { job: job.id, task: job.taskId, named: taskId },
        'A callback names a different task than its URL',
      );
    }
    const result = fromMusic(callback.result);
    if (job.lyrics !== undefined && stage === 'complete' && result.songs.length === 0) {
      // Late lyrics become the result. The requester no longer waits for the song, so it is not requested.
      if (job.lyrics === 'sent' && job.end !== undefined && result.lyrics.length > 0)
        return { type: 'completed', result, at };
      const work = withLyrics(job.work, result.lyrics[0]?.text);
      return work && { type: 'lyricsWritten', work };
    }
    switch (stage) {
      case 'unknown':
        logKeys(body, job);
        return { type: 'progressed', taskId, isUnreadable: true };
      case 'pending':
        return { type: 'progressed', taskId };
      case 'text':
      case 'first':
        return { type: 'progressed', taskId, result };
      case 'complete':
        return { type: 'completed', taskId, result, at };
      case 'failed': {
        // A late failure of the lyrics task, while the song is in progress.
        if (job.taskId !== undefined && taskId !== undefined && taskId !== job.taskId) return undefined;
        const reference = newId();
        const failure: TaskFailure = callback.failure ?? { code: 'nonsense' };
        if (failure.code === 'nonsense') logKeys(body, job);
        const { code, gatewayCode } = failure;
        log.warn({ job: job.id, reference, code, gatewayCode }, 'The gateway reported a failure');
        const sentence = sentenceFor(code, job.work);
        return { type: 'failed', failure: { code, sentence, reference, taken: 'no' } };
      }
      default:
        return stage satisfies never;
    }
  }

  /** Logs only the keys of a callback. Its content stays in the inbox. */
  function logKeys(body: string, { id }: Job): void {
    log.warn({ job: id, bytes: body.length }, 'Could not parse a callback; its body is stored');
    log.debug({ job: id, keys: keysOf(parseJson(body)) }, 'Keys of a callback that could not be parsed');
  }

  return async (run, onRead = () => {}) => {
    for (const { sequence, body, receivedAt } of await storage.inbox.read(run.job.id, run.job.inboxRead)) {
      const event = eventOf(body, receivedAt, run.job);
      onRead(receivedAt);
      if (event) run.apply(event);
      run.record({ inboxRead: sequence });
    }
  };
}

/** Adds the lyrics to the work; undefined if it expects no lyrics. */
function withLyrics(work: Work, lyrics: string | undefined): Work | undefined {
  if (lyrics === undefined || !('lyricsAbout' in work)) return undefined;
  switch (work.route) {
    case 'music.generate':
      return { ...work, request: { ...work.request, prompt: lyrics } };
    case 'music.uploadCover':
      return { ...work, request: { ...work.request, prompt: lyrics } };
    default:
      return work satisfies never;
  }
}
