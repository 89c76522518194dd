import { afterEach, expect, it } from 'vitest';
import type { SentMessage } from '../../../servers/slack/people.ts';
import { type Harness, startHarness } from '../harness.ts';

const EVERY_MESSAGE = { threads: true, events: ['app_mention', 'message.im', 'message.channels'] };

let harness: Harness;

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const firstInvocation = () => {
  const [invocation] = harness.bot.invocations;
  if (invocation === undefined) throw new Error('no invocation');
  return invocation;
};

async function expectWithdrawal(ask: () => Promise<SentMessage>): Promise<void> {
  const { server, bot } = harness;
  const { message } = await ask();
  await server.until(() => bot.started === 1);
  await ask();
  await server.until(() => bot.started === 2);
  await server.remove(message);
  await server.until(() => bot.withdrawn.length > 0);
  expect(bot.withdrawn).toEqual([firstInvocation().id]);
}

it.each([
  ['a direct message', { agents: false }],
  ['a thread of the agent view', { agents: true }],
])('withdraws only the deleted question in %s', async (_, options) => {
  harness = await startHarness(options);
  await expectWithdrawal(() => harness.server.directMessage('what is a mode?'));
});

it('withdraws a deleted mention if the app receives every message, including those in threads', async () => {
  harness = await startHarness(EVERY_MESSAGE);
  const { server } = harness;
  const { message: root } = await server.say('I wonder');
  await expectWithdrawal(() => server.mention('what is a mode?', { threadTs: root.ts }));
});

it('withdraws a deleted question that was answered, but not an edited one', async () => {
  harness = await startHarness(EVERY_MESSAGE);
  const { server, bot, show } = harness;
  const { message } = await server.mention('what is a mode?');
  await server.until(() => bot.started === 1);
  await show({ text: 'A scale.' }, { address: firstInvocation().address });
  const { channel, ts, text } = message;
  const edited = { type: 'message', user: 'U0ADA', ts, text: `${text} And a key?` };
  const changed = { type: 'message', subtype: 'message_changed', hidden: true, channel };
  await server.sendEvent({ ...changed, channel_type: 'channel', ts: '9.000001', message: edited });
  expect(bot.withdrawn).toEqual([]);
  await server.remove(message);
  await server.until(() => bot.withdrawn.length > 0);
  expect(bot.withdrawn).toEqual([firstInvocation().id]);
});

it('withdraws no mention if the app receives only mentions', async () => {
  harness = await startHarness();
  const { server, bot } = harness;
  const { message } = await server.mention('what is a mode?');
  await server.until(() => bot.started === 1);
  await server.remove(message);
  await server.directMessage('and now?');
  await server.until(() => bot.started === 2);
  expect(bot.withdrawn).toEqual([]);
});

it('withdraws a question deleted while it is stored, and skips one deleted earlier', async () => {
  harness = await startHarness(EVERY_MESSAGE);
  const { server, bot } = harness;
  const held = Promise.withResolvers<void>();
  bot.answer = async () => {
    await held.promise;
    return bot.accepted();
  };
  const mention = server.mention('what is a mode?');
  const { id } = await server.until(() => bot.invocations[0]);
  const [message] = server.messages('C0MUSIC');
  if (message === undefined) throw new Error('no message');
  await server.remove(message);
  expect(bot.withdrawn).toEqual([id]);
  held.resolve();
  await mention;
  await server.until(() => bot.started === 1 && bot.withdrawn.length > 1);
  expect(new Set(bot.withdrawn)).toEqual(new Set([id]));

  const question = { channel: 'C0MUSIC', user: 'U0ADA', text: `<@${server.workspace.botUser}> and a key?` };
  const late = server.workspace.post({ ...question, blocks: [], files: [], threadTs: undefined });
  await server.remove(late);
  await server.sendEvent({ ...question, type: 'app_mention', ts: late.ts });
  await server.mention('and a chord?');
  await server.until(() => bot.started === 2);
  expect(bot.invocations.map(({ options }) => options.question)).toEqual(['what is a mode?', 'and a chord?']);
});
