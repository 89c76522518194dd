import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Bot, createBot } from '../../src/core/bot/bot.ts';
import { defineCommand } from '../../src/core/bot/command.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { Invocation } from '../../src/core/invocation.ts';
import {
  createPendingAcknowledgements,
  type PendingAcknowledgementOptions,
  type PendingAcknowledgements,
} from '../../src/jobs/pending-acknowledgements.ts';
import { PlatformError } from '../../src/platforms/platform.ts';
import { StorageError } from '../../src/storage/storage.ts';
import { createWorld, SONG, type World } from './world.ts';

/** An acknowledgement that came before anything was stored as a job. */
let world: World;
let processes = 0;

beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const invocation: Invocation = {
  id: 'event-1',
  command: 'song',
  options: {},
  address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
  person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
};

/** A process on the storage of the world. */
function process(
  alone: boolean,
  settings = world.storage.settings,
  jobOf: PendingAcknowledgementOptions['jobOf'] = (platform, event) => world.jobs.ofEvent(platform, event),
): PendingAcknowledgements {
  return createPendingAcknowledgements({
    settings,
    platform: () => world.platform,
    jobOf,
    alone,
    now: world.clock.now,
    sleep: async () => undefined,
    newId: () => `process${++processes}`,
    log: world.log,
  });
}

/** One round of a watch. */
async function watchOnce(pending: PendingAcknowledgements): Promise<void> {
  const signal = { aborted: false };
  const watched = pending.watch(
    Object.defineProperty(new AbortController().signal, 'aborted', {
      get: () => {
        const ended = signal.aborted;
        signal.aborted = true;
        return ended;
      },
    }),
  );
  await watched;
}

describe('a request that was acknowledged and never stored', () => {
  it('is told after the restart of the only process, once', async () => {
    await process(true).add(invocation);
    const next = process(true);
    await watchOnce(next);
    expect(world.message()?.text).toContain('restarted before I could begin');
    await watchOnce(next);
    expect(world.platform.history).toHaveLength(1);
  });

  it('is not told where it was stored after all, and the process died before the record of it went', async () => {
    const job = await world.start(SONG, invocation);
    await process(true).add(invocation);
    await watchOnce(process(true));
    expect(world.platform.history).toEqual([]);
    expect(await world.storage.settings.entries()).toEqual([]);
    await world.advance(job);
    expect(world.message()?.progress?.stage).toBe('Composing');
  });

  it('is told later where storage does not say whether it was stored', async () => {
    await process(true).add(invocation);
    const next = process(true, world.storage.settings, () =>
      Promise.reject(new StorageError('unavailable', 'away')),
    );
    await watchOnce(next);
    expect(world.platform.history).toEqual([]);
    await watchOnce(process(true));
    expect(world.message()?.text).toContain('restarted before I could begin');
  });

  it('of another replica is told only when it cannot be running any more', async () => {
    await process(false).add(invocation);
    const other = process(false);
    await watchOnce(other);
    expect(world.platform.history).toEqual([]);
    world.clock.advance(13 * 60_000);
    await watchOnce(other);
    expect(world.platform.history).toHaveLength(1);
  });

  it('of another replica is not told while that one still works on it, however long that takes', async () => {
    const [working, other] = [process(false), process(false)];
    await working.add(invocation);
    for (let tenMinutes = 1; tenMinutes <= 3; tenMinutes += 1) {
      world.clock.advance(10 * 60_000);
      await watchOnce(working);
      await watchOnce(other);
    }
    expect(world.platform.history).toEqual([]);
    // It dies.
    world.clock.advance(13 * 60_000);
    await watchOnce(other);
    expect(world.platform.history).toHaveLength(1);
  });

  it.each([true, false])(
    'is told by its own process once it gave up, and not before (alone: %s)',
    async (alone) => {
      const own = process(alone);
      await own.add(invocation);
      world.clock.advance(20 * 60_000);
      await watchOnce(own);
      await own.tellLater(invocation);
      await watchOnce(own);
      expect(world.platform.history).toEqual([]);
      world.clock.advance(13 * 60_000);
      await watchOnce(own);
      await watchOnce(own);
      expect(world.platform.history).toHaveLength(1);
      expect(await world.storage.settings.entries()).toEqual([]);
    },
  );

  it('is told later while the platform is away, and to the person alone where the channel is gone', async () => {
    await process(true).add(invocation);
    world.platform.failures.push(
      new PlatformError('unavailable', 'away'),
      new PlatformError('gone', 'deleted'),
    );
    const next = process(true);
    await watchOnce(next);
    expect(world.platform.privateMessages).toEqual([]);
    await watchOnce(next);
    expect(world.platform.privateMessages[0]?.text).toContain('ask again');
  });

  it('is told once although two replicas look at the same time, and one of them dies meanwhile', async () => {
    await process(false).add(invocation);
    world.clock.advance(13 * 60_000);
    const replicas = [process(false), process(false)];
    world.platform.failures.push(new PlatformError('unavailable', 'away'));
    await Promise.all(replicas.map(watchOnce));
    await Promise.all(replicas.map(watchOnce));
    expect(world.platform.history).toHaveLength(1);
  });

  it('is told once to the person alone, whose messages have no key', async () => {
    await process(false).add(invocation);
    world.clock.advance(13 * 60_000);
    world.platform.failures.push(new PlatformError('gone', 'deleted'), new PlatformError('gone', 'deleted'));
    await Promise.all([process(false), process(false)].map(watchOnce));
    expect(world.platform.privateMessages).toHaveLength(1);
  });

  it('is told by another replica when the one that wanted to tell died', async () => {
    await process(false).add(invocation);
    world.clock.advance(13 * 60_000);
    world.platform.failures.push(new PlatformError('unavailable', 'away'));
    await watchOnce(process(false));
    const other = process(false);
    await watchOnce(other);
    expect(world.platform.history).toEqual([]);
    world.clock.advance(13 * 60_000);
    await watchOnce(other);
    expect(world.platform.history).toHaveLength(1);
  });

  it('is told although an older version stored it', async () => {
    const { address } = invocation;
    const entry = { address, command: 'song', madeAt: world.clock.now(), process: 'former' };
    await world.storage.settings.set('promises', { 'discord:event-1': entry });
    const next = process(true);
    await watchOnce(next);
    await watchOnce(next);
    expect(world.platform.history).toHaveLength(1);
    expect(await world.storage.settings.entries()).toEqual([]);
  });

  it('waits for no other request: each is stored under a key of its own', async () => {
    const first = process(true);
    await Promise.all(['event-1', 'event-2'].map((id) => first.add({ ...invocation, id })));
    const keys = (await world.storage.settings.entries()).map(([key]) => key);
    expect(keys.toSorted()).toEqual(['pending:discord:event-1', 'pending:discord:event-2']);
  });

  it('that was begun after all owes nothing', async () => {
    const first = process(true);
    await first.add(invocation);
    await first.remove(invocation);
    await watchOnce(process(true));
    expect(world.platform.history).toEqual([]);
  });
});

