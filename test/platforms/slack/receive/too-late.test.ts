import { afterEach, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** What reaches the bot when Slack has told the person that nothing came. */
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
  if (posted === undefined) throw new Error('nothing was posted');
  await server.press(posted, 'Again');
};

it.each([
  ['a command by HTTP', { connection: 'http' }, ({ server }: Harness) => server.slash('/song', 'rain')],
  ['a button by HTTP', { connection: 'http' }, pressAgain],
  ['a button by a socket', {}, pressAgain],
] as const)('%s starts nothing', async (_what, options, act) => {
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
])('a clock that is a little %s makes nothing late', async (_how, aheadMs) => {
  const { server, bot } = await start({ connection: 'http', aheadMs });
  await server.slash('/song', 'rain');
  await pressAgain(harness);
  await server.until(() => bot.started === 2);
});

it('what the bot itself took too long to acknowledge starts nothing', async () => {
  const { server, bot } = await start();
  let goOn = () => {};
  bot.answer = () =>
    new Promise((resolve) => {
      goOn = () => resolve(bot.accepted());
    });
  const asked = server.slash('/song', 'rain');
  await server.until(() => bot.invocations.length === 1);
  harness.passTime(90_000);
  goOn();
  await asked;
  await server.until(() => bot.declined === 1);
  expect(bot.started).toBe(0);
});

it('a mention is no interaction: however late it comes, it is answered', async () => {
  const { server, bot } = await start({ connection: 'http' });
  server.delay(90_000);
  await server.mention('what is the time?');
  await server.until(() => bot.started === 1);
  expect(bot.declined).toBe(0);
});
