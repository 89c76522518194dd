import { afterEach, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** Messages whose handling takes longer than Slack waits for an acknowledgement. */
let harness: Harness;

afterEach(() => harness.stop());

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ realTime: true, ackTimeoutMs: 1_000, redeliveryMs: [0], ...options });
  return harness;
};

it.each(['socket', 'http'] as const)(
  'acknowledges a stored question, and the event that Slack resent meanwhile (%s)',
  async (connection) => {
    const { server, bot } = await start({ connection });
    const held = Promise.withResolvers<void>();
    bot.answer = async () => {
      await held.promise;
      return bot.accepted();
    };
    const mention = server.mention('hello');
    // Slack got no answer to the first.
    await expect.poll(() => server.refused.length).toBe(1);
    held.resolve();
    expect((await mention).deliveries).toMatchObject([{ acknowledged: true, attempts: 2 }]);
    expect(bot.invocations).toHaveLength(1);
    expect(bot.started).toBe(1);
  },
);

it('does not acknowledge a failed question, so that Slack resends it', async () => {
  const { server, bot } = await start();
  bot.answer = () => {
    bot.answer = () => bot.accepted();
    throw new Error('a fault of the bot');
  };
  const { deliveries } = await server.mention('hello');
  expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 2 }]);
  expect(bot.started).toBe(1);
});

it('does not acknowledge a message before it is known whether it is a question', async () => {
  const { server } = await start({ threads: true, events: ['message.channels'], redeliveryMs: [] });
  const { message: root } = await server.say('who brings cake?', { user: 'U0BOB' });
  server.hold('conversations.replies');
  const { deliveries } = await server.say('I do', { threadTs: root.ts });
  expect(deliveries).toMatchObject([{ acknowledged: false }]);
});
