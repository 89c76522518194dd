/** Invariants of a history at rest, when nothing is left to happen. */
import type { Job } from '../../src/core/job.ts';
import type { Storage } from '../../src/storage/storage.ts';
import type { Callback } from './callbacks.ts';
import type { SimulatedChat } from './channel.ts';
import type { SimulatedGateway } from './gateway.ts';
import { hasEnded, type Watch } from './watch.ts';

interface World {
  readonly watch: Watch;
  readonly gateway: SimulatedGateway;
  readonly chat: SimulatedChat;
  readonly storage: Storage;
}

/** Reports violations to the watch. */
export async function checkAtRest(world: World): Promise<void> {
  const { watch, storage } = world;
  const jobs = await Array.fromAsync(storage.jobs.all());
  const titles = new Set(jobs.map(({ title }) => title));
  for (const title of watch.acknowledged)
    if (!titles.has(title)) watch.report('nothing is forgotten', `${title} was acknowledged and is missing`);
  for (const job of jobs) checkJob(job, world);
  const history = await Array.fromAsync(storage.usage.history());
  const counted = history.reduce((sum, { requests }) => sum + requests, 0);
  const charged = jobs.filter((job) => job.charged === true).length;
  if (counted !== charged)
    watch.report('limits equal charges', `${counted} requests are counted, and ${charged} charged`);
}

function checkJob(job: Job, world: World): void {
  const { watch } = world;
  const { title, state } = job;
  if (!hasEnded(job)) watch.report('nothing is forgotten', `${title} stays ${state}`);
  else if (state !== job.end) watch.report('one end', `${title} is ${state}, and ended as ${job.end}`);
  checkMessage(job, world);
  checkResult(job, world);
  checkCharge(job, world);
}

function checkMessage(job: Job, { watch, chat }: World): void {
  const { id, title, address } = job;
  // Messages in a channel that was closed to the bot stay there when the requester wants the result elsewhere.
  const messages = [...chat.standing.values()].filter(
    ({ key, channel }) => key === id && channel === address.channel,
  );
  if (messages.length > 1) watch.report('one message', `${title} has ${messages.length} messages`);
  // If the chat does not let the bot edit its message, the requester gets a direct message or asks for the result elsewhere.
  const isReportedElsewhere = job.undelivered === true || chat.privately.has(address.thread ?? '');
  for (const { message } of messages) {
    if (message.progress && !isReportedElsewhere)
      watch.report('no message in progress', `${title} has ended but shows “${message.progress.stage}”`);
  }
  if (messages.length === 0 && !isReportedElsewhere)
    watch.report('one end', `the end of ${title} was not shown`);
}

function checkResult({ id, title, end, result, work }: Job, { watch }: World): void {
  const isWhole = ({ stage, body }: Callback) => stage === 'complete' && body.includes('audio_url');
  if (work.route !== 'music.generate' || !watch.answered.some((one) => one.job === id && isWhole(one)))
    return;
  const hasSong = result?.songs.some(({ audioUrl }) => audioUrl !== undefined) ?? false;
  if (!hasSong || (end !== 'delivered' && !watch.unwanted.has(id)))
    watch.report('callbacks count', `${title} ended as ${end}, although the callback of its song got a 200`);
}

function checkCharge({ title, end, charged, submittedAt, work }: Job, { watch, gateway }: World): void {
  const isTaken =
    gateway.taken.some(({ prompt }) => prompt.includes(title)) ||
    [...gateway.uncertain].some((prompt) => prompt.includes(title));
  // After a crash during the request, the gateway may have accepted it. A question is only cancelled if that is known.
  const isKnown = submittedAt === undefined || (work.route === 'answer' && end === 'cancelled');
  if (!isTaken && isKnown && charged === true)
    watch.report('limits equal charges', `${title} counts as usage, but the gateway never accepted it`);
  if (!isTaken && end === 'delivered')
    watch.report('limits equal charges', `${title} was delivered, but the gateway never accepted it`);
  if (end === 'delivered' && charged !== true)
    watch.report('limits equal charges', `${title} was delivered, but does not count`);
}
