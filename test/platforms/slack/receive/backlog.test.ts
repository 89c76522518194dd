import { setImmediate as others } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Backlog } from '../../../../src/platforms/slack/receive/backlog.ts';
import { ManualClock } from '../../../storage/manual-clock.ts';

/** So many are being answered until `end`. */
function crowdOf(backlog: Backlog, people: number) {
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  let told = 0;
  for (let person = 0; person < people; person += 1) {
    void backlog.track(async (crowded) => {
      void crowded.then(() => (told += 1));
      await ended;
    });
  }
  return { end, told: () => told };
}

it('of those who ask together, all are told that they are many', async () => {
  const backlog = new Backlog();
  const few = crowdOf(backlog, 32);
  await others();
  expect(few.told()).toBe(0);
  const more = crowdOf(backlog, 8);
  await others();
  expect([few.told(), more.told()]).toEqual([32, 8]);
  more.end();
  await others();
  expect(backlog.isCrowded()).toBe(false);
});

it('work waits until no more come, and not for ever', async () => {
  const clock = new ManualClock();
  const backlog = new Backlog();
  const sleep = (ms: number) => clock.sleep(ms);
  await backlog.calm(sleep);
  crowdOf(backlog, 40);
  const calmAt: number[] = [];
  const startedAt = clock.now();
  const waitForCalm = () => void backlog.calm(sleep).then(() => calmAt.push(clock.now() - startedAt));
  const pass = async (ms: number, coming: boolean) => {
    for (let passed = 0; passed < ms; passed += 100) {
      await others();
      if (coming) crowdOf(backlog, 1);
      clock.advance(100);
    }
    await others();
  };
  waitForCalm();
  await pass(600, true);
  expect(calmAt).toEqual([]);
  await pass(600, false);
  expect(calmAt).toEqual([900]);
  waitForCalm();
  await pass(3_000, true);
  expect(calmAt).toEqual([900, 2_700]);
});
