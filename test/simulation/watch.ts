/** Watches every effect of a history, and reports violations in the step in which they happen. */
import type { Job, JobState } from '../../src/core/job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import { FINDINGS } from './audit.ts';
import type { Callback, Taken } from './callbacks.ts';
import type { Kernel, Process } from './kernel.ts';

/** The promises of Minstrel. */
export const INVARIANTS = [
  'one end',
  'one charge',
  'one message',
  'no message in progress',
  'callbacks count',
  'limits equal charges',
  'states go forward',
  'Retry-After',
  'nothing is forgotten',
  'one writer',
  'ends in time',
  ...FINDINGS,
] as const;
export type Invariant = (typeof INVARIANTS)[number];

export interface Broken {
  readonly invariant: Invariant;
  /** Description of the violation. */
  readonly detail: string;
}

const UNSENT: readonly JobState[] = ['accepted', 'submitting', 'waiting'];
const ENDS: readonly JobState[] = ['delivered', 'failed', 'expired', 'cancelled'];

export function hasEnded({ state }: Pick<Job, 'state'>): boolean {
  return ENDS.includes(state);
}

export class Watch {
  /** Violations in order. */
  readonly broken: Broken[] = [];
  /** Callbacks that got a 200. */
  readonly answered: Callback[] = [];
  /** Acknowledged requests, by title. */
  readonly acknowledged = new Set<string>();
  /** Jobs whose requester asked to cancel, or read that the bot did not respond. */
  readonly unwanted = new Set<string>();
  /** Everything the outside world saw, as JSON for the audit. */
  readonly ledger: string[] = [];
  readonly #kernel: Kernel;
  readonly #only: Invariant | undefined;
  /** The holder of a job's lease; undefined if there is only one replica. */
  readonly #holderOf: ((job: string) => Process | undefined) | undefined;
  readonly #jobs = new Map<string, string>();
  readonly #taken = new Set<string>();
  readonly #notBefore = new Map<string, number>();

  /** @param only the promise to check; all if undefined */
  constructor(kernel: Kernel, holderOf?: (job: string) => Process | undefined, only?: Invariant) {
    this.#kernel = kernel;
    this.#only = only;
    this.#holderOf = holderOf;
  }

  report(invariant: Invariant, detail: string): void {
    if (this.#only === undefined || this.#only === invariant) this.broken.push({ invariant, detail });
  }

  /** Adds an event to the ledger. */
  note(event: object): void {
    this.ledger.push(JSON.stringify(event));
  }

  acknowledge(title: string): void {
    this.acknowledged.add(title);
    this.note({ event: 'acknowledged', title });
    if (!this.#jobs.has(title))
      this.report('nothing is forgotten', `${title} is acknowledged but not stored`);
  }

  /** Records a callback that got a 200, so that the gateway does not send it again. */
  async answer(callback: Callback, { inbox }: Pick<Storage, 'inbox'>): Promise<void> {
    this.answered.push(callback);
    const stored = await inbox.read(callback.job, 0);
    if (!stored.some(({ body }) => body === callback.body))
      this.report('callbacks count', `${callback.stage} for ${callback.job} is answered but not stored`);
  }

  taken({ route, prompt, job = '' }: Taken): void {
    this.note({ event: 'paid', route, prompt, job });
    const work = `${route} “${prompt}” ${job}`;
    if (this.#taken.has(work)) this.report('one charge', `${work} is paid again`);
    this.#taken.add(work);
  }

  /** Records a refusal with a Retry-After. */
  refused(call: string, retryAfterMs: number | undefined): void {
    if (retryAfterMs !== undefined) this.#notBefore.set(call, this.#kernel.now + retryAfterMs);
  }

  /** A Retry-After that could not be stored is lost with its run. */
  forgetRefusals(): void {
    this.#notBefore.clear();
  }

  asked(call: string, toleranceMs: number): void {
    if (this.#kernel.now < (this.#notBefore.get(call) ?? 0) - toleranceMs)
      this.report('Retry-After', `${call} is repeated too early`);
  }

  /** Records a paid request. `prompt` contains the title of its job. */
  paying(process: Process, prompt: string): void {
    for (const [title, job] of this.#jobs) if (prompt.includes(title)) this.writing(process, job, 'pays for');
  }

  /** Records an irreversible request. */
  writing(process: Process, job: string, what: string): void {
    if (this.#holderOf === undefined) return;
    const holder = this.#holderOf(job);
    if (holder !== process)
      this.report(
        'one writer',
        `${process.name} ${what} ${job}, whose lease ${holder?.name ?? 'nobody'} holds`,
      );
  }

  /** The same storage with every write watched. */
  over(storage: Storage): Storage {
    return {
      ...storage,
      accept: async (acceptance) => {
        const accepted = await storage.accept(acceptance);
        if (accepted.type === 'accepted') this.#jobs.set(acceptance.job.title, acceptance.job.id);
        return accepted;
      },
      jobs: {
        ...storage.jobs,
        replace: async (job) => {
          const before = await storage.jobs.read(job.id);
          const written = await storage.jobs.replace(job);
          if (before && written) this.#written(before, job.version, written);
          return written;
        },
      },
    };
  }

  #written(before: Job, read: number, after: Job): void {
    const { id } = before;
    if (read !== before.version || after.version !== before.version + 1)
      this.report('one writer', `${id} is written based on version ${read} instead of ${before.version}`);
    const wasSent = !UNSENT.includes(before.state);
    const isSentAgain = before.state === 'waiting' && after.state !== 'waiting' && before.lyrics !== 'sent';
    if (UNSENT.includes(after.state) && (wasSent || isSentAgain))
      this.report('states go forward', `${id} goes back from ${before.state} to ${after.state}`);
    // A late result wins over every other end. Nothing else does.
    if (hasEnded(before) && after.end !== before.end && after.end !== 'delivered')
      this.report('one end', `${id} had ended as ${before.end}, and now ends as ${after.end}`);
  }
}
