import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createRates } from '../../../../src/platforms/slack/connection/rates.ts';
import { ManualClock } from '../../../storage/manual-clock.ts';

const ratesAt = (clock: ManualClock) =>
  createRates({ elapsed: clock.elapsed, sleep: (ms) => clock.sleep(ms) });

it('delays edits, but not appends, until the longest Retry-After is over', async () => {
  const clock = new ManualClock();
  const { edits, appends } = ratesAt(clock);
  edits.pauseFor(3_000);
  edits.pauseFor(1_000);
  const written: string[] = [];
  void edits.slot('next').then(() => written.push('edit'));
  void edits.slot('first').then(() => written.push('first write'));
  void edits.ready().then(() => written.push('final write'));
  void appends.slot('next').then(() => written.push('append'));
  await nextTurn();
  clock.advance(2_999);
  await nextTurn();
  expect(written).toEqual(['append']);
  clock.advance(1);
  await nextTurn();
  expect(written.toSorted()).toEqual(['append', 'final write', 'first write']);
  clock.advance(1_200);
  await nextTurn();
  expect(written.at(-1)).toBe('edit');
});

it('sends first writes before waiting edits, and spreads edits evenly at 50 a minute', async () => {
  const clock = new ManualClock();
  const { edits } = ratesAt(clock);
  const written: string[] = [];
  for (let edit = 0; edit < 200; edit += 1) void edits.slot('next').then(() => written.push('edit'));
  await nextTurn();
  expect(written).toEqual(['edit']);
  for (let answer = 0; answer < 9; answer += 1)
    void edits.slot('first').then(() => written.push('first write'));
  await nextTurn();
  expect(written).toHaveLength(10);
  for (let passed = 0; passed < 120_000; passed += 1_200) {
    clock.advance(1_200);
    await nextTurn();
  }
  expect(written).toHaveLength(101);
});

it('sends a thousand due messages at 20 a second', async () => {
  const clock = new ManualClock();
  const { messages } = ratesAt(clock);
  let started = 0;
  for (let message = 0; message < 1_000; message += 1) void messages.slot('next').then(() => (started += 1));
  for (let passed = 0; passed < 2_000; passed += 50) {
    await nextTurn();
    clock.advance(50);
  }
  expect(started).toBeGreaterThanOrEqual(39);
  expect(started).toBeLessThanOrEqual(41);
});

it('starts four streams in a burst, but at most 20 a minute', async () => {
  const clock = new ManualClock();
  const { starts } = ratesAt(clock);
  const started: number[] = [];
  for (let passed = 0; passed < 180_000; passed += 1_000) {
    for (; starts.isIdle(); started.push(passed)) void starts.slot('first');
    clock.advance(1_000);
    await nextTurn();
  }
  expect(started.filter((at) => at === 0)).toHaveLength(4);
  const inMinuteFrom = (first: number) => started.filter((at) => at >= first && at < first + 60_000).length;
  expect(Math.max(...started.map(inMinuteFrom))).toBe(20);
});
