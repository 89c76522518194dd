/**
 * Audits a history from what the outside world saw and what is stored, both as JSON. Imports nothing, so that no mistake of the product
 * or of the watch is repeated here.
 */

export const FINDINGS = ['lost', 'doubled', 'paid twice', 'never ended'] as const;

export interface Finding {
  readonly invariant: (typeof FINDINGS)[number];
  readonly detail: string;
}

type Fields = Readonly<Record<string, unknown>>;

/** A visible message. */
interface Shown {
  readonly job: unknown;
  readonly channel: unknown;
  readonly isFinal: boolean;
}

/** @param ledger the events in order, each as JSON. @param records the stored jobs, each as JSON */
export function audit(ledger: readonly string[], records: readonly string[]): Finding[] {
  const events = ledger.map(read);
  const jobs = records.map(read);
  const messages = visible(events);
  const privately = new Set(
    events.filter(({ event }) => event === 'sent privately').map(({ thread }) => thread),
  );
  return [
    ...paidTwice(events),
    ...jobs.flatMap((job) => unfinishedJobs(job)),
    ...doubled(jobs, messages),
    ...lost(events, jobs, { messages, privately }),
  ];
}

function paidTwice(events: readonly Fields[]): Finding[] {
  const paid = events.filter(({ event }) => event === 'paid');
  return repeated(paid.map(({ route, prompt, job }) => JSON.stringify([route, prompt, job]))).map(
    (detail) => ({
      invariant: 'paid twice',
      detail,
    }),
  );
}

function unfinishedJobs({ title, state }: Fields): Finding[] {
  const hasEnded =
    state === 'delivered' || state === 'failed' || state === 'expired' || state === 'cancelled';
  return hasEnded ? [] : [{ invariant: 'never ended', detail: `${title} is ${state}` }];
}

function doubled(jobs: readonly Fields[], messages: readonly Shown[]): Finding[] {
  const twice = [
    ...repeated(jobs.map(({ invocation }) => `jobs for ${invocation}`)),
    ...repeated(messages.map(({ job, channel }) => `messages of ${job} in ${channel}`)),
  ];
  return twice.map((detail) => ({ invariant: 'doubled', detail }));
}

interface VisibleState {
  readonly messages: readonly Shown[];
  /** The threads whose requester got a direct message. */
  readonly privately: ReadonlySet<unknown>;
}

/** Requests that were acknowledged, and whose end the requester never learns. */
function lost(
  events: readonly Fields[],
  jobs: readonly Fields[],
  { messages, privately }: VisibleState,
): Finding[] {
  const acknowledged = events.filter(({ event }) => event === 'acknowledged').map(({ title }) => title);
  return acknowledged.flatMap((title): Finding[] => {
    const job = jobs.find((one) => one.title === title);
    if (!job) return [{ invariant: 'lost', detail: `${title} is not stored` }];
    const { id, undelivered, address } = job;
    const thread =
      typeof address === 'object' && address !== null && 'thread' in address ? address.thread : '';
    // The list of undelivered results offers it.
    if (undelivered === true || privately.has(thread)) return [];
    const isShown = messages.some((message) => message.job === id && message.isFinal);
    return isShown ? [] : [{ invariant: 'lost', detail: `the end of ${title} is not visible` }];
  });
}

/** Replays the posts, edits and deletions of messages. */
function visible(events: readonly Fields[]): Shown[] {
  const messages = new Map<unknown, Shown>();
  for (const { event, id, job, channel, message } of events) {
    const isFinal = typeof message === 'object' && message !== null && !('progress' in message);
    if (event === 'posted') messages.set(id, { job, channel, isFinal });
    if (event === 'deleted') messages.delete(id);
    const known = messages.get(id);
    if (event === 'edited' && known) messages.set(id, { ...known, isFinal });
  }
  return [...messages.values()];
}

function repeated(names: readonly string[]): string[] {
  return [...new Set(names.filter((name, index) => names.indexOf(name) !== index))];
}

function read(text: string): Fields {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null) throw new TypeError(`Not an object: ${text}`);
  return { ...value };
}
