/** What every storage keeps to. Run on each by test/storage/*.test.ts. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Job } from '../../src/jobs/job.ts';
import type { Storage, WakeHandler } from '../../src/storage/storage.ts';
import { oneSong, songJob } from '../storage/jobs.ts';
import { type Replica, type ReplicaPlace, startReplica } from '../storage/replica-process.ts';

/** Where one test keeps its data. */
export interface StorageHarness {
  /** Opens the data; again after the storage was closed. */
  open(): Promise<Storage>;
  /** Tells a process of its own how to open the same data. */
  readonly place: ReplicaPlace;
  dispose(): Promise<void>;
}

const channel = { platform: 'discord', channel: 'channel' };
const MINUTE = 60_000;

export function storageContract(name: string, makeHarness: () => Promise<StorageHarness>): void {
  describe(`${name} keeps the storage contract`, () => {
    let harness: StorageHarness;
    let storage: Storage;

    beforeEach(async () => {
      harness = await makeHarness();
      storage = await harness.open();
    });
    afterEach(async () => {
      await storage.close();
      await harness.dispose();
    });

    async function reopen(): Promise<void> {
      await storage.close();
      storage = await harness.open();
    }

    async function stored(...jobs: Job[]): Promise<void> {
      for (const job of jobs) expect(await storage.jobs.create(job)).toBe(true);
    }

    async function openJobs(): Promise<string[]> {
      const ids: string[] = [];
      for await (const id of storage.jobs.open()) ids.push(id);
      return ids.sort();
    }

    describe('job records', () => {
      test('a job is read back as it was created, also after a restart', async () => {
        const job = songJob({
          id: 'a',
          title: 'Regen für “Ada” \u0000 🎵',
          result: oneSong('Rain'),
          posted: { x: [1, null] },
        });
        await stored(job);
        expect(await storage.jobs.read('a')).toEqual(job);
        await reopen();
        expect(await storage.jobs.read('a')).toEqual(job);
      });

      test('a job that nobody created is undefined', async () => {
        expect(await storage.jobs.read('nobody')).toBeUndefined();
      });

      test('the same id is created once', async () => {
        await stored(songJob({ id: 'a' }));
        expect(await storage.jobs.create(songJob({ id: 'a', invocation: 'other', title: 'other' }))).toBe(
          false,
        );
        expect(await storage.jobs.read('a')).toEqual(songJob({ id: 'a' }));
      });

      test('one invocation makes one job, and the refused one leaves nothing behind', async () => {
        await stored(songJob({ id: 'a', invocation: 'same' }));
        expect(await storage.jobs.create(songJob({ id: 'b', invocation: 'same' }))).toBe(false);
        expect(await storage.jobs.read('b')).toBeUndefined();
        expect(await openJobs()).toEqual(['a']);
        expect(await storage.jobs.running(channel, 'ada')).toHaveLength(1);
      });

      test('of many creations of one invocation at the same time one wins', async () => {
        const won = await Promise.all(
          Array.from({ length: 50 }, (_, index) =>
            storage.jobs.create(songJob({ id: `job${index}`, invocation: 'same' })),
          ),
        );
        expect(won.filter(Boolean)).toHaveLength(1);
        expect(await openJobs()).toHaveLength(1);
      });

      test('replacing counts the version up and returns what was written', async () => {
        await stored(songJob({ id: 'a' }));
        const written = await storage.jobs.replace(songJob({ id: 'a', state: 'submitting' }));
        expect(written).toEqual(songJob({ id: 'a', state: 'submitting', version: 2 }));
        expect(await storage.jobs.read('a')).toEqual(written);
      });

      test('replacing an older version changes nothing', async () => {
        await stored(songJob({ id: 'a' }));
        await storage.jobs.replace(songJob({ id: 'a', state: 'submitting' }));
        expect(await storage.jobs.replace(songJob({ id: 'a', state: 'failed' }))).toBeUndefined();
        expect(await storage.jobs.read('a')).toMatchObject({ state: 'submitting', version: 2 });
        expect(await openJobs()).toEqual(['a']);
      });

      test('replacing what does not exist changes nothing', async () => {
        expect(await storage.jobs.replace(songJob({ id: 'a' }))).toBeUndefined();
        expect(await storage.jobs.read('a')).toBeUndefined();
      });

      test('of many replacements at the same time one wins, and is what stands', async () => {
        await stored(songJob({ id: 'a' }));
        const results = await Promise.all(
          Array.from({ length: 100 }, (_, index) =>
            storage.jobs.replace(songJob({ id: 'a', title: `writer ${index}` })),
          ),
        );
        const winners = results.filter((job) => job !== undefined);
        expect(winners).toHaveLength(1);
        expect(await storage.jobs.read('a')).toEqual(winners[0]);
      });

      test('a counter kept by compare-and-set loses no count', async () => {
        await stored(songJob({ id: 'a' }));
        const count = async () => {
          for (;;) {
            const job = await storage.jobs.read('a');
            if (job && (await storage.jobs.replace({ ...job, polls: job.polls + 1 }))) return;
          }
        };
        await Promise.all(Array.from({ length: 20 }, count));
        expect(await storage.jobs.read('a')).toMatchObject({ polls: 20, version: 21 });
      });
    });

    describe('queries', () => {
      test('running: the open jobs of one person in one channel, oldest first', async () => {
        const elsewhere = { platform: 'discord', channel: 'elsewhere', person: 'ada' };
        const bob = { id: 'bob', displayName: 'Bob', moderator: false, roles: [] };
        await stored(
          songJob({ id: 'newest', createdAt: 3_000, state: 'ready' }),
          songJob({ id: 'oldest', createdAt: 1_000, state: 'waiting' }),
          songJob({ id: 'middle', createdAt: 2_000, state: 'submitting' }),
          songJob({ id: 'done', createdAt: 1_500, state: 'delivered', finishedAt: 9_000 }),
          songJob({ id: 'elsewhere', address: elsewhere }),
          songJob({ id: 'slack', address: { ...elsewhere, platform: 'slack', channel: 'channel' } }),
          songJob({ id: 'bob', person: bob }),
        );
        const ids = (await storage.jobs.running(channel, 'ada')).map(({ id }) => id);
        expect(ids).toEqual(['oldest', 'middle', 'newest']);
      });

      test('running: a job leaves when it ends', async () => {
        await stored(songJob({ id: 'a' }));
        await storage.jobs.replace(songJob({ id: 'a', state: 'cancelled', finishedAt: 2_000 }));
        expect(await storage.jobs.running(channel, 'ada')).toEqual([]);
      });

      test('a job whose place changes is found in its new one only', async () => {
        const moved = { platform: 'discord', channel: 'direct', person: 'ada' };
        await stored(songJob({ id: 'a', state: 'ready', result: oneSong('Rain') }));
        await storage.jobs.replace(
          songJob({ id: 'a', state: 'ready', result: oneSong('Rain'), address: moved }),
        );
        for (const [where, found] of [[channel, 0] as const, [moved, 1] as const]) {
          expect(await storage.jobs.running(where, 'ada')).toHaveLength(found);
          expect(await storage.jobs.recentSongs(where, 5)).toHaveLength(found);
        }
      });

      test('names that look like parts of keys are kept apart', async () => {
        const place = (platform: string, name: string) => ({ platform, channel: name, person: 'ada' });
        await stored(
          songJob({ id: 'a', address: place('discord', 'x:ada') }),
          songJob({ id: 'b', address: place('discord:x', 'ada') }),
        );
        const found = await storage.jobs.running(place('discord', 'x:ada'), 'ada');
        expect(found.map(({ id }) => id)).toEqual(['a']);
      });

      test('recentSongs: the newest of the channel first, as many as asked for', async () => {
        await stored(
          songJob({ id: 'second', createdAt: 2_000, state: 'delivered', result: oneSong('two') }),
          songJob({ id: 'third', createdAt: 3_000, state: 'ready', result: oneSong('three') }),
          songJob({ id: 'first', createdAt: 1_000, state: 'failed', result: oneSong('one') }),
          songJob({
            id: 'none',
            createdAt: 4_000,
            state: 'delivered',
            result: { ...oneSong(''), songs: [] },
          }),
          songJob({ id: 'partial', createdAt: 5_000, state: 'waiting', result: oneSong('half') }),
          songJob({
            id: 'elsewhere',
            createdAt: 6_000,
            state: 'delivered',
            result: oneSong('other'),
            address: { platform: 'discord', channel: 'elsewhere', person: 'ada' },
          }),
        );
        const ids = async (limit: number) =>
          (await storage.jobs.recentSongs(channel, limit)).map(({ id }) => id);
        expect(await ids(10)).toEqual(['third', 'second', 'first']);
        expect(await ids(2)).toEqual(['third', 'second']);
      });

      test('recentSongs: a job comes in when its songs are complete', async () => {
        await stored(songJob({ id: 'a', state: 'waiting', result: oneSong('Rain') }));
        expect(await storage.jobs.recentSongs(channel, 5)).toEqual([]);
        await storage.jobs.replace(songJob({ id: 'a', state: 'ready', result: oneSong('Rain') }));
        expect(await storage.jobs.recentSongs(channel, 5)).toHaveLength(1);
      });

      test('open: all open jobs of all channels, however many, and only those', async () => {
        const ids = Array.from({ length: 1_203 }, (_, index) => `job${index}`);
        await Promise.all(ids.map((id) => storage.jobs.create(songJob({ id }))));
        await storage.jobs.replace(songJob({ id: 'job7', state: 'expired' }));
        expect(await openJobs()).toEqual(ids.filter((id) => id !== 'job7').sort());
      });

      test('recentDurations: from submission to delivery, the last delivered first', async () => {
        await stored(
          songJob({ id: 'a', state: 'delivered', createdAt: 0, submittedAt: 1_000, finishedAt: 61_000 }),
          songJob({ id: 'b', state: 'delivered', createdAt: 0, submittedAt: 5_000, finishedAt: 95_000 }),
          songJob({ id: 'c', state: 'delivered', createdAt: 0, finishedAt: 30_000 }),
          songJob({ id: 'd', state: 'failed', createdAt: 0, submittedAt: 1_000, finishedAt: 99_000 }),
          songJob({ id: 'e', state: 'waiting', createdAt: 0, submittedAt: 1_000 }),
          songJob({
            id: 'f',
            state: 'delivered',
            submittedAt: 1_000,
            finishedAt: 2_000,
            work: { route: 'music.wavGenerate', request: { taskId: 't', audioId: 'a' } },
          }),
        );
        expect(await storage.jobs.recentDurations('music.generate', 10)).toEqual([90_000, 60_000, 30_000]);
        expect(await storage.jobs.recentDurations('music.generate', 1)).toEqual([90_000]);
        expect(await storage.jobs.recentDurations('media.video', 10)).toEqual([]);
      });
    });

    describe('the inbox', () => {
      test('keeps callbacks in the order they came, also after a restart', async () => {
        expect(await storage.inbox.put('a', '{"stage":"text"}', 1_000)).toBe(true);
        expect(await storage.inbox.put('a', '{"stage":"first"}', 2_000)).toBe(true);
        await reopen();
        expect(await storage.inbox.put('a', '{"stage":"complete"}', 3_000)).toBe(true);
        expect(await storage.inbox.read('a', 0)).toEqual([
          { sequence: 1, receivedAt: 1_000, body: '{"stage":"text"}' },
          { sequence: 2, receivedAt: 2_000, body: '{"stage":"first"}' },
          { sequence: 3, receivedAt: 3_000, body: '{"stage":"complete"}' },
        ]);
        expect(await storage.inbox.read('a', 2)).toEqual([
          { sequence: 3, receivedAt: 3_000, body: '{"stage":"complete"}' },
        ]);
        expect(await storage.inbox.read('a', 3)).toEqual([]);
      });

      test('every job has its own', async () => {
        await storage.inbox.put('a', 'same', 1_000);
        await storage.inbox.put('b', 'same', 1_000);
        expect(await storage.inbox.read('a', 0)).toHaveLength(1);
        expect(await storage.inbox.read('b', 0)).toHaveLength(1);
        expect(await storage.inbox.read('c', 0)).toEqual([]);
      });

      test('a thousand duplicates at the same time are kept once', async () => {
        const kept = await Promise.all(
          Array.from({ length: 1_000 }, (_, index) => storage.inbox.put('a', 'same', index)),
        );
        expect(kept.every(Boolean)).toBe(true);
        expect(await storage.inbox.read('a', 0)).toMatchObject([{ sequence: 1, body: 'same' }]);
      });

      test('holds 64 entries a job; a duplicate of one of them is still fine', async () => {
        const kept = await Promise.all(
          Array.from({ length: 70 }, (_, index) => storage.inbox.put('a', `body ${index}`, index)),
        );
        expect(kept.filter(Boolean)).toHaveLength(64);
        expect(await storage.inbox.put('a', 'one more', 99)).toBe(false);
        const entries = await storage.inbox.read('a', 0);
        expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
        expect(await storage.inbox.put('a', entries[0]?.body ?? '', 99)).toBe(true);
        expect(await storage.inbox.put('b', 'one more', 99)).toBe(true);
      });

      test('bodies come back to the letter', async () => {
        const body = `${'\u0000\r\n"\\🎵é'.repeat(20_000)}`;
        await storage.inbox.put('a', body, 1_000);
        expect((await storage.inbox.read('a', 0))[0]?.body).toBe(body);
      });
    });

    describe('wake-ups', () => {
      /** Handles and remembers; `answer` is what the handler says, by default never again. */
      function recorder(answer: WakeHandler = async () => undefined) {
        const handled: { job: string; at: number }[] = [];
        const handler: WakeHandler = (job, signal) => {
          handled.push({ job, at: Date.now() });
          return answer(job, signal);
        };
        return { handler, handled, times: (job: string) => handled.filter((one) => one.job === job).length };
      }

      /** A handler that waits until it is let go. */
      function gate() {
        const waiting: { job: string; signal: AbortSignal; go: (next?: number) => void }[] = [];
        const handler: WakeHandler = (job, signal) =>
          new Promise((resolve) => {
            waiting.push({ job, signal, go: (next) => resolve(next) });
          });
        const letGo = async (next?: number) => {
          await vi.waitFor(() => expect(waiting.length).toBeGreaterThan(0), 10_000);
          waiting.shift()?.go(next);
        };
        return { handler, waiting, letGo };
      }

      test('a wish of now is handled at once', async () => {
        const { handler, handled } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        const wished = Date.now();
        await storage.wakeUps.wake('a', wished);
        await vi.waitFor(() => expect(handled).toHaveLength(1), { interval: 5, timeout: 5_000 });
        expect((handled[0]?.at ?? 0) - wished).toBeLessThan(1_000);
      });

      test('a wish for later is not handled before its time', async () => {
        const { handler, handled } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        const at = Date.now() + 400;
        await storage.wakeUps.wake('a', at);
        await vi.waitFor(() => expect(handled).toHaveLength(1), 5_000);
        expect(handled[0]?.at).toBeGreaterThanOrEqual(at);
      });

      test('a job may be woken while nobody handles yet', async () => {
        await storage.wakeUps.wake('a', Date.now());
        const { handler, times } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await vi.waitFor(() => expect(times('a')).toBe(1), 5_000);
      });

      test('the earliest wish wins, whichever came first', async () => {
        const { handler, handled, times } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await storage.wakeUps.wake('a', Date.now() + 10 * MINUTE);
        await storage.wakeUps.wake('a', Date.now());
        const soon = Date.now() + 300;
        await storage.wakeUps.wake('b', soon);
        await storage.wakeUps.wake('b', soon + 10 * MINUTE);
        await vi.waitFor(() => expect([times('a'), times('b')]).toEqual([1, 1]), 5_000);
        expect(handled.find(({ job }) => job === 'b')?.at).toBeGreaterThanOrEqual(soon);
      });

      test('many wishes at the same time: the earliest of them wins', async () => {
        const { handler, times } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await Promise.all(
          Array.from({ length: 40 }, (_, index) =>
            storage.wakeUps.wake('a', Date.now() + (index === 20 ? 50 : 10 * MINUTE + index)),
          ),
        );
        await vi.waitFor(() => expect(times('a')).toBe(1), 5_000);
      });

      test('a handler says when to look again', async () => {
        const { handler, handled, times } = recorder(async () =>
          handled.length < 3 ? Date.now() + 100 : undefined,
        );
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await storage.wakeUps.wake('a', Date.now());
        await vi.waitFor(() => expect(times('a')).toBe(3), 10_000);
      });

      test('a handler that says never is not called again, not even after a restart', async () => {
        const first = recorder();
        await storage.wakeUps.start(first.handler, { concurrency: 4 });
        await storage.wakeUps.wake('a', Date.now());
        await vi.waitFor(() => expect(first.times('a')).toBe(1), 5_000);
        await reopen();
        const second = recorder();
        await storage.wakeUps.start(second.handler, { concurrency: 4 });
        // Whatever was left of "a" would come before this.
        await storage.wakeUps.wake('last', Date.now());
        await vi.waitFor(() => expect(second.times('last')).toBe(1), 5_000);
        expect(second.times('a')).toBe(0);
      });

      test('one handler a job at a time, however often it is woken; the wish is kept for after', async () => {
        const { handler, waiting, letGo } = gate();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await storage.wakeUps.wake('a', Date.now());
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        await Promise.all(Array.from({ length: 20 }, () => storage.wakeUps.wake('a', Date.now())));
        await storage.wakeUps.wake('b', Date.now());
        await vi.waitFor(() => expect(waiting.map(({ job }) => job)).toEqual(['a', 'b']), 5_000);
        await letGo();
        await letGo();
        await vi.waitFor(() => expect(waiting.map(({ job }) => job)).toEqual(['a']), 5_000);
        await letGo();
      });

      test('a wish for later made during handling is kept, also when the handler says never', async () => {
        const { handler, waiting, letGo } = gate();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await storage.wakeUps.wake('a', Date.now());
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        const at = Date.now() + 400;
        await storage.wakeUps.wake('a', at);
        await letGo();
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        expect(Date.now()).toBeGreaterThanOrEqual(at);
        await letGo();
      });

      test('a wish made during handling counts when it is earlier than what the handler says', async () => {
        const { handler, waiting, letGo } = gate();
        await storage.wakeUps.start(handler, { concurrency: 4 });
        await storage.wakeUps.wake('a', Date.now());
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        await storage.wakeUps.wake('a', Date.now());
        await letGo(Date.now() + 10 * MINUTE);
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        await letGo();
      });

      test('no more handlers at once than allowed, and all jobs get their turn', async () => {
        let running = 0;
        let most = 0;
        const { handler, handled } = recorder(async () => {
          running += 1;
          most = Math.max(most, running);
          await new Promise(setImmediate);
          running -= 1;
          return undefined;
        });
        await storage.wakeUps.start(handler, { concurrency: 3 });
        const jobs = Array.from({ length: 60 }, (_, index) => `job${index}`);
        await Promise.all(jobs.map((job) => storage.wakeUps.wake(job, Date.now())));
        await vi.waitFor(() => expect(new Set(handled.map(({ job }) => job)).size).toBe(60), 10_000);
        expect(most).toBeLessThanOrEqual(3);
        expect(handled).toHaveLength(60);
      });

      test('a handler that throws is called again, and does not hold up the others', async () => {
        const { handler, times } = recorder(async (job) => {
          if (job === 'broken' && times('broken') === 1) throw new Error('no luck');
          return undefined;
        });
        await storage.wakeUps.start(handler, { concurrency: 1 });
        await storage.wakeUps.wake('broken', Date.now());
        await storage.wakeUps.wake('fine', Date.now());
        await vi.waitFor(() => expect(times('fine')).toBe(1), 5_000);
        await vi.waitFor(() => expect(times('broken')).toBe(2), 10_000);
      });

      test('stop tells handlers, waits for their end, and starts nothing new', async () => {
        const { handler, waiting } = gate();
        await storage.wakeUps.start(handler, { concurrency: 1 });
        await storage.wakeUps.wake('a', Date.now());
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        await storage.wakeUps.wake('b', Date.now());
        let stopped = false;
        const stopping = storage.wakeUps.stop().then(() => {
          stopped = true;
        });
        await vi.waitFor(() => expect(waiting[0]?.signal.aborted).toBe(true), 5_000);
        await storage.check();
        expect(stopped).toBe(false);
        waiting[0]?.go();
        await stopping;
        expect(waiting).toHaveLength(1);
      });

      test('wishes outlive stop, close and reopen', async () => {
        const { handler, waiting } = gate();
        await storage.wakeUps.start(handler, { concurrency: 1 });
        await storage.wakeUps.wake('handled', Date.now());
        await vi.waitFor(() => expect(waiting).toHaveLength(1), 5_000);
        await storage.wakeUps.wake('waiting', Date.now());
        await storage.wakeUps.wake('handled', Date.now());
        const stopping = storage.wakeUps.stop();
        await storage.wakeUps.wake('late', Date.now());
        waiting[0]?.go();
        await stopping;
        await reopen();
        const { handler: next, handled } = recorder();
        await storage.wakeUps.start(next, { concurrency: 4 });
        await vi.waitFor(
          () => expect(handled.map(({ job }) => job).sort()).toEqual(['handled', 'late', 'waiting']),
          10_000,
        );
      });

      test('a handler that gives up because of the stop is called again after the start', async () => {
        await storage.wakeUps.start(
          (_job, signal) =>
            new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
          { concurrency: 1 },
        );
        await storage.wakeUps.wake('a', Date.now());
        await reopen();
        const { handler, times } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 1 });
        await vi.waitFor(() => expect(times('a')).toBe(1), 10_000);
      });

      test('what a killed process was handling is handled again', async () => {
        await storage.wakeUps.wake('a', Date.now());
        await storage.close();
        const replica: Replica = await startReplica(harness.place, 'hang');
        try {
          await replica.said('handling a');
        } finally {
          await replica.kill();
        }
        storage = await harness.open();
        const { handler, times } = recorder();
        await storage.wakeUps.start(handler, { concurrency: 1 });
        await vi.waitFor(() => expect(times('a')).toBe(1), 15_000);
      });

      test('a time that never comes is refused', async () => {
        await expect(storage.wakeUps.wake('a', Number.NaN)).rejects.toThrow(RangeError);
        await expect(storage.wakeUps.wake('a', Number.POSITIVE_INFINITY)).rejects.toThrow(RangeError);
      });
    });

    describe('settings', () => {
      test('are kept, also after a restart, and can be deleted', async () => {
        const value = { song: 'V5', prompt: 'Sei kurz 🎵', limits: { day: 3, nobody: null } };
        await storage.settings.set('discord:channel', value);
        await storage.settings.set('discord:other', false);
        await reopen();
        expect(await storage.settings.get('discord:channel')).toEqual(value);
        expect(await storage.settings.get('discord:other')).toBe(false);
        await storage.settings.delete('discord:channel');
        expect(await storage.settings.get('discord:channel')).toBeUndefined();
        expect(await storage.settings.get('discord:other')).toBe(false);
      });

      test('what was never set, or deleted twice, is undefined', async () => {
        await storage.settings.delete('nothing');
        expect(await storage.settings.get('nothing')).toBeUndefined();
      });
    });

    describe('secrets', () => {
      test('the first caller decides, for all and for ever', async () => {
        let made = 0;
        const make = () => {
          made += 1;
          return `secret ${made}`;
        };
        const secrets = await Promise.all(
          Array.from({ length: 10 }, () => storage.secret('callbacks', make)),
        );
        expect(new Set(secrets).size).toBe(1);
        await reopen();
        expect(await storage.secret('callbacks', () => 'another')).toBe(secrets[0]);
        expect(await storage.secret('files', () => 'of its own')).toBe('of its own');
      });
    });

    describe('its health', () => {
      test('check resolves while it works', async () => {
        await expect(storage.check()).resolves.toBeUndefined();
      });

      test('after close everything says so with a StorageError', async () => {
        const closed = storage;
        await reopen();
        const unavailable = expect.objectContaining({ name: 'StorageError', code: 'unavailable' });
        await expect(closed.jobs.read('a')).rejects.toEqual(unavailable);
        await expect(closed.jobs.create(songJob({ id: 'a' }))).rejects.toEqual(unavailable);
        await expect(closed.inbox.put('a', 'body', 1)).rejects.toEqual(unavailable);
        await expect(closed.wakeUps.wake('a', 1)).rejects.toEqual(unavailable);
        await expect(closed.settings.set('a', 1)).rejects.toEqual(unavailable);
        await expect(closed.check()).rejects.toEqual(unavailable);
      });

      test('closing twice is harmless', async () => {
        await storage.close();
        await storage.close();
      });
    });
  });
}
