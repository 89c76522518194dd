import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPace } from '../../src/jobs/pace.ts';

it('never gives more turns than its rate, plus one second’s burst, and always gives one in time', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.nat(400), { maxLength: 200 }),
      (perSecond, pauses) => {
        let now = 0;
        let turns = 0;
        const pace = createPace({ perSecond, now: () => now });
        for (const pause of pauses) {
          now += pause;
          const wait = pace.turn();
          if (wait === 0) turns += 1;
          expect(wait).toBeLessThanOrEqual(Math.ceil(1000 / perSecond) + 1);
        }
        expect(turns).toBeLessThanOrEqual((now / 1000 + 1) * perSecond + 1);
      },
    ),
  );
});

it('gives the turn that it said to wait for', () => {
  let now = 0;
  const pace = createPace({ perSecond: 2, now: () => now });
  while (pace.turn() === 0) now += 0;
  const wait = pace.turn();
  now += wait;
  expect(pace.turn()).toBe(0);
});
