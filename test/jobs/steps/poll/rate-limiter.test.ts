import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createRateLimiter } from '../../../../src/jobs/steps/poll/rate-limiter.ts';

it('never lets more through than its rate, plus one second’s burst, however often it is asked', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.record({ pause: fc.nat(400), who: fc.nat(5) }), { maxLength: 200 }),
      (perSecond, asks) => {
        let now = 0;
        let passed = 0;
        const limiter = createRateLimiter({ perSecond, now: () => now });
        for (const { pause, who } of asks) {
          now += pause;
          if (limiter.reserve(`${who}`) === 0) passed += 1;
        }
        expect(passed).toBeLessThanOrEqual((now / 1000 + 1) * perSecond + 1);
      },
    ),
  );
});

it('gives the slot that it said to wait for, also when others ask in between', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(100), (perSecond, others) => {
      let now = 0;
      const limiter = createRateLimiter({ perSecond, now: () => now });
      let asked = 0;
      while (limiter.reserve(`first ${asked}`) === 0) asked += 1;
      const wait = limiter.reserve('me');
      for (let other = 0; other < others; other++) limiter.reserve(`other ${other}`);
      now += wait;
      expect(limiter.reserve('me')).toBe(0);
    }),
  );
});

it('tells a crowd one turn each, one after the other, so that each asks twice', () => {
  let now = 0;
  const limiter = createRateLimiter({ perSecond: 5, now: () => now });
  const waits = Array.from({ length: 1_000 }, (_, who) => ({ who, wait: limiter.reserve(`${who}`) }));
  expect(waits.at(-1)?.wait).toBeGreaterThan(190_000);
  for (const { who, wait } of waits) {
    now = wait;
    if (wait > 0) expect(limiter.reserve(`${who}`)).toBe(0);
  }
});
