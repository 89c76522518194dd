import { describe, expect, it } from 'vitest';
import { ROUTE_CASES } from '../route-cases.ts';
import { answer, gatewayAt, startServer } from '../support.ts';

/** Adds unknown members to every object of a body, except to objects with free keys. */
function withUnknownMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withUnknownMembers);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.entries(value).map(([key, member]) => [
    key,
    key === 'args' ? member : withUnknownMembers(member),
  ]);
  return { ...Object.fromEntries(own), x_trace: { hops: [1, null, 'two'] }, x_beta: null };
}

describe('unknown members', () => {
  const cases = ROUTE_CASES.flatMap(({ route, call, shapes }) =>
    shapes.filter((shape) => typeof shape.answer === 'object').map((shape) => ({ route, call, ...shape })),
  );
  it.each(cases)('do not change the result of $route from: $shape', async ({ call, means, ...case_ }) => {
    const server = await startServer((_, response) =>
      answer(response, withUnknownMembers(case_.answer), { status: case_.status ?? 200 }),
    );
    expect(await call(gatewayAt(server.url).gateway)).toEqual(means);
  });
});
