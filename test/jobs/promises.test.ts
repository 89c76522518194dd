import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createBot } from '../../src/bot.ts';
import { defineCommand, type Invocation, type Outcome } from '../../src/command.ts';
import { createPromises, type Promises } from '../../src/jobs/promises.ts';
import type { Bot } from '../../src/platforms/platform.ts';
import { PlatformError } from '../../src/platforms/platform.ts';
import { StorageError } from '../../src/storage/storage.ts';
import { createWorld, type World } from './world.ts';

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
function process(alone: boolean, settings = world.storage.settings): Promises {
  return createPromises({
    settings,
    platform: () => world.platform,
    alone,
    now: world.clock.now,
    sleep: async () => undefined,
    newId: () => `process${++processes}`,
    log: world.log,
  });
}

/** One look of a watch. */
async function look(promises: Promises): Promise<void> {
  const signal = { aborted: false };
  const watched = promises.watch(
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
    await process(true).make(invocation);
    const next = process(true);
    await look(next);
    expect(world.message()?.text).toContain('restarted before I could begin');
    await look(next);
    expect(world.platform.history).toHaveLength(1);
  });

  it('of another replica is told only when it cannot be running any more', async () => {
    await process(false).make(invocation);
    const other = process(false);
    await look(other);
    expect(world.platform.history).toEqual([]);
    world.clock.advance(13 * 60_000);
    await look(other);
    expect(world.platform.history).toHaveLength(1);
  });

  it('is told later while the platform is away, and to the person alone where the place is gone', async () => {
    await process(true).make(invocation);
    world.platform.failures.push(
      new PlatformError('unavailable', 'away'),
      new PlatformError('gone', 'deleted'),
    );
    const next = process(true);
    await look(next);
    expect(world.platform.whispers).toEqual([]);
    await look(next);
    expect(world.platform.whispers[0]?.text).toContain('ask again');
  });

  it('that was begun after all owes nothing', async () => {
    const first = process(true);
    await first.make(invocation);
    await first.takeBack(invocation);
    await look(process(true));
    expect(world.platform.history).toEqual([]);
  });
});

describe('the bot', () => {
  function botWith(promises: Pick<Promises, 'make' | 'takeBack'>, answer: Promise<Outcome>): Bot {
    return createBot({
      commands: [defineCommand({ name: 'song', description: 'Slow', options: {}, run: () => answer })],
      admit: async ({ person }) => person,
      context: () => {
        // The command asks for no tool.
        return { jobs: {} } as never;
      },
      promises,
      newReference: () => 'abc',
      log: world.log,
    });
  }

  it('takes its promise back when there is an outcome, in whichever order the two come', async () => {
    const { promise: answer, resolve } = Promise.withResolvers<Outcome>();
    const first = process(true);
    const bot = botWith(first, answer);
    const running = bot.run(invocation);
    expect(await bot.promise?.(invocation)).toBe(true);
    resolve({ type: 'message', visibility: 'person', message: { text: 'Done.' } });
    await running;
    expect(await bot.promise?.(invocation)).toBe(true);
    await look(process(true));
    expect(world.platform.history).toEqual([]);
  });

  it('promises nothing that cannot be stored', async () => {
    const away = () => Promise.reject(new StorageError('unavailable', 'away'));
    const bot = botWith({ make: away, takeBack: away }, new Promise(() => undefined));
    void bot.run(invocation);
    expect(await bot.promise?.(invocation)).toBe(false);
    expect(world.log.lines.at(-1)?.level).toBe('error');
  });
});
