import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createPace } from '../../src/jobs/pace.ts';

it('never gives more turns than its rate, plus one second’s burst, whoever asks however often', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 50 }),
      fc.array(fc.record({ pause: fc.nat(400), who: fc.nat(5) }), { maxLength: 200 }),
      (perSecond, asks) => {
        let now = 0;
        let turns = 0;
        const pace = createPace({ perSecond, now: () => now });
        for (const { pause, who } of asks) {
          now += pause;
          if (pace.turn(`${who}`) === 0) turns += 1;
        }
        expect(turns).toBeLessThanOrEqual((now / 1000 + 1) * perSecond + 1);
      },
    ),
  );
});

it('gives the turn that it said to wait for, also when others ask in between', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.nat(100), (perSecond, others) => {
      let now = 0;
      const pace = createPace({ perSecond, now: () => now });
      let asked = 0;
      while (pace.turn(`first ${asked}`) === 0) asked += 1;
      const wait = pace.turn('me');
      for (let other = 0; other < others; other++) pace.turn(`other ${other}`);
      now += wait;
      expect(pace.turn('me')).toBe(0);
    }),
  );
});

it('tells a crowd one turn each, one after the other, so that each asks twice', () => {
  let now = 0;
  const pace = createPace({ perSecond: 5, now: () => now });
  const waits = Array.from({ length: 1_000 }, (_, who) => ({ who, wait: pace.turn(`${who}`) }));
  expect(waits.at(-1)?.wait).toBeGreaterThan(190_000);
  for (const { who, wait } of waits) {
    now = wait;
    if (wait > 0) expect(pace.turn(`${who}`)).toBe(0);
  }
});

it('holds everybody back for as long as the other side asks, and then goes on at its rate', () => {
  let now = 0;
  const pace = createPace({ perSecond: 5, now: () => now });
  while (pace.turn(`early ${now}`) === 0) now += 1;
  pace.hold(10_000);
  expect(pace.turn(`early ${now}`)).toBeGreaterThanOrEqual(10_000);
  now += 9_000;
  expect(pace.turn('late')).toBeGreaterThanOrEqual(1_000);
  now += 1_200;
  expect(['early 5', 'late'].filter((who) => pace.turn(who) === 0).length).toBeLessThanOrEqual(2);
  expect(Array.from({ length: 50 }, (_, who) => pace.turn(`${who}`)).filter((wait) => wait === 0)).toEqual(
    [],
  );
});
