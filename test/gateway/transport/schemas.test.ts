import { describe, expect, it } from 'vitest';
import {
  count,
  httpUrl,
  id,
  listOf,
  maybe,
  members,
  positive,
  text,
  unwrapped,
} from '../../../src/gateway/transport/json.ts';
import { ROUTE_CASES } from '../route-cases.ts';
import { answer, gatewayAt, startServer } from '../support.ts';

describe('members of an object', () => {
  const track = members(
    { id, title: maybe(text(5)), seconds: maybe(positive), url: maybe(httpUrl) },
    { seconds: ['seconds', 'duration'] },
  );

  it('are found in any spelling, and under their other names', () => {
    expect(track.parse({ ID: 7, TITLE: ' Rain ', duration: '3.5', url: 'https://c.example/a' })).toEqual({
      id: '7',
      title: 'Rain',
      seconds: 3.5,
      url: 'https://c.example/a',
    });
  });

  it('are left out where they hold nothing that can be read, and bounded where they do', () => {
    const read = track.parse({ id: 'a', title: 'Rain falls', duration: -1, url: 'javascript:x', more: 1 });
    expect(Object.entries(read)).toEqual([
      ['id', 'a'],
      ['title', 'Rain'],
    ]);
  });

  it.each([undefined, null, 'a', 7, [], [{ id: 'a' }], {}, { id: '' }, { id: {} }])(
    'are no object without what is needed: %j',
    (value) => {
      expect(track.safeParse(value).success).toBe(false);
    },
  );
});

it('a list keeps what can be read, of as many items as are read', () => {
  const counts = listOf(count, 4);
  expect(counts.parse(['1', -1, null, 2.9, 5])).toEqual([1, 2]);
  for (const none of [undefined, null, {}, 'x']) expect(counts.parse(none)).toEqual([]);
});

it('a count is a whole number that can be counted with', () => {
  for (const value of [1e308, Number.NaN, '', 'x', -1, {}])
    expect(count.safeParse(value).success).toBe(false);
});

it('an envelope is taken off only where the body itself does not have what is searched', () => {
  const unwrap = (body: unknown) => unwrapped(body, ['choices'], ['data', 'result']);
  expect(unwrap({ choices: [], data: { choices: [1] } })).toMatchObject({ choices: [] });
  expect(unwrap({ result: { Choices: [1] } })).toEqual({ Choices: [1] });
  expect(unwrap({ data: 'text', model: 'm' })).toMatchObject({ model: 'm' });
});

/** Members that no schema names, in every object of a body; what holds free members is left alone. */
function withStrangers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withStrangers);
  if (typeof value !== 'object' || value === null) return value;
  const own = Object.entries(value).map(([key, member]) => [
    key,
    key === 'args' ? member : withStrangers(member),
  ]);
  return { ...Object.fromEntries(own), x_trace: { hops: [1, null, 'two'] }, x_beta: null };
}

describe('unknown members', () => {
  const cases = ROUTE_CASES.flatMap(({ route, call, shapes }) =>
    shapes.filter((shape) => typeof shape.answer === 'object').map((shape) => ({ route, call, ...shape })),
  );
  it.each(cases)('do not change what $route reads from: $shape', async ({ call, means, ...case_ }) => {
    const server = await startServer((_, response) =>
      answer(response, withStrangers(case_.answer), { status: case_.status ?? 200 }),
    );
    expect(await call(gatewayAt(server.url).gateway)).toEqual(means);
  });
});
