import { describe, expect, it, vi } from 'vitest';
import { answer, errorOf, gatewayAt, type Script, startServer } from '../support.ts';

type Page = Record<string, unknown>;
const page = (ids: string[], more: Page = {}): Page => ({
  data: ids.map((id) => ({ id })),
  has_more: false,
  ...more,
});

/** A gateway with scripts for the two listing routes. */
function listings(chat: Script, msg: Script): Script {
  return (request, response, nth) =>
    (request.path.startsWith('/chat/v1/models') ? chat : msg)(request, response, nth);
}
const gives =
  (body: unknown, status = 200): Script =>
  (_, response) =>
    answer(response, body, { status });
/** The expected resolution of a name. */
const resolved = (kind: 'id' | 'label', id: string) => ({ kind, model: expect.objectContaining({ id }) });
const fails = gives({ error: { message: 'down' } }, 400);

describe('the model list', () => {
  it('merges both routes, each requested with its headers', async () => {
    const server = await startServer(
      listings(
        gives({
          data: [
            { id: 'a', display_name: 'Model A', type: 'model', created_at: '2026-01-01T00:00:00Z' },
            { id: 'b' },
          ],
        }),
        gives({
          data: [
            { id: 'b', display_name: 'Model B' },
            { id: 'c', created: 1_700_000_000 },
          ],
        }),
      ),
    );
    const { gateway } = gatewayAt(server.url);
    expect(await gateway.models.refresh()).toEqual([
      { id: 'a', displayName: 'Model A', listedBy: ['chat'] },
      { id: 'b', displayName: 'Model B', listedBy: ['chat', 'msg'] },
      { id: 'c', listedBy: ['msg'] },
    ]);
    const byPath = Object.fromEntries(server.received.map(({ path, headers }) => [path, headers]));
    expect(byPath['/chat/v1/models']).toMatchObject({ authorization: expect.stringContaining('Bearer') });
    expect(byPath['/msg/v1/models']).toMatchObject({ 'vendor-version': '2023-06-01' });
    expect(byPath['/msg/v1/models']).not.toHaveProperty('authorization');
  });

  it.each([
    ['a bare list', ['a', 'b']],
    ['a list of models', { models: [{ name: 'a' }, { name: 'b' }, null, {}] }],
    ['an envelope', { code: 200, data: { data: [{ id: 'a' }, { id: 'b' }, { id: 'a' }] } }],
  ])('is read from %s', async (_, body) => {
    const server = await startServer(listings(gives(body), fails));
    expect((await gatewayAt(server.url).gateway.models.refresh()).map(({ id }) => id)).toEqual(['a', 'b']);
  });

  it('is fetched page by page', async () => {
    const pages: Record<string, Page> = {
      '/chat/v1/models': page(['a', 'b'], { has_more: true, last_id: 'b' }),
      '/chat/v1/models?after_id=b': page(['c'], { has_more: true, last_id: null }),
      '/chat/v1/models?after_id=c': page(['d']),
    };
    const server = await startServer(
      listings((request, response) => answer(response, pages[request.path]), fails),
    );
    expect((await gatewayAt(server.url).gateway.models.refresh()).map(({ id }) => id)).toEqual([
      'a',
      'b',
      'c',
      'd',
    ]);
  });

  it.each([
    ['repeats the same page for ever', () => page(['a'], { has_more: true, last_id: 'a' }), 2],
    [
      'repeats the same cursor for ever',
      (nth: number) => page([`m${nth}`], { has_more: true, last_id: 'x' }),
      2,
    ],
    [
      'repeats the same page with new cursors for ever',
      (nth: number) => page(['a'], { has_more: true, last_id: `c${nth}` }),
      2,
    ],
    [
      'returns new models for ever',
      (nth: number) => page([`m${nth}`], { has_more: true, last_id: `m${nth}` }),
      50,
    ],
    [
      'has a cycle of cursors',
      (nth: number) => page([`m${nth}`], { has_more: true, last_id: `c${nth % 3}` }),
      4,
    ],
  ])('ends even if the gateway %s', async (_, pageOf, pages) => {
    let nth = 0;
    const server = await startServer(
      listings((_request, response) => {
        nth++;
        answer(response, pageOf(nth));
      }, fails),
    );
    const { gateway } = gatewayAt(server.url);
    expect((await gateway.models.refresh()).length).toBeGreaterThan(0);
    expect(nth).toBe(pages);
  });

  it('keeps the earlier pages if a later one fails', async () => {
    const server = await startServer(
      listings((request, response) => {
        if (request.path.includes('after_id'))
          answer(response, { error: 'unknown parameter' }, { status: 400 });
        else answer(response, page(['a'], { has_more: true, last_id: 'a' }));
      }, fails),
    );
    const warn = vi.fn();
    const { gateway } = gatewayAt(server.url, { log: { warn } });
    expect((await gateway.models.refresh()).map(({ id }) => id)).toEqual(['a']);
    expect(warn).toHaveBeenCalledWith(expect.objectContaining({ page: 1 }), expect.any(String));
  });

  it('is an error if neither route returns a list', async () => {
    for (const body of [{ error: { message: 'x' } }, { hello: 1 }, { data: [{}, {}] }]) {
      const server = await startServer(gives(body));
      const { gateway } = gatewayAt(server.url);
      await errorOf(gateway.models.refresh());
      expect(gateway.models.cached()).toEqual([]);
    }
  });
});

