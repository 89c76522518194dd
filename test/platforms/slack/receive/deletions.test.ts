import { afterEach, expect, it } from 'vitest';
import type { Said } from '../../../servers/slack/people.ts';
import { type Harness, startHarness } from '../harness.ts';

const EVERY_MESSAGE = { threads: true, events: ['app_mention', 'message.im', 'message.channels'] };

let harness: Harness;

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const first = () => {
  const [invocation] = harness.bot.invocations;
  if (invocation === undefined) throw new Error('Nothing was asked');
  return invocation;
};

async function deletes(ask: () => Promise<Said>): Promise<void> {
  const { server, bot } = harness;
  const { message } = await ask();
  await server.until(() => bot.started === 1);
  await ask();
  await server.until(() => bot.started === 2);
  await server.remove(message);
  await server.until(() => bot.withdrawn.length > 0);
  expect(bot.withdrawn).toEqual([first().id]);
}

it.each([
  ['a direct message', { agents: false }],
  ['a thread of the agent view', { agents: true }],
])('a question in %s that is deleted is withdrawn, and no other', async (_, options) => {
  harness = await startHarness(options);
  await deletes(() => harness.server.directMessage('what is a mode?'));
});

it('a question that names the bot is withdrawn where Slack tells of messages, in a thread too', async () => {
  harness = await startHarness(EVERY_MESSAGE);
  const { server } = harness;
  const { message: root } = await server.say('I wonder');
  await deletes(() => server.mention('what is a mode?', { threadTs: root.ts }));
});

it('a question that was answered in its thread is withdrawn, and one that is edited is not', async () => {
  harness = await startHarness(EVERY_MESSAGE);
  const { server, bot, show } = harness;
  const { message } = await server.mention('what is a mode?');
  await server.until(() => bot.started === 1);
  await show({ text: 'A scale.' }, { address: first().address });
  const { channel, ts, text } = message;
  const edited = { type: 'message', user: 'U0ADA', ts, text: `${text} And a key?` };
  const changed = { type: 'message', subtype: 'message_changed', hidden: true, channel };
  await server.sendEvent({ ...changed, channel_type: 'channel', ts: '9.000001', message: edited });
  expect(bot.withdrawn).toEqual([]);
  await server.remove(message);
  await server.until(() => bot.withdrawn.length > 0);
  expect(bot.withdrawn).toEqual([first().id]);
});

it('without that switch Slack does not tell of it', async () => {
  harness = await startHarness();
  const { server, bot } = harness;
  const { message } = await server.mention('what is a mode?');
  await server.until(() => bot.started === 1);
  await server.remove(message);
  await server.directMessage('and now?');
  await server.until(() => bot.started === 2);
  expect(bot.withdrawn).toEqual([]);
});

it('one that is deleted while it is stored is withdrawn then, and one whose deletion comes first is not asked', async () => {
  harness = await startHarness(EVERY_MESSAGE);
  const { server, bot } = harness;
  const held = Promise.withResolvers<void>();
  bot.answer = async () => {
    await held.promise;
    return bot.accepted();
  };
  const saying = server.mention('what is a mode?');
  const { id } = await server.until(() => bot.invocations[0]);
  const [message] = server.messages('C0MUSIC');
  if (message === undefined) throw new Error('Nothing was said');
  await server.remove(message);
  expect(bot.withdrawn).toEqual([id]);
  held.resolve();
  await saying;
  await server.until(() => bot.started === 1 && bot.withdrawn.length > 1);
  expect(new Set(bot.withdrawn)).toEqual(new Set([id]));

  const asked = { channel: 'C0MUSIC', user: 'U0ADA', text: `<@${server.workspace.botUser}> and a key?` };
  const late = server.workspace.post({ ...asked, blocks: [], files: [], threadTs: undefined });
  await server.remove(late);
  await server.sendEvent({ ...asked, type: 'app_mention', ts: late.ts });
  await server.mention('and a chord?');
  await server.until(() => bot.started === 2);
  expect(bot.invocations.map(({ options }) => options.question)).toEqual(['what is a mode?', 'and a chord?']);
});