describe('the bot', () => {
  function botWith(pending: Omit<PendingAcknowledgements, 'watch'>, answer: Promise<Outcome>): Bot {
    return createBot({
      commands: [defineCommand({ name: 'song', description: 'Slow', options: {}, run: () => answer })],
      admit: async ({ person }) => ({ person, settings: undefined }),
      context: () => {
        // The command asks for no tool.
        return { jobs: {} } as never;
      },
      pending,
      newReference: () => 'abc',
      log: world.log,
    });
  }

  it('is kept until the person is answered, and told of if that never comes', async () => {
    const first = process(true);
    const said = { type: 'message', visibility: 'person', message: { text: 'Done.' } } as const;
    const bot = botWith(first, Promise.resolve(said));
    for (const asked of [invocation, { ...invocation, id: 'event-2' }]) {
      expect(await bot.recordPendingAcknowledgement?.(asked)).toBe(true);
      await bot.run(asked);
      // The process dies before it answers the second.
      if (asked === invocation) await bot.answered?.(asked);
    }
    await watchOnce(process(true));
    expect(world.platform.history).toHaveLength(1);
  });

  it('owes nothing for a record that was stored although the storage said no, or could not be removed at once', async () => {
    const { settings } = world.storage;
    let away = true;
    const lost = <Result>(done: Promise<Result>) =>
      done.then((result) => (away ? Promise.reject(new StorageError('unavailable', 'away')) : result));
    const first = process(true, {
      ...settings,
      set: (key, value) => lost(settings.set(key, value)),
      delete: (key) => (away ? lost(Promise.resolve()) : settings.delete(key)),
    });
    const { promise: answer, resolve } = Promise.withResolvers<Outcome>();
    const bot = botWith(first, answer);
    const running = bot.run(invocation);
    expect(await bot.recordPendingAcknowledgement?.(invocation)).toBe(false);
    resolve({ type: 'message', visibility: 'person', message: { text: 'Done.' } });
    await running;
    await bot.answered?.(invocation);
    away = false;
    await watchOnce(first);
    await watchOnce(process(true));
    expect(world.platform.history).toEqual([]);
  });

  it('has told nobody later whom it answered after all', async () => {
    const first = process(true);
    const bot = botWith(first, new Promise(() => undefined));
    await bot.recordPendingAcknowledgement?.(invocation);
    await bot.tellLater?.(invocation);
    await bot.answered?.(invocation);
    world.clock.advance(13 * 60_000);
    await watchOnce(first);
    expect(world.platform.history).toEqual([]);
  });

  it('pending nothing that cannot be stored', async () => {
    const away = () => Promise.reject(new StorageError('unavailable', 'away'));
    const bot = botWith({ add: away, remove: away, tellLater: away }, new Promise(() => undefined));
    void bot.run(invocation);
    expect(await bot.recordPendingAcknowledgement?.(invocation)).toBe(false);
    expect(world.log.lines.at(-1)?.level).toBe('error');
  });
});