describe('the purpose of a model', () => {
  it.each([
    ['the emulator’s routes', { routes: ['gen-image'] }, ['pictures', 'answers'], ['gen']],
    ['routes of two families', { routes: ['chat', 'msg'] }, ['answers'], ['chat', 'msg']],
    [
      'endpoint types of a common gateway',
      { supported_endpoint_types: ['openai', 'anthropic'] },
      ['answers'],
      ['chat', 'msg'],
    ],
    ['another of them', { supported_endpoint_types: ['image-generation'] }, ['pictures'], undefined],
    [
      'output modalities',
      { architecture: { input_modalities: ['image'], output_modalities: ['text'] } },
      ['answers'],
      undefined,
    ],
    ['a task', { task: 'image-to-video' }, ['videos'], undefined],
    ['another task', { capabilities: { 'text-to-image': true, chat: false } }, ['pictures'], undefined],
    ['its type', { type: 'video' }, ['videos'], undefined],
    ['nothing', { type: 'model', object: 'model' }, undefined, undefined],
  ])('is known by %s', async (_, item, uses, routes) => {
    const server = await startServer(listings(gives({ data: [{ id: 'a', ...item }] }), fails));
    const [model] = await gatewayAt(server.url).gateway.models.refresh();
    expect({ uses: model?.uses, routes: model?.routes }).toEqual({ uses, routes });
  });
});

describe('the cached list', () => {
  it('is fetched once for many callers', async () => {
    const server = await startServer(listings(gives(page(['a'])), fails));
    const { gateway } = gatewayAt(server.url);
    await Promise.all([gateway.models.refresh(), gateway.models.refresh(), gateway.models.find('a')]);
    await gateway.models.find('a');
    expect(server.received).toHaveLength(2);
  });

  it('survives an outage of the gateway, and of one route', async () => {
    let outage: 'none' | 'msg' | 'both' = 'none';
    const server = await startServer(
      listings(
        (request, response, nth) => (outage === 'both' ? fails : gives(page(['a'])))(request, response, nth),
        (request, response, nth) => (outage === 'none' ? gives(page(['b'])) : fails)(request, response, nth),
      ),
    );
    const { models } = gatewayAt(server.url).gateway;
    const ids = (list: readonly { id: string }[]) => list.map(({ id }) => id);
    expect(ids(await models.refresh())).toEqual(['a', 'b']);
    outage = 'msg';
    expect(ids(await models.refresh())).toEqual(['a', 'b']);
    outage = 'both';
    await errorOf(models.refresh());
    expect(ids(models.cached())).toEqual(['a', 'b']);
  });

  it('is fetched again once for a missing name', async () => {
    let ids = ['a'];
    const server = await startServer(
      listings((request, response, nth) => gives(page(ids))(request, response, nth), fails),
    );
    const { models } = gatewayAt(server.url).gateway;
    expect(await models.find('a')).toEqual(resolved('id', 'a'));
    ids = ['a', 'b'];
    expect(models.resolve('b')).toMatchObject({ kind: 'unknown' });
    expect(await models.find('b')).toEqual(resolved('id', 'b'));
    expect(await models.find('stranger')).toMatchObject({ kind: 'unknown' });
    expect(server.received).toHaveLength(6);
  });

  it('is unlisted before the first fetch', async () => {
    const server = await startServer(listings(fails, fails));
    expect(await gatewayAt(server.url).gateway.models.find('a')).toEqual({ kind: 'unlisted' });
  });
});

