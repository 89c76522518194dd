/** What Minstrel promises, checked when a history has come to rest. */
import type { Job } from '../../src/core/job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { SimulatedChat } from './channel.ts';
import type { Callback, SimulatedGateway } from './gateway.ts';

export interface Facts {
  /** Prompts of the invocations that were acknowledged to the person. */
  readonly acknowledged: Set<string>;
  /** Callbacks that were answered with 200. */
  readonly answered: Callback[];
  /** Jobs that their person asked to cancel. */
  readonly cancelled: Set<string>;
  /** What was seen on the way. */
  readonly broken: string[];
}

interface AtRest {
  readonly facts: Facts;
  readonly gateway: SimulatedGateway;
  readonly chat: SimulatedChat;
  readonly storage: Storage;
}

const ENDS = new Set(['delivered', 'failed', 'expired', 'cancelled']);

export async function brokenPromises({ facts, gateway, chat, storage }: AtRest): Promise<string[]> {
  const jobs = await Array.fromAsync(storage.jobs.all());
  const known = new Set(jobs.map(({ title }) => title));
  const history = await Array.fromAsync(storage.usage.history());
  const counted = history.reduce((sum, { requests }) => sum + requests, 0);
  return [
    ...[...facts.acknowledged]
      .filter((prompt) => !known.has(prompt))
      .map((prompt) => `${prompt} was acknowledged and forgotten`),
    ...paidTwice(gateway),
    ...gateway.impatient.map((request) => `${request} was sent again before its Retry-After was over`),
    ...jobs.flatMap((job) => brokenFor(job, { facts, gateway, chat, storage })),
    ...(counted === jobs.filter(({ charged }) => charged === true).length
      ? []
      : [`${counted} pieces of work are counted, of ${jobs.length}`]),
  ];
}

function paidTwice({ taken }: SimulatedGateway): string[] {
  const times = Map.groupBy(taken, ({ route, prompt }) => `${route} “${prompt}”`);
  return [...times]
    .filter(([, { length }]) => length > 1)
    .map(([work, { length }]) => `${work} was paid ${length} times`);
}

function brokenFor(job: Job, { facts, gateway, chat }: AtRest): string[] {
  const broken: string[] = [];
  const { id, title, state, work, charged } = job;
  if (!ENDS.has(state)) broken.push(`${title} stays ${state}`);
  const messages = [...chat.standing.values()].filter(({ key }) => key === id);
  if (messages.length > 1) broken.push(`${title} has ${messages.length} messages`);
  for (const { message } of messages) {
    // Where the chat does not let the bot end its message, the person is told alone, or asks for the result elsewhere.
    const toldElsewhere = job.undelivered === true || chat.privately.length > 0;
    if (message.progress && !toldElsewhere)
      broken.push(`${title} is over and its message says “${message.progress.stage}”`);
  }
  const isWhole = ({ stage, body }: Callback) => stage === 'complete' && body.includes('audio_url');
  if (work.route === 'music.generate' && facts.answered.some((one) => one.job === id && isWhole(one))) {
    const hasSong = job.result?.songs.some(({ audioUrl }) => audioUrl !== undefined) ?? false;
    if (!hasSong || (job.end !== 'delivered' && !facts.cancelled.has(id)))
      broken.push(`${title} ended as ${job.end}, though its song came and was answered with 200`);
  }
  const taken = gateway.taken.filter(({ prompt }) => prompt.includes(title));
  const maybeTaken = taken.length > 0 || [...gateway.uncertain].some((prompt) => prompt.includes(title));
  // After a crash around the request nobody knows whether it was taken.
  if (!maybeTaken && job.submittedAt === undefined && charged === true)
    broken.push(`${title} counts as used, and the gateway never had it`);
  if (!maybeTaken && job.end === 'delivered')
    broken.push(`${title} was delivered, and the gateway never had it`);
  if (job.end === 'delivered' && charged !== true) broken.push(`${title} was delivered and does not count`);
  return broken;
}
