import { afterEach, expect, it } from 'vitest';
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
