import { setImmediate as others } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRates } from '../../../../src/platforms/slack/connection/rates.ts';
import { ManualClock } from '../../../storage/manual-clock.ts';

const ratesAt = (clock: ManualClock) =>
  createRates({ elapsed: clock.elapsed, sleep: (ms) => clock.sleep(ms) });

it('edits wait together for a Retry-After, the longest there was, and additions to streams do not', async () => {
  const clock = new ManualClock();
  const { edits, appends } = ratesAt(clock);
  edits.pauseFor(3_000);
  edits.pauseFor(1_000);
  const written: string[] = [];
  void edits.slot('next').then(() => written.push('edit'));
  void edits.slot('first').then(() => written.push('first words'));
  void edits.ready().then(() => written.push('last words'));
  void appends.slot('next').then(() => written.push('addition'));
  await others();
  clock.advance(2_999);
  await others();
  expect(written).toEqual(['addition']);
  clock.advance(1);
  await others();
  expect(written.toSorted()).toEqual(['addition', 'first words', 'last words']);
  clock.advance(1_200);
  await others();
  expect(written.at(-1)).toBe('edit');
});

it('first words go before edits that wait, and edits come evenly, fifty a minute', async () => {
  const clock = new ManualClock();
  const { edits } = ratesAt(clock);
  const written: string[] = [];
  for (let edit = 0; edit < 200; edit += 1) void edits.slot('next').then(() => written.push('edit'));
  await others();
  expect(written).toEqual(['edit']);
  for (let answer = 0; answer < 9; answer += 1)
    void edits.slot('first').then(() => written.push('first words'));
  await others();
  expect(written).toHaveLength(10);
  for (let passed = 0; passed < 120_000; passed += 1_200) {
    clock.advance(1_200);
    await others();
  }
  expect(written).toHaveLength(101);
});

it('a thousand messages that are due at once are begun twenty a second', async () => {
  const clock = new ManualClock();
  const { messages } = ratesAt(clock);
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
  const { starts } = ratesAt(clock);
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
