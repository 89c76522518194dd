import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ask } from '../../../commands/ask.ts';
import type { Context } from '../../../src/core/bot/context.ts';
import type { AnswerPlan, AnswerWork } from '../../../src/core/work.ts';
import { gatewayAccounts } from '../../../src/gateway/routes.ts';
import type { JobDependencies } from '../../../src/jobs/dependencies.ts';
import { modelOf } from '../../../src/settings/limits/meter.ts';
import { gatewayAt } from '../../gateway/support.ts';
import { advanceOnce, createWorld, type World } from '../world.ts';
import { chatStream, events, json, type Reply, startUpstream, type Upstream } from './upstream.ts';

/** Tests questions with several models, with the real gateway client. */
let world: World;
let upstream: Upstream;
let dependencies: JobDependencies;

const CHAT = '/chat/completions';
const MSG = '/messages';

beforeEach(async () => {
  world = await createWorld();
  upstream = await startUpstream();
  dependencies = { ...world.dependencies, gateway: gatewayAt(upstream.url).gateway };
});

afterEach(async () => {
  await upstream[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const step = (job: string) => advanceOnce(dependencies, job, { signal: new AbortController().signal });

const PIXEL = { name: 'pixel.png', bytes: 3, contentType: 'image/png' };
const BACKUP: AnswerPlan = { dialect: 'msg', model: 'backup' };

const question = (fallbacks: readonly AnswerPlan[] = [BACKUP]): AnswerWork => ({
  route: 'answer',
  dialect: 'chat',
  readsImages: true,
  request: {
    model: 'first',
    turns: [
      { role: 'user', parts: [{ type: 'image', file: PIXEL }] },
      { role: 'user', parts: [{ type: 'text', text: 'Why?' }] },
    ],
  },
  fallbacks,
});

const start = (work = question()) => world.start({ work, title: '“Why?”' });

const answered = (text = 'From the backup.'): Reply =>
  json({ type: 'message', content: [{ type: 'text', text }], stop_reason: 'end_turn' });
const refusing = (status: number, type: string, message = 'no', headers = {}): Reply => {
  const body = JSON.stringify({ error: { type, code: type, message } });
  return (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(body);
};
/** Requested models, oldest first. */
const models = () => upstream.requests.map(({ body }) => (body as { model?: string }).model);

describe('the next model is asked if the first one is', () => {
  it.each([
    ['overloaded', refusing(529, 'overloaded_error')],
    ['unavailable', refusing(503, 'model_overloaded')],
    ['in maintenance', refusing(503, 'unavailable', 'under maintenance', { 'retry-after': '600' })],
    ['over its rate limit', refusing(429, 'rate_limit_exceeded')],
    [
      'over its rate limit for minutes',
      refusing(429, 'rate_limit_exceeded', 'wait', { 'retry-after': '120' }),
    ],
    ['out of credit', refusing(402, 'insufficient_quota')],
    ['gone', refusing(404, 'model_not_found')],
  ])('%s', async (_, reply) => {
    upstream.next(CHAT, reply);
    upstream.next(MSG, answered());
    const job = await start();
    await step(job);
    expect(models()).toEqual(['first', 'backup']);
    expect(world.message()).toMatchObject({ text: 'From the backup.' });
    expect(world.message()?.footer).toContain('backup (instead of first)');
    const { state, charged, refusals } = await world.read(job);
    expect({ state, charged, refusals }).toEqual({ state: 'delivered', charged: true, refusals: undefined });
  });
});

describe('no other model is asked', () => {
  it.each([
    ['after a refusal by content', refusing(400, 'content_policy_violation')],
    ['for an invalid request', refusing(400, 'invalid_request_error')],
    ['for a wrong key', refusing(401, 'invalid_api_key')],
    ['if the gateway may have accepted the question', refusing(500, 'server_error')],
    ['if a proxy may have passed the question on', refusing(503, '')],
    ['if the connection broke', ((response) => void response.destroy()) as Reply],
    ['if the model declined', ((r) => void events(r).end(chatStream([], 'content_filter'))) as Reply],
    ['after the first word', ((r) => void events(r).end(chatStream(['Because']).slice(0, -20))) as Reply],
  ])('%s', async (_, reply) => {
    upstream.next(CHAT, reply);
    upstream.next(MSG, answered());
    const job = await start();
    await step(job);
    await step(job);
    expect(models()).toEqual(['first']);
    expect(['delivered', 'failed']).toContain((await world.read(job)).state);
  });
});

it('a rate limit of seconds is waited for once, then the next model is asked', async () => {
  const busy = refusing(429, 'rate_limit_exceeded', 'wait', { 'retry-after': '2' });
  upstream.next(CHAT, busy, busy);
  upstream.next(MSG, answered());
  const job = await start();
  const at = await step(job);
  expect(models()).toEqual(['first']);
  expect(at).toBeGreaterThan(world.clock.now());
  world.clock.advance(10_000);
  await step(job);
  expect(models()).toEqual(['first', 'first', 'backup']);
});

it('the last model is treated like a single one', async () => {
  upstream.next(CHAT, refusing(529, 'overloaded_error'));
  upstream.next(MSG, refusing(402, 'insufficient_quota'));
  const job = await start();
  await step(job);
  expect(models()).toEqual(['first', 'backup']);
  expect(await world.read(job)).toMatchObject({
    state: 'failed',
    charged: false,
    failure: { code: 'credits' },
  });
});

it('a restart between two models continues with the second', async () => {
  upstream.next(CHAT, refusing(529, 'overloaded_error'));
  const job = await start();
  const restart = new AbortController();
  // The process stops after it stored that the first model failed.
  const { jobs } = dependencies.storage;
  const replace: typeof jobs.replace = async (record) => {
    const stored = await jobs.replace(record);
    if (record.work.route === 'answer' && record.work.failed) restart.abort();
    return stored;
  };
  const storage = { ...dependencies.storage, jobs: { ...jobs, replace } };
  await advanceOnce({ ...dependencies, storage }, job, { signal: restart.signal });
  expect(await world.read(job)).toMatchObject({ state: 'accepted', work: { request: { model: 'backup' } } });
  upstream.next(MSG, answered());
  await step(job);
  expect(models()).toEqual(['first', 'backup']);
  expect(world.message()?.text).toBe('From the backup.');
});

it('a model that cannot read images gets notes in their place', async () => {
  upstream.next(
    CHAT,
    refusing(529, 'overloaded_error'),
    (response) => void events(response).end(chatStream(['Blind.'])),
  );
  const job = await start(question([{ dialect: 'chat', model: 'blind' }]));
  await step(job);
  expect(models()).toEqual(['first', 'blind']);
  const [, second] = upstream.requests.map(({ body }) => JSON.stringify(body));
  expect(second).toContain('(an image)');
});

it('Again asks the first model again', async () => {
  upstream.next(CHAT, refusing(529, 'overloaded_error'));
  upstream.next(MSG, answered());
  const job = await start();
  await step(job);
  // The cast is safe: Again uses no other member.
  const context = { inForce: { answers: async () => ({ footer: { on: true } }) } } as unknown as Context;
  const again = await ask.again?.(await world.read(job), context);
  expect(again).toMatchObject(question());
  expect(again).not.toHaveProperty('failed');
});

it('the next model is asked if a service cannot be reached', async () => {
  const accounts = gatewayAccounts({ baseUrl: upstream.url, apiKey: 'key' });
  const closed = await startUpstream();
  await closed[Symbol.asyncDispose]();
  const { chat } = gatewayAccounts({ baseUrl: closed.url, apiKey: 'key' });
  const { gateway } = gatewayAt(upstream.url, { accounts: { ...accounts, ...(chat && { chat }) } });
  dependencies = { ...dependencies, gateway };
  upstream.next(MSG, answered());
  await step(await start());
  expect(world.message()?.footer).toContain('backup (instead of first)');
});

it('counts as usage of the model that answered', async () => {
  upstream.next(CHAT, refusing(529, 'overloaded_error'));
  upstream.next(MSG, answered());
  const settled: (string | undefined)[] = [];
  const { meter } = dependencies;
  const settle: typeof meter.settle = async (job, charge) => {
    settled.push(modelOf(job.work));
    await meter.settle(job, charge);
  };
  dependencies = { ...dependencies, meter: { ...meter, settle } };
  await step(await start());
  expect(settled).toEqual(['backup']);
});
