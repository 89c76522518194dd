/** Reads callbacks that came for a job into its record. Each counts once; states only move forward. */
import { readMusicCallback } from '../gateway/music.ts';
import type { Work } from '../work.ts';
import type { JobDependencies } from './dependencies.ts';
import type { Job } from './job.ts';
import { mutate } from './record.ts';
import { fromMusic, mergeResults } from './result.ts';
import { sentenceFor } from './sentences.ts';

type AbsorbDependencies = Pick<JobDependencies, 'storage' | 'newId' | 'log'>;

/** The job with everything that has come for it so far; undefined when there is no such job. */
export async function absorb(
  id: string,
  { storage, newId, log }: AbsorbDependencies,
): Promise<Job | undefined> {
  const before = await storage.jobs.read(id);
  if (!before) return undefined;
  const entries = await storage.inbox.read(id, before.inboxRead);
  if (entries.length === 0) return before;
  return mutate(storage, id, (job) => {
    let next = job;
    for (const entry of entries) {
      if (entry.sequence <= job.inboxRead) continue;
      next = { ...take(next, entry.body, { newId, log }), inboxRead: entry.sequence };
    }
    return next;
  });
}

/** One callback. A result beats every other end, however late it comes; a failure beats only waiting. */
function take(job: Job, body: string, { newId, log }: Pick<AbsorbDependencies, 'newId' | 'log'>): Job {
  const callback = readMusicCallback(parse(body));
  if (callback.taskId !== undefined && job.taskId !== undefined && callback.taskId !== job.taskId) {
    // The signed URL names the job; the task in the body is only a hint.
    log.warn(
      { job: job.id, task: job.taskId, named: callback.taskId },
      'A callback names another task than its URL',
    );
  }
  if (job.lyrics !== undefined && callback.stage === 'complete' && callback.result.songs.length === 0) {
    return takeLyrics(job, callback.result.lyrics[0]?.text);
  }
  const known = job.taskId ?? callback.taskId;
  const named = known === undefined ? job : { ...job, taskId: known };
  switch (callback.stage) {
    case 'unknown':
      log.warn(
        { job: job.id, body: body.slice(0, 2000) },
        'A callback that says nothing Minstrel understands',
      );
      return named;
    case 'text':
    case 'first':
      if (job.state === 'delivered' || job.end === 'delivered') return named;
      return { ...named, result: mergeResults(job.result, fromMusic(callback.result)) };
    case 'complete': {
      if (job.state === 'delivered' || job.end === 'delivered') return named;
      const { failure: _told, ...rest } = named;
      return {
        ...rest,
        state: 'ready',
        // Cancelled work that is finished anyway is kept and offered, not pushed: nobody waits for it any more.
        end: job.state === 'cancelled' || job.end === 'cancelled' ? 'cancelled' : 'delivered',
        attempts: 0,
        result: mergeResults(job.result, fromMusic(callback.result)),
      };
    }
    case 'failed': {
      // A late failure of the lyrics that came before a song.
      if (named.taskId !== undefined && callback.taskId !== undefined && callback.taskId !== named.taskId)
        return named;
      if (job.state !== 'accepted' && job.state !== 'submitting' && job.state !== 'waiting') return named;
      const reference = newId();
      const failure = callback.failure ?? { code: 'nonsense' as const };
      log.warn({ job: job.id, reference, failure }, 'The gateway reports that the work failed');
      return {
        ...named,
        state: 'ready',
        end: 'failed',
        attempts: 0,
        failure: {
          code: failure.code,
          sentence: sentenceFor(failure.code, job.work),
          reference,
          taken: 'no',
        },
      };
    }
    default:
      return callback.stage satisfies never;
  }
}

/** The lyrics that a song waits for: the song is asked for next. Those that come twice change nothing. */
function takeLyrics(job: Job, lyrics: string | undefined): Job {
  if (job.lyrics !== 'sent' || lyrics === undefined || !('lyricsAbout' in job.work)) return job;
  if (job.state !== 'submitting' && job.state !== 'waiting') return job;
  const { taskId: _lyricsTask, deadlineAt: _lyricsDeadline, ...rest } = job;
  return { ...rest, work: withLyrics(job.work, lyrics), lyrics: 'done', state: 'accepted', attempts: 0 };
}

function withLyrics(work: Extract<Work, { lyricsAbout?: string }>, lyrics: string): Work {
  switch (work.route) {
    case 'music.generate':
      return { ...work, request: { ...work.request, prompt: lyrics } };
    case 'music.uploadCover':
      return { ...work, request: { ...work.request, prompt: lyrics } };
    default:
      return work satisfies never;
  }
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return body;
  }
}
