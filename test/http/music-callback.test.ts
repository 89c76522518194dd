import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { sign } from '../../src/core/web/signatures.ts';
import {
  CALLBACK_BODY_BYTES,
  callbackUrl,
  type MusicCallbackOptions,
  musicCallbackRoutes,
  signCallback,
} from '../../src/http/music-callback.ts';
import { collectLog, connectTo, listen, sendRaw } from './listener.ts';

const SECRET = 'the current secret of this deployment';
const PREVIOUS = 'the previous secret of this deployment';
const FOREIGN = 'a secret of another deployment, not ours';

async function receiver(options: Partial<MusicCallbackOptions> = {}) {
  const log = collectLog();
  const outcomes: string[] = [];
  const measure: MusicCallbackOptions['measure'] = (name, labels) =>
    void outcomes.push(...Object.values(labels).map((label) => `${name} ${label}`));
  const receive = vi.fn<MusicCallbackOptions['receive']>(async () => 'stored');
  const routes = [musicCallbackRoutes({ secrets: [SECRET, PREVIOUS], receive, log, measure, ...options })];
  const server = await listen({ routes, log });
  const post = (url: string, init: RequestInit = {}) => fetch(url, { method: 'POST', body: '{}', ...init });
  return { server, receive, log, outcomes, post, url: callbackUrl(server.url, 'job-1', SECRET) };
}

describe('the URL', () => {
  test('contains the job and a signature of 43 characters', () => {
    expect(callbackUrl('https://minstrel.example', 'job-1', SECRET)).toMatch(
      /^https:\/\/minstrel\.example\/callbacks\/music\/job-1\/[\w-]{43}$/,
    );
  });

  test('keeps the path of a public URL behind a proxy', () => {
    const expected = `https://example.org/bots/minstrel/callbacks/music/job-1/${signCallback('job-1', SECRET)}`;
    expect(callbackUrl('https://example.org/bots/minstrel', 'job-1', SECRET)).toBe(expected);
  });
});

describe('a signed callback', () => {
  test('is stored unchanged and acknowledged with 200', async () => {
    const { receive, post, url } = await receiver();
    const body = '{"code":200, "data":{"task_id":"t","title":"Über Regen 🌧"}}';
    const response = await post(url, { body, headers: { 'content-type': 'application/json' } });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ received: true });
    expect(receive).toHaveBeenCalledExactlyOnceWith('job-1', body);
  });

  test('is acknowledged only after it is stored', async () => {
    const { promise: stored, resolve } = Promise.withResolvers<'stored'>();
    const receive = vi.fn(async () => 'stored' as const).mockReturnValueOnce(stored);
    const { post, url } = await receiver({ receive });
    const onResponse = vi.fn();
    const answer = post(url).then(onResponse);
    await expect.poll(() => receive.mock.calls.length).toBe(1);
    // Other callbacks are acknowledged meanwhile.
    for (let time = 0; time < 3; time += 1) expect((await post(url)).status).toBe(200);
    expect(onResponse).not.toHaveBeenCalled();
    resolve('stored');
    await answer;
    expect(onResponse.mock.calls[0]?.[0]).toMatchObject({ status: 200 });
  });

  test.each([
    ['no content type', undefined],
    ['a form', 'application/x-www-form-urlencoded'],
    ['an invalid content type', 'none at all;;;'],
    ['JSON with a charset', 'application/json; charset=utf-8'],
  ])('is stored regardless of its content type: %s', async (_name, type) => {
    const { receive, post, url } = await receiver();
    const response = await post(url, {
      body: new TextEncoder().encode('not {json'),
      headers: type === undefined ? {} : { 'content-type': type },
    });
    expect(response.status).toBe(200);
    expect(receive).toHaveBeenCalledExactlyOnceWith('job-1', 'not {json');
  });

  test('without a body still wakes its job', async () => {
    const { receive, url } = await receiver();
    expect((await fetch(url, { method: 'POST' })).status).toBe(200);
    expect(receive).toHaveBeenCalledExactlyOnceWith('job-1', '');
  });

  test('is counted by outcome', async () => {
    const outcomes = ['stored', 'unknown-job'] as const;
    const receive = vi.fn<MusicCallbackOptions['receive']>();
    for (const outcome of outcomes) receive.mockResolvedValueOnce(outcome);
    receive.mockRejectedValueOnce(new Error('storage is down'));
    const { server, post, url, outcomes: measured } = await receiver({ receive });
    for (let time = 0; time < 3; time += 1) await post(url);
    await post(callbackUrl(server.url, 'job-1', FOREIGN));
    expect(measured).toEqual(
      [...outcomes, 'unavailable', 'forged'].map((outcome) => `minstrel_callbacks_total ${outcome}`),
    );
  });

  test('is accepted with the previous secret', async () => {
    const { receive, post, server } = await receiver();
    expect((await post(callbackUrl(server.url, 'job-1', PREVIOUS))).status).toBe(200);
    expect(receive).toHaveBeenCalledOnce();
  });

  test('is accepted up to the size limit and rejected with 413 above it', async () => {
    const { receive, post, url, server } = await receiver();
    expect((await post(url, { body: 'x'.repeat(CALLBACK_BODY_BYTES) })).status).toBe(200);
    expect(receive).toHaveBeenCalledOnce();
    const path = new URL(url).pathname;
    const head = `POST ${path} HTTP/1.1\r\nhost: x\r\n`;
    expect(
      await sendRaw(server, `${head}content-length: ${CALLBACK_BODY_BYTES + 1}\r\n\r\n`),
      'declared',
    ).toMatch(/^HTTP\/1.1 413 .*too large/s);
    const chunk = `${(CALLBACK_BODY_BYTES + 1).toString(16)}\r\n${'x'.repeat(CALLBACK_BODY_BYTES + 1)}`;
    expect(await sendRaw(server, `${head}transfer-encoding: chunked\r\n\r\n`, chunk), 'counted').toMatch(
      /^HTTP\/1.1 413 /,
    );
    expect(receive).toHaveBeenCalledOnce();
  });

  test('is not stored if it is shorter than its declared length', async () => {
    const { receive, url, server } = await receiver();
    const socket = connectTo(server);
    socket.end(`POST ${new URL(url).pathname} HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\n{"half":`);
    await new Promise((resolve) => socket.resume().once('close', resolve));
    expect(receive).not.toHaveBeenCalled();
  });

  test('is rejected if it is compressed', async () => {
    const { receive, post, url } = await receiver();
    const response = await post(url, { headers: { 'content-encoding': 'gzip' } });
    expect(response.status).toBe(415);
    expect(await response.json()).toEqual({ error: 'send the body uncompressed' });
    expect(receive).not.toHaveBeenCalled();
  });
});

