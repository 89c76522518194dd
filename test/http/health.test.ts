import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { type HealthOptions, healthRoutes } from '../../src/http/health.ts';
import { collectLog, listen } from './listener.ts';

const bodySchema = z.looseObject({ parts: z.record(z.string(), z.string()).optional() });

async function health(options: Partial<HealthOptions>) {
  const log = collectLog();
  const routes = [healthRoutes({ parts: [], elapsed: () => 0, log, ...options })];
  const { url } = await listen({ routes });
  const get = async (path: string) => {
    const response = await fetch(url + path);
    return { status: response.status, body: bodySchema.parse(await response.json()) };
  };
  return { get, log };
}

test('/healthz is alive even if a part is not ready', async () => {
  const { get } = await health({
    parts: [{ name: 'storage', check: () => ({ ready: false, reason: 'away' }) }],
  });
  expect(await get('/healthz')).toEqual({ status: 200, body: { alive: true } });
});

test('/readyz is 200 when every part works', async () => {
  const { get } = await health({
    parts: [
      { name: 'storage', check: async () => ({ ready: true }) },
      { name: 'discord', check: () => ({ ready: true }) },
    ],
  });
  expect(await get('/readyz')).toEqual({
    status: 200,
    body: { ready: true, parts: { storage: 'ready', discord: 'ready' } },
  });
});

test('/readyz is 503 with the failing part and its reason', async () => {
  const { get } = await health({
    parts: [
      { name: 'storage', check: () => ({ ready: true }) },
      { name: 'discord', check: () => ({ ready: false, reason: 'connecting' }) },
    ],
  });
  expect(await get('/readyz')).toEqual({
    status: 503,
    body: { ready: false, parts: { storage: 'ready', discord: 'connecting' } },
  });
});

test('a part that throws is not ready, and only the log has the cause', async () => {
  const { get, log } = await health({
    parts: [
      { name: 'storage', check: () => Promise.reject(new Error('redis://user:hunter2@host refused')) },
      {
        name: 'media',
        check: () => {
          throw new Error('at once');
        },
      },
    ],
  });
  const { status, body } = await get('/readyz');
  expect(status).toBe(503);
  expect(body.parts).toEqual({
    storage: "check failed; see the bot's log for details",
    media: "check failed; see the bot's log for details",
  });
  expect(log.lines).toHaveLength(2);
});

test('a part that never responds times out', async () => {
  const check = vi.fn(() => new Promise<never>(() => {}));
  const { get } = await health({ parts: [{ name: 'storage', check }] });
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const answer = get('/readyz');
  await expect.poll(() => check.mock.calls.length).toBe(1);
  await vi.advanceTimersByTimeAsync(2_000);
  expect((await answer).body.parts).toEqual({ storage: 'no response' });
});

test('concurrent requests check the parts once per second', async () => {
  let time = 0;
  const check = vi.fn(() => ({ ready: true }) as const);
  const { get } = await health({ parts: [{ name: 'storage', check }], elapsed: () => time });
  await Promise.all(Array.from({ length: 20 }, () => get('/readyz')));
  expect(check).toHaveBeenCalledTimes(1);
  time += 1000;
  await get('/readyz');
  expect(check).toHaveBeenCalledTimes(2);
});
