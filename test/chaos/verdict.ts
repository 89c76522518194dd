/** Checks the outcome of all requests in the channels and at the gateway. */
import { z } from 'zod';
import type { Job } from '../../src/core/job.ts';
import type { Ask, ShownMessage } from './people.ts';
import type { Callback } from './replicas.ts';

export interface Verdict {
  readonly requested: number;
  readonly accepted: number;
  readonly delivered: number;
  /** Ended with a sentence instead of a result. */
  readonly explained: number;
  /** Acknowledged, but without a result or a sentence. */
  readonly lost: readonly string[];
  /** The end of a job, or one of its files, is shown twice. */
  readonly deliveredTwice: readonly string[];
  /** Messages that stay in progress. */
  readonly inProgress: readonly string[];
  /** The gateway accepted the same paid work twice. */
  readonly submittedTwice: readonly string[];
}

export interface Evidence {
  readonly asks: readonly Ask[];
  readonly jobs: readonly Job[];
  readonly shown: readonly ShownMessage[];
  readonly taken: ReadonlyMap<string, number>;
  readonly callbacks: readonly Callback[];
}

export function judge({ asks, jobs, shown, taken, callbacks }: Evidence): Verdict {
  const byMark = new Map<string, Job[]>();
  for (const job of jobs) {
    const mark = /chaos-\d+-/.exec(JSON.stringify(job.work))?.[0] ?? '';
    byMark.set(mark, [...(byMark.get(mark) ?? []), job]);
  }
  const isPromised = promised(callbacks);
  const lost: string[] = [];
  const deliveredTwice: string[] = [];
  let accepted = 0;
  let delivered = 0;
  let explained = 0;
  for (const ask of asks) {
    const [job, ...more] = byMark.get(ask.mark) ?? [];
    if (!job) {
      if (!ask.acknowledged()) continue;
      accepted += 1;
      if (ask.answeredWithoutJob()) explained += 1;
      else lost.push(`${ask.mark} (${ask.what} on ${ask.on}): acknowledged, and never stored`);
      continue;
    }
    accepted += 1;
    const ends = shown.filter((message) => message.ends.includes(job.id));
    const open = shown.filter((message) => message.open.includes(job.id));
    const name = `${ask.mark} (${ask.what} on ${ask.on}, job ${job.id}, ${job.state})`;
    if (more.length > 0) deliveredTwice.push(`${name}: ${more.length + 1} jobs`);
    if (ends.length > 1) deliveredTwice.push(`${name}: ${ends.length} messages`);
    const files = ends.flatMap((message) => message.files);
    if (new Set(files).size < files.length) deliveredTwice.push(`${name}: the same file twice, ${files}`);
    const left = shown.flatMap(({ text }) => (text.includes(ask.mark) ? [text.slice(0, 200)] : []));
    if (ends.length === 0)
      lost.push(
        `${name}: no end of it is shown, posted ${JSON.stringify(job.posted)}, said ${left.join(' | ')}`,
      );
    else if (open.length > 0) lost.push(`${name}: a message still says that it is running`);
    else if (isPromised(job) && !showsResult(job, ends))
      lost.push(`${name}: the result was called back and taken, and is not shown: ${ends[0]?.text}`);
    else if (job.state === 'delivered') delivered += 1;
    else explained += 1;
  }
  const submittedTwice = [...taken].flatMap(([what, times]) =>
    times > 1 ? [`${what}: ${times} times`] : [],
  );
  const inProgress = shown
    .filter(({ isProgress }) => isProgress)
    .map(({ on, where, text }) => `${on}, ${where}: ${text.slice(0, 300)}`);
  const found = { lost, deliveredTwice, submittedTwice, inProgress };
  return { requested: asks.length, accepted, delivered, explained, ...found };
}

export function isGood({ lost, deliveredTwice, submittedTwice, inProgress }: Verdict): boolean {
  return lost.length + deliveredTwice.length + submittedTwice.length + inProgress.length === 0;
}

/** The usual shape of the emulator's results. Other shapes do not have to be delivered. */
const resultSchema = z.object({
  code: z.literal(200),
  data: z.object({
    callbackType: z.literal('complete'),
    data: z.array(z.object({ audio_url: z.string().optional(), text: z.string().optional() })),
  }),
});

/** True if a callback answered with 200 contained the whole result of a job. */
function promised(callbacks: readonly Callback[]): (job: Job) => boolean {
  const songs = new Set<string>();
  const lyrics = new Set<string>();
  for (const { path, body, status } of callbacks) {
    const [, id = ''] = /^\/callbacks\/music\/([^/]+)\//.exec(path) ?? [];
    const result = status === 200 ? resultSchema.safeParse(jsonOf(body)).data : undefined;
    if (result?.data.data.some(({ audio_url: url = '' }) => url !== '')) songs.add(id);
    if (result?.data.data.some(({ text = '' }) => text !== '')) lyrics.add(id);
  }
  return ({ id, work: { route } }) =>
    (route === 'music.generate' && songs.has(id)) || (route === 'music.generateLyrics' && lyrics.has(id));
}

function jsonOf(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/** A song has files or links to them. For cancelled work, a button offers the result. */
function showsResult({ id, state, work }: Job, ends: readonly ShownMessage[]): boolean {
  const result = ends.find(({ results }) => results.includes(id));
  if (work.route !== 'music.generate' || state === 'cancelled') return result !== undefined;
  return result !== undefined && (result.files.length > 0 || result.text.includes('/files/'));
}