describe('a callback with an invalid signature', () => {
  const forgeries: [string, (valid: string) => string][] = [
    ['a signature by another secret', () => signCallback('job-1', FOREIGN)],
    ['a signature of another job', () => signCallback('job-2', SECRET)],
    ['a signature for another purpose', () => sign('file\njob-1', SECRET)],
    [
      'a signature with its last character changed',
      (valid) => valid.slice(0, -1) + (valid.endsWith('A') ? 'B' : 'A'),
    ],
    ['a valid signature with a suffix', (valid) => `${valid}=`],
    ['an empty signature', () => '%20'],
  ];
  test.each(forgeries)('gets the response of an unknown route: %s', async (_name, forge) => {
    const { server, receive, post } = await receiver();
    const valid = signCallback('job-1', SECRET);
    const forged = await post(`${server.url}/callbacks/music/job-1/${forge(valid)}`);
    const unknown = await post(`${server.url}/nothing/here`);
    expect(forged.status).toBe(404);
    expect(await forged.text()).toBe(await unknown.text());
    const headersOf = (response: Response) => [...response.headers.keys()].filter((name) => name !== 'date');
    expect(headersOf(forged)).toEqual(headersOf(unknown));
    expect(receive).not.toHaveBeenCalled();
  });

  test('is rejected before its body is read', async () => {
    const { server } = await receiver();
    const socket = connectTo(server);
    socket.write('POST /callbacks/music/job-1/forged HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000\r\n\r\n');
    const [first] = await new Promise<Buffer[]>((resolve) => socket.once('data', (data) => resolve([data])));
    expect(String(first)).toMatch(/^HTTP\/1.1 404 /);
    socket.destroy();
  });

  test('leaves no signature in the log, valid or not', async () => {
    const { server, post, log, url } = await receiver();
    await post(url);
    await post(`${server.url}/callbacks/music/job-1/${signCallback('job-1', FOREIGN)}`);
    await expect.poll(() => log.lines).toHaveLength(2);
    expect(log.lines.join()).not.toContain(signCallback('job-1', SECRET));
    expect(log.lines.join()).not.toContain(signCallback('job-1', FOREIGN));
  });
});

describe('a callback that cannot be stored', () => {
  test('gets 503 when storage is down, so that the gateway retries', async () => {
    const { post, url, log } = await receiver({ receive: () => Promise.reject(new Error('disk on fire')) });
    const response = await post(url);
    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('5');
    expect(await response.text()).toBe('{"error":"unavailable"}');
    expect(log.lines[0]).toContain('Could not store a callback');
  });

  test('gets 503 when storage hangs, before the gateway times out', async () => {
    const receive = vi.fn(() => new Promise<never>(() => {}));
    const { post, url } = await receiver({ receive });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const answer = post(url);
    await expect.poll(() => receive.mock.calls.length).toBe(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect((await answer).status).toBe(503);
  });

  test('gets the response of an unknown route if the job is unknown', async () => {
    const { post, url, log } = await receiver({ receive: async () => 'unknown-job' });
    const response = await post(url);
    expect(response.status).toBe(404);
    expect(await response.text()).toBe('{"error":"not found"}');
    expect(log.lines[0]).toContain('Callback for an unknown job');
  });
});
