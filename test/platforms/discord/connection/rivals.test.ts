import { expect, it, onTestFinished } from 'vitest';
import { createRivals } from '../../../../src/platforms/discord/connection/rivals.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';
import { startHarness } from '../harness.ts';

it('a second bot with the same token is told to the operator, in the log and by its status', async () => {
  const harness = await startHarness();
  onTestFinished(() => harness.close());
  const { discord, bot, platform, log } = harness;
  const rival = await harness.another();
  await rival.start(bot);
  const seconds = () => discord.refused.filter(({ code }) => code === 40060).length;
  // Of five answers that came second, three at least are those of one of them.
  for (let count = 1; count <= 5; count += 1) {
    expect([platform, rival].map((one) => one.status().ready)).toContain(true);
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    await discord.until(() => seconds() === count, 'a second answer');
  }
  await expect
    .poll(() => log.filter(({ level, sentence }) => level === 'error' && sentence.includes('DISCORD_TOKEN')))
    .toHaveLength(1);
  expect([platform, rival].map((one) => one.status())).toContainEqual({
    ready: false,
    reason: expect.stringMatching(/^another process answers with the same DISCORD_TOKEN/),
  });
});

it('what a resumed session repeats is no other bot', () => {
  let time = 0;
  const rivals = createRivals({ elapsed: () => time, log: new RecordingLog() });
  const sawThree = () => {
    for (let count = 0; count < 3; count += 1) rivals.saw();
  };
  // Answers may come before the word that the session is resumed.
  rivals.saw();
  rivals.saw();
  rivals.resumed();
  sawThree();
  expect(rivals.status()).toBeUndefined();
  time += 10_000;
  rivals.saw();
  expect(rivals.status()).toBeUndefined();
  time += 10_000;
  sawThree();
  expect(rivals.status()).toMatchObject({ ready: false });
});
