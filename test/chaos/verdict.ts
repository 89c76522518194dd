/** What became of everything that was asked for, seen from the channels and from the gateway. */
import type { Job } from '../../src/core/job.ts';
import type { Ask, ShownMessage } from './people.ts';

export interface Verdict {
  readonly asked: number;
  readonly accepted: number;
  readonly delivered: number;
  /** A sentence says why there is no result. */
  readonly toldWhy: number;
  /** Acknowledged, and neither a result nor a sentence. */
  readonly lost: readonly string[];
  /** The end of one job is shown twice, or a file of it is. */
  readonly deliveredTwice: readonly string[];
  /** The gateway took the same paid work twice. */
  readonly submittedTwice: readonly string[];
}

export interface Evidence {
  readonly asks: readonly Ask[];
  readonly jobs: readonly Job[];
  readonly shown: readonly ShownMessage[];
  readonly taken: ReadonlyMap<string, number>;
}

export function judge({ asks, jobs, shown, taken }: Evidence): Verdict {
  const byMark = new Map<string, Job[]>();
  for (const job of jobs) {
    const mark = /chaos-\d+-/.exec(JSON.stringify(job.work))?.[0] ?? '';
    byMark.set(mark, [...(byMark.get(mark) ?? []), job]);
  }
  const lost: string[] = [];
  const deliveredTwice: string[] = [];
  let accepted = 0;
  let delivered = 0;
  let toldWhy = 0;
  for (const ask of asks) {
    const [job, ...more] = byMark.get(ask.mark) ?? [];
    if (!job) {
      if (!ask.acknowledged()) continue;
      accepted += 1;
      if (ask.answeredAtOnce()) toldWhy += 1;
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
    if (ends.length === 0) lost.push(`${name}: no end of it is shown`);
    else if (open.length > 0) lost.push(`${name}: a message still says that it is running`);
    else if (job.state === 'delivered') delivered += 1;
    else toldWhy += 1;
  }
  const submittedTwice = [...taken].flatMap(([what, times]) =>
    times > 1 ? [`${what}: ${times} times`] : [],
  );
  return { asked: asks.length, accepted, delivered, toldWhy, lost, deliveredTwice, submittedTwice };
}

export function isGood({ lost, deliveredTwice, submittedTwice }: Verdict): boolean {
  return lost.length + deliveredTwice.length + submittedTwice.length === 0;
}
