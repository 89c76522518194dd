import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { createPendingAcknowledgements } from '../../../../src/jobs/pending-acknowledgements.ts';
import { createWorld } from '../../../jobs/world.ts';
import { readableText } from '../../../servers/slack/mentions.ts';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** Mentions, direct messages and replies that take longer than Slack waits for an acknowledgement. */
let harness: Harness;

afterEach(() => harness.stop());

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ realTime: true, ...options });
  return harness;
};

it.each(['socket', 'http'] as const)(
  'a mention whose thread cannot be read in time is recorded, and acknowledged then (%s)',
  async (connection) => {
    const { server, bot } = await start({ connection });
    const { message: root } = await server.say('first words', { user: 'U0BOB' });
    server.hold('conversations.replies');
    const { message, deliveries } = await server.mention('what is this?', { threadTs: root.ts });
    expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 1 }]);
    expect(bot.pendingAcknowledgements).toEqual([`T0MINSTREL:C0MUSIC:${message.ts}`]);
    expect(bot.invocations).toEqual([]);
    expect(server.refused).toEqual([]);
  },
);

it('a direct message of an app that does not know yet who it is is recorded before it is acknowledged', async () => {
  const { server, bot } = await start({
    trouble: ({ faults }) => faults.next('auth.test', { type: 'dropped' }),
  });
  server.hold('auth.test');
  const { message, deliveries } = await server.directMessage('hello');
  expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 1 }]);
  expect(bot.pendingAcknowledgements).toEqual([`T0MINSTREL:D0ADA:${message.ts}`]);
});

it('the record goes when the question was handled, also where it came to nothing', async () => {
  const { server, bot } = await start();
  const held = Promise.withResolvers<void>();
  bot.answer = async () => {
    await held.promise;
    return { type: 'message', visibility: 'person', message: { text: 'No.' } };
  };
  const { message } = await server.mention('may I?');
  held.resolve();
  const id = `T0MINSTREL:C0MUSIC:${message.ts}`;
  await server.until(() => bot.answeredIds.includes(id));
  expect(new Set(bot.pendingAcknowledgements)).toEqual(new Set([id]));
  expect(server.refused).toEqual([]);
});

it('what cannot be recorded is acknowledged when it was handled, and so is what Slack sent again meanwhile', async () => {
  const { server, bot } = await start({ ackTimeoutMs: 2_500, redeliveryMs: [0] });
  bot.storesAcknowledgements = false;
  const held = Promise.withResolvers<void>();
  bot.answer = async () => {
    await held.promise;
    return bot.accepted();
  };
  const asked = server.mention('hello');
  // Slack waited in vain for the first.
  await expect.poll(() => server.refused.length).toBe(1);
  held.resolve();
  expect((await asked).deliveries).toMatchObject([{ acknowledged: true, attempts: 2 }]);
  expect(bot.invocations).toHaveLength(1);
  expect(bot.begun).toBe(1);
});

it('a person whose question fails after it was acknowledged is told so', async () => {
  const { server, bot } = await start();
  const held = Promise.withResolvers<void>();
  bot.answer = async () => {
    await held.promise;
    throw new Error('a fault of the bot');
  };
  const { message, deliveries } = await server.mention('hello');
  expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 1 }]);
  held.resolve();
  const told = await server.until(() => server.ephemeralsOf()[0]);
  expect(told).toMatchObject({ channel: 'C0MUSIC', threadTs: message.ts });
  expect(readableText(told)).toContain('Something broke on our side. Please try again');
  await server.until(() => bot.answeredIds.length > 0);
  expect(server.refused).toEqual([]);
});

describe('a person whom Slack lets nobody tell', () => {
  /** With the real records, which are looked at once. */
  async function remember({ bot, slack }: Harness) {
    const world = await createWorld();
    onTestFinished(() => world[Symbol.asyncDispose]());
    const stop = new AbortController();
    const pending = createPendingAcknowledgements({
      settings: world.storage.settings,
      platform: () => slack,
      jobOf: (platform, event) => world.jobs.ofEvent(platform, event),
      alone: true,
      now: world.clock.now,
      sleep: async () => stop.abort(),
      newId: () => 'process',
      log: world.log,
    });
    bot.recordPendingAcknowledgement = async (asking) => {
      await pending.add(asking);
      return true;
    };
    bot.answered = (asking) => pending.remove(asking);
    let unreached = 0;
    bot.tellLater = async (asking) => {
      await pending.tellLater(asking);
      unreached += 1;
    };
    return {
      unreached: () => unreached,
      count: async () => (await world.storage.settings.entries()).length,
      tell: async () => {
        world.clock.advance(13 * 60_000);
        await pending.watch(stop.signal);
      },
    };
  }

  const silence = ({ server }: Harness) => {
    const fault = { type: 'error', error: 'restricted_action' } as const;
    for (const method of ['chat.postEphemeral', 'chat.postMessage']) server.faults.every(1, method, fault);
  };

  it('that a question failed is told later, without a restart', async () => {
    const { server, bot } = await start();
    const records = await remember(harness);
    const held = Promise.withResolvers<void>();
    bot.answer = async () => {
      await held.promise;
      throw new Error('a fault of the bot');
    };
    const { message } = await server.mention('hello');
    silence(harness);
    held.resolve();
    await server.until(() => records.unreached() === 1);
    server.faults.clear();
    await records.tell();
    expect(await records.count()).toBe(0);
    expect(server.thread(message).map(readableText)).toEqual([expect.stringContaining('please ask again')]);
  });

  it('what a command answers is told later', async () => {
    const { server, bot, passTime } = await start();
    const records = await remember(harness);
    bot.answer = () => {
      // The address of the interaction has expired.
      passTime(31 * 60_000);
      silence(harness);
      return { type: 'message', visibility: 'channel', message: { text: 'Done.' } };
    };
    await server.slash('/jobs');
    await expect.poll(records.unreached).toBe(1);
    server.faults.clear();
    await records.tell();
    expect(await records.count()).toBe(0);
    expect(server.botMessages().map(readableText)).toEqual([expect.stringContaining('please ask again')]);
  });
});

it('what may be no question leaves no record, and is not acknowledged before that is known', async () => {
  const { server, bot } = await start({
    threads: true,
    events: ['message.channels'],
    ackTimeoutMs: 2_500,
    redeliveryMs: [],
  });
  const { message: root } = await server.say('who brings cake?', { user: 'U0BOB' });
  server.hold('conversations.replies');
  const { deliveries } = await server.say('I do', { threadTs: root.ts });
  expect(deliveries).toMatchObject([{ acknowledged: false }]);
  expect(bot.pendingAcknowledgements).toEqual([]);
});
