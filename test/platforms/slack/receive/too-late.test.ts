import { afterEach, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** Events that reach the bot after Slack reported a failure to the person. */
let harness: Harness;

afterEach(() => harness.stop());

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ realTime: true, patienceMs: 60_000, ...options });
  await harness.show({
    text: 'A song',
    actions: [{ type: 'action', id: 'song.again:j1:0', label: 'Again' }],
  });
  return harness;
};

const pressAgain = async ({ server }: Harness) => {
  const [posted] = server.botMessages();
  if (posted === undefined) throw new Error('no message was posted');
  await server.press(posted, 'Again');
};

it.each([
  ['a command over HTTP', { connection: 'http' }, ({ server }: Harness) => server.slash('/song', 'rain')],
  ['a button over HTTP', { connection: 'http' }, pressAgain],
  ['a button over a socket', {}, pressAgain],
] as const)('starts no job for %s', async (_what, options, act) => {
  const { server, bot } = await start(options);
  server.delay(90_000);
  await act(harness);
  await server.until(() => bot.declined === 1);
  expect(bot.started).toBe(0);
  server.delay(30_000);
  await act(harness);
  await server.until(() => bot.started === 1);
  expect(bot.declined).toBe(1);
});

it.each([
  ['ahead', 8_000],
  ['behind', -8_000],
])('accepts events although its clock is slightly %s', async (_how, aheadMs) => {
  const { server, bot } = await start({ connection: 'http', aheadMs });
  await server.slash('/song', 'rain');
  await pressAgain(harness);
  await server.until(() => bot.started === 2);
});

it('starts no job if the bot took too long to acknowledge', async () => {
  const { server, bot } = await start();
  let finish = () => {};
  bot.answer = () =>
    new Promise((resolve) => {
      finish = () => resolve(bot.accepted());
    });
  const command = server.slash('/song', 'rain');
  await server.until(() => bot.invocations.length === 1);
  harness.passTime(90_000);
  finish();
  await command;
  await server.until(() => bot.declined === 1);
  expect(bot.started).toBe(0);
});

it('answers a mention however late it arrives', async () => {
  const { server, bot } = await start({ connection: 'http' });
  server.delay(90_000);
  await server.mention('what is the time?');
  await server.until(() => bot.started === 1);
  expect(bot.declined).toBe(0);
});
