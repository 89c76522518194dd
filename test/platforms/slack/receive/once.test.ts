import { afterEach, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** Mentions, direct messages and replies that take longer than Slack waits for an acknowledgement. */
let harness: Harness;

afterEach(() => harness.stop());

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ realTime: true, ackTimeoutMs: 1_000, redeliveryMs: [0], ...options });
  return harness;
};

it.each(['socket', 'http'] as const)(
  'a question is acknowledged when it is stored, and so is what Slack sent again meanwhile (%s)',
  async (connection) => {
    const { server, bot } = await start({ connection });
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
    expect(bot.started).toBe(1);
  },
);

it('a question that fails is not acknowledged, so Slack sends it again', async () => {
  const { server, bot } = await start();
  bot.answer = () => {
    bot.answer = () => bot.accepted();
    throw new Error('a fault of the bot');
  };
  const { deliveries } = await server.mention('hello');
  expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 2 }]);
  expect(bot.started).toBe(1);
});

it('what may be no question is not acknowledged before that is known', async () => {
  const { server } = await start({ threads: true, events: ['message.channels'], redeliveryMs: [] });
  const { message: root } = await server.say('who brings cake?', { user: 'U0BOB' });
  server.hold('conversations.replies');
  const { deliveries } = await server.say('I do', { threadTs: root.ts });
  expect(deliveries).toMatchObject([{ acknowledged: false }]);
});
