import { describe, expect, it } from 'vitest';
import { createEditScheduler } from '../../../../src/platforms/discord/deliver/edit-scheduler.ts';
import { PlatformError } from '../../../../src/platforms/platform.ts';

interface Written {
  readonly text: string;
  readonly at: number;
}

/** A scheduler on a clock that jumps to the next timer whenever everything waits. */
function setUp(pauseOf?: (queue: string, now: number) => number | undefined) {
  let time = 0;
  const timers: { readonly at: number; readonly resolve: () => void }[] = [];
  const sleep = (milliseconds: number, signal?: AbortSignal) =>
    new Promise<void>((resolve) => {
      timers.push({ at: time + milliseconds, resolve });
      signal?.addEventListener('abort', () => resolve());
    });
  const settle = async () => {
    for (let step = 0; step < 50; step += 1) await Promise.resolve();
  };
  /** Lets everything happen until then. */
  const until = async (at: number) => {
    await settle();
    for (;;) {
      const [next] = timers.toSorted((left, right) => left.at - right.at);
      if (!next || next.at > at) break;
      time = next.at;
      timers.splice(timers.indexOf(next), 1);
      next.resolve();
      await settle();
    }
    time = at;
  };
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  const scheduler = createEditScheduler({
    elapsed: () => time,
    sleep,
    log,
    pauseOf: (queue) => pauseOf?.(queue, time),
  });
  const written: Written[] = [];
  const inFlight = { now: 0, most: 0 };
  /** A write that takes so long on Discord. */
  const write =
    (text: string, { takes = 100, error }: { takes?: number; error?: Error } = {}) =>
    async () => {
      inFlight.now += 1;
      inFlight.most = Math.max(inFlight.most, inFlight.now);
      written.push({ text, at: time });
      await sleep(takes);
      inFlight.now -= 1;
      if (error) throw error;
      return text;
    };
  const texts = () => written.map(({ text }) => text);
  return { scheduler, write, written, texts, inFlight, until };
}

const TEXT = { uploads: false, posts: false };
const FILES = { uploads: true, posts: false };
const POST = { uploads: false, posts: true };

describe('edits of many channels', () => {
  it('are forty a second', async () => {
    const perSecond = 40;
    const { scheduler, write, written, until } = setUp(() => 0);
    const channels = Array.from({ length: 80 }, (_, index) => `channel ${index}`);
    for (let at = 0; at <= 20_000; at += 250) {
      for (const channel of channels) scheduler.offer(channel, 'm', write(`${at}`));
      await until(at);
    }
    // The first words of all come at once, and the first pause is the usual one.
    const later = written.filter(({ at }) => at > 2_000).length;
    expect(later / 18).toBeLessThanOrEqual(perSecond);
    expect(later / 18).toBeGreaterThan(perSecond / 2);
  });
});

