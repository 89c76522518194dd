import { describe, expect, it } from 'vitest';
import {
  asCount,
  asHttpUrl,
  asNumber,
  asText,
  fieldsOf,
  objectsIn,
} from '../../../src/gateway/transport/json.ts';

describe('walking', () => {
  it('visits objects up to a limit, outermost first', () => {
    const wide = {
      list: Array.from({ length: 900 }, () => Array.from({ length: 900 }, () => ({}))),
      last: { id: 1 },
    };
    const visits = [...objectsIn(wide)];
    expect(visits.length).toBeLessThanOrEqual(5_000);
    expect(visits[1]?.value).toEqual({ id: 1 });
  });

  it('ends for cycles, and skips the given keys', () => {
    const circle: Record<string, unknown> = { secret: { inside: {} } };
    circle.again = circle;
    const keys = [...objectsIn(circle, new Set(['secret']))].map(({ key }) => key);
    expect(keys).not.toContain('inside');
    expect(keys.length).toBeLessThan(100);
  });
});

describe('finding members', () => {
  it('accepts any spelling and returns the first name with a value', () => {
    const fields = fieldsOf({ task_id: null, TaskID: 't1', 'audio-url': '', source_audio_url: 'u' });
    expect(fields('taskId')).toBe('t1');
    expect(fields('audioUrl', 'sourceAudioUrl')).toBe('u');
    expect(fields('missing')).toBeUndefined();
  });

  it('ignores members of the prototype', () => {
    expect(fieldsOf({})('constructor', 'toString', '__proto__')).toBeUndefined();
    expect(fieldsOf([1])('length')).toBeUndefined();
  });
});

describe('single values', () => {
  it.each([
    [asText, ' a ', 'a'],
    [asText, 7, '7'],
    [asText, ' ', undefined],
    [asText, {}, undefined],
    [asNumber, '1.5', 1.5],
    [asNumber, '', undefined],
    [asNumber, 'Infinity', undefined],
    [asNumber, '0x10', 16],
    [asCount, '-1', undefined],
    [asCount, 1.9, 1],
    [asHttpUrl, ' https://c.example/a b ', 'https://c.example/a b'],
    [asHttpUrl, 'HTTP://c.example', 'HTTP://c.example'],
    [asHttpUrl, 'https:///path', undefined],
    [asHttpUrl, 'data:text/plain,x', undefined],
  ] as const)('%o of %j is %j', (read, value, means) => {
    expect(read(value)).toBe(means);
  });
});
