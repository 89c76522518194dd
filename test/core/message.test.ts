import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actionId, counted, parseActionId, plain } from '../../src/core/message.ts';
import { parseMarkdown } from '../../src/platforms/shared/markdown/read.ts';

it.each([
  [0, '0 songs'],
  [1, '1 song'],
  [1.5, '1.5 songs'],
  [1234, '1,234 songs'],
])('%d is counted as %s', (count, words) => {
  expect(counted(count, 'song')).toBe(words);
});

describe('an action id', () => {
  it('comes back as it was written', () => {
    const reference = { command: 'song', action: 'keep-voice', job: '0123456789abcdef0123', index: 12 };
    expect(parseActionId(actionId(reference))).toEqual(reference);
  });

  it('stays within what platforms allow', () => {
    expect(() => actionId({ command: 'song', action: 'x'.repeat(100), job: 'j', index: 0 })).toThrow(
      RangeError,
    );
  });

  it('from anywhere else is nothing', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[a-z.:0-9-]{0,30}$/), (text) => {
        const reference = parseActionId(text);
        if (reference) expect(actionId(reference)).toBe(text);
      }),
    );
    for (const id of [
      '',
      'song',
      'song.stems',
      'song.stems:job',
      'song.stems:job:-1',
      'Song.stems:job:0',
      'song.stems:a b:0',
    ]) {
      expect(parseActionId(id)).toBeUndefined();
    }
  });
});

it('plain text shows every character and means nothing as Markdown', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom(...'ab *_`~[]()<>#+-!|:/@&\\.'.split('')), maxLength: 40 }),
      (text) => {
        expect(parseMarkdown(`x${plain(text)}x`)).toEqual([
          { type: 'paragraph', children: [{ type: 'text', value: `x${text}x` }] },
        ]);
      },
    ),
  );
});