describe('edits of one channel', () => {
  it('begin at once, then come no faster than Discord likes, the newest state first', async () => {
    const { scheduler, write, written, until } = setUp();
    for (let word = 1; word <= 50; word += 1) {
      scheduler.offer('c', 'm', write(`${word}`));
      await until(word * 100);
    }
    await until(20_000);
    expect(written.map(({ text }) => text)).toEqual(['1', '12', '24', '36', '48', '50']);
    expect(written.map(({ at }) => at)).toEqual([0, 1_200, 2_400, 3_600, 4_800, 6_000]);
  });

  it('need not wait after a post, which Discord counts apart', async () => {
    const { scheduler, write, written, until } = setUp();
    void scheduler.write('c', 'm', write('thinking'), POST);
    await until(300);
    scheduler.offer('c', 'm', write('first words'));
    await until(400);
    void scheduler.write('c', 'other', write('another message'), POST);
    scheduler.offer('c', 'm', write('further words'));
    await until(20_000);
    expect(written).toEqual([
      { text: 'thinking', at: 0 },
      { text: 'first words', at: 300 },
      { text: 'another message', at: 400 },
      { text: 'further words', at: 1_500 },
    ]);
  });

  it('are in flight one at a time, and several messages alternate', async () => {
    const { scheduler, write, texts, inFlight, until } = setUp();
    for (let step = 0; step < 40; step += 1) {
      for (const message of ['a', 'b', 'c']) scheduler.offer('c', message, write(`${message}${step}`));
      await until((step + 1) * 200);
    }
    await until(60_000);
    expect(inFlight.most).toBe(1);
    expect(
      texts()
        .slice(0, 6)
        .map((text) => text[0]),
    ).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
    expect(texts().slice(-3).toSorted()).toEqual(['a39', 'b39', 'c39']);
  });

  it('hold back while one of them takes long, as when a Retry-After is waited out', async () => {
    const { scheduler, write, written, until } = setUp();
    scheduler.offer('c', 'a', write('a1', { takes: 5_000 }));
    await until(10);
    scheduler.offer('c', 'a', write('a2'));
    scheduler.offer('c', 'b', write('b1'));
    await until(4_000);
    expect(written).toHaveLength(1);
    scheduler.offer('c', 'a', write('a3'));
    await until(20_000);
    expect(written).toEqual([
      { text: 'a1', at: 0 },
      // First words go before further ones.
      { text: 'b1', at: 5_000 },
      { text: 'a3', at: 6_200 },
    ]);
  });

  it('come after a final write, which no older state can overwrite', async () => {
    const { scheduler, write, texts, inFlight, until } = setUp();
    scheduler.offer('c', 'a', write('a1', { takes: 500 }));
    await until(10);
    scheduler.offer('c', 'a', write('a2'));
    scheduler.offer('c', 'b', write('b1'));
    const end = scheduler.write('c', 'a', write('the end'), TEXT);
    const other = scheduler.write('c', 'd', write('another end'), TEXT);
    await until(1_000);
    expect(await Promise.all([end, other])).toEqual(['the end', 'another end']);
    await until(20_000);
    expect([texts()[0], texts().slice(1, 3).toSorted(), texts().slice(3)]).toEqual([
      'a1',
      ['another end', 'the end'],
      ['b1'],
    ]);
    expect(inFlight.most).toBe(1);
  });

  it('do not wait for files of another message, but for their own', async () => {
    const { scheduler, write, texts, until } = setUp();
    scheduler.offer('c', 'a', write('a1', { takes: 500 }));
    await until(10);
    const files = scheduler.write('c', 'a', write('a with files', { takes: 60_000 }), FILES);
    await until(510);
    expect(texts()).toEqual(['a1', 'a with files']);
    scheduler.offer('c', 'b', write('b1'));
    const after = scheduler.write('c', 'a', write('a after'), TEXT);
    await until(10_000);
    expect(texts()).toEqual(['a1', 'a with files', 'b1']);
    await until(80_000);
    expect(await files).toBe('a with files');
    expect(await after).toBe('a after');
  });

  it('that fail for now are tried again, less and less often, until one succeeds', async () => {
    const { scheduler, write, written, until } = setUp();
    const away = new PlatformError('unavailable', 'away');
    let tries = 0;
    scheduler.offer('c', 'a', async () => {
      tries += 1;
      await write(`try ${tries}`, tries < 4 ? { error: away } : {})();
    });
    await until(60_000);
    expect(written.map(({ at }) => at)).toEqual([0, 2_400, 7_200, 16_800]);
  });

  it('that fail for good are not, and the last write tells of it', async () => {
    const { scheduler, write, texts, until } = setUp();
    const gone = new PlatformError('gone', 'gone');
    scheduler.offer('c', 'a', write('a1', { error: gone }));
    await until(60_000);
    expect(texts()).toEqual(['a1']);
    const end = expect(scheduler.write('c', 'a', write('end', { error: gone }), TEXT)).rejects.toBe(gone);
    await until(120_000);
    await end;
  });

  it('that failed while the final write was in flight are not tried after it', async () => {
    const { scheduler, write, texts, until } = setUp();
    scheduler.offer('c', 'a', write('a1', { takes: 500, error: new PlatformError('unavailable', 'away') }));
    await until(10);
    const end = scheduler.write('c', 'a', write('end'), TEXT);
    await until(60_000);
    expect(await end).toBe('end');
    expect(texts()).toEqual(['a1', 'end']);
  });
});

describe('what Discord tells of its limits', () => {
  it('spreads edits over the time, counted from its answer', async () => {
    // Five in two seconds, told with each answer.
    const { scheduler, write, written, until } = setUp((_, now) => {
      const used = written.filter(({ at }) => at >= now - (now % 2_000)).length;
      return (2_000 - (now % 2_000)) / (5 - used + 1);
    });
    for (let word = 1; word <= 80; word += 1) {
      scheduler.offer('c', 'm', write(`${word}`, { takes: 0 }));
      await until(word * 50);
    }
    expect(written.map(({ at }) => at)).toEqual([
      0, 400, 800, 1_200, 1_600, 2_000, 2_400, 2_800, 3_200, 3_600, 4_000,
    ]);
  });

  it('does not bring more than fifty requests a second from many channels', async () => {
    const { scheduler, write, written, until } = setUp(() => 0);
    const channels = Array.from({ length: 100 }, (_, index) => `c${index}`);
    for (let step = 0; step < 100; step += 1) {
      for (const channel of channels) scheduler.offer(channel, 'm', write('more', { takes: 0 }));
      await until((step + 1) * 100);
    }
    expect(written.filter(({ at }) => at >= 5_000 && at < 10_000).length).toBeLessThanOrEqual(250);
    expect(written.filter(({ at }) => at >= 5_000 && at < 10_000).length).toBeGreaterThanOrEqual(150);
  });
});

it('channels do not wait for each other', async () => {
  const { scheduler, write, written, until } = setUp();
  scheduler.offer('c', 'm', write('slow', { takes: 30_000 }));
  scheduler.offer('d', 'm', write('quick'));
  await until(100);
  expect(written).toEqual([
    { text: 'slow', at: 0 },
    { text: 'quick', at: 0 },
  ]);
  await until(60_000);
});

it('nothing is taken after the end, and what waits is dropped', async () => {
  const { scheduler, write, texts, until } = setUp();
  scheduler.offer('c', 'm', write('1'));
  await until(10);
  scheduler.offer('c', 'm', write('2'));
  scheduler.close();
  scheduler.offer('c', 'm', write('3'));
  await until(60_000);
  expect(texts()).toEqual(['1']);
});