describe('refreshing in the background', () => {
  /** A clock whose delays are ended by the test, one by one. */
  function handClock() {
    const waits: { ms: number; end: () => void }[] = [];
    const sleep = (ms: number, signal?: AbortSignal) =>
      new Promise<void>((resolve) => {
        waits.push({ ms, end: resolve });
        signal?.addEventListener('abort', () => resolve(), { once: true });
      });
    return { waits, sleep };
  }

  it('repeats until it is stopped, sooner after a failure', async () => {
    let up = false;
    const server = await startServer(
      listings((request, response, nth) => (up ? gives(page(['a'])) : fails)(request, response, nth), fails),
    );
    const { waits, sleep } = handClock();
    const { gateway } = gatewayAt(server.url, { sleep });
    gateway.models.startRefreshing();
    gateway.models.startRefreshing();
    await expect.poll(() => waits.length).toBe(1);
    expect(waits[0]?.ms).toBeLessThan(2 * 60_000);
    expect(gateway.models.resolve('a')).toEqual({ kind: 'unlisted' });

    up = true;
    waits[0]?.end();
    await expect.poll(() => waits.length).toBe(2);
    expect(waits[1]?.ms).toBeGreaterThan(10 * 60_000);
    expect(gateway.models.resolve('a')).toEqual(resolved('id', 'a'));

    await gateway.models.stop();
    await gateway.models.stop();
    expect(server.received).toHaveLength(4);
  });
});

describe('a model name', () => {
  async function catalogOf(...models: { id: string; display_name?: string }[]) {
    const server = await startServer(listings(gives({ data: models }), fails));
    const { gateway } = gatewayAt(server.url);
    await gateway.models.refresh();
    return gateway.models;
  }

  it('is an ID, a display name, or unknown with similar IDs', async () => {
    const models = await catalogOf(
      { id: 'claude-sonnet-4', display_name: 'Claude Sonnet 4' },
      { id: 'gemini-2.5-flash', display_name: 'Gemini Flash' },
      { id: 'gpt-4o' },
    );
    expect(models.resolve('gpt-4o')).toEqual(resolved('id', 'gpt-4o'));
    expect(models.resolve(' GPT-4o ')).toEqual(resolved('id', 'gpt-4o'));
    expect(models.resolve('Claude Sonnet 4')).toEqual(resolved('label', 'claude-sonnet-4'));
    expect(models.resolve('gemini flash')).toEqual(resolved('label', 'gemini-2.5-flash'));
    expect(models.resolve('gpt4o')).toEqual({ kind: 'unknown', nearest: ['gpt-4o'] });
    expect(models.resolve('sonnet')).toEqual({ kind: 'unknown', nearest: ['claude-sonnet-4'] });
    expect(models.resolve('zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz')).toEqual({ kind: 'unknown', nearest: [] });
    expect(models.resolve('')).toMatchObject({ kind: 'unknown' });
  });

  it('that is the display name of two models stays unknown', async () => {
    const models = await catalogOf({ id: 'one', display_name: 'Same' }, { id: 'two', display_name: 'same' });
    expect(models.resolve('Same')).toEqual(resolved('label', 'one'));
    expect(models.resolve('SAME')).toEqual({ kind: 'unknown', nearest: ['one', 'two'] });
  });

  it('of any length is resolved in bounded time', async () => {
    const models = await catalogOf(...Array.from({ length: 3_000 }, (_, nth) => ({ id: `model-${nth}` })));
    const before = process.threadCpuUsage();
    models.resolve('x'.repeat(1_000_000));
    // Computing time: comparing the whole name with every model would take hours.
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1_000).toBeLessThan(30_000);
  });
});
