import { setImmediate as others } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRates } from '../../../../src/platforms/slack/connection/rates.ts';
import { ManualClock } from '../../../storage/manual-clock.ts';

it('the edits of a channel wait together for a Retry-After, the longest there was, and those of others do not', async () => {
  const clock = new ManualClock();
  const rates = createRates(1_000, clock.now, (ms) => clock.sleep(ms));
  const limited = rates.editsIn('C0MUSIC');
  limited.pauseFor(3_000);
  limited.pauseFor(1_000);
  const written: string[] = [];
  void limited.slot('next').then(() => written.push('music'));
  void limited.ready().then(() => written.push('last words'));
  void rates
    .editsIn('C0OTHER')
    .slot('next')
    .then(() => written.push('other'));
  await others();
  clock.advance(2_999);
  await others();
  expect(written).toEqual(['other']);
  clock.advance(1);
  await others();
  expect(written.toSorted()).toEqual(['last words', 'music', 'other']);
});

it('a thousand messages that are due at once are begun twenty a second', async () => {
  const clock = new ManualClock();
  const { messages } = createRates(1_000, clock.now, (ms) => clock.sleep(ms));
  let begun = 0;
  for (let message = 0; message < 1_000; message += 1) void messages.slot('next').then(() => (begun += 1));
  for (let passed = 0; passed < 2_000; passed += 50) {
    await others();
    clock.advance(50);
  }
  expect(begun).toBeGreaterThanOrEqual(39);
  expect(begun).toBeLessThanOrEqual(41);
});

it('four streams of a workspace begin at once, and no minute has more than twenty', async () => {
  const clock = new ManualClock();
  const { starts } = createRates(1_200, clock.now, (ms) => clock.sleep(ms));
  const begun: number[] = [];
  for (let passed = 0; passed < 180_000; passed += 1_000) {
    for (; starts.isIdle(); begun.push(passed)) void starts.slot('first');
    clock.advance(1_000);
    await others();
  }
  expect(begun.filter((at) => at === 0)).toHaveLength(4);
  const inMinuteFrom = (first: number) => begun.filter((at) => at >= first && at < first + 60_000).length;
  expect(Math.max(...begun.map(inMinuteFrom))).toBe(20);
});
