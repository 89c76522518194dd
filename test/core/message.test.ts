import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actionId, type Button, type Message, parseActionId, plain } from '../../src/core/message.ts';
import { counted } from '../../src/core/util/words.ts';
import { arrangeButtons } from '../../src/platforms/shared/buttons.ts';
import { parseMarkdown } from '../../src/platforms/shared/markdown/read.ts';
import { stageToSay } from '../../src/platforms/shared/progress.ts';

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

const composing = (title?: string): Message => ({
  ...(title === undefined ? {} : { title }),
  progress: { stage: 'Composing', startedAt: 0 },
});

describe('what happens now', () => {
  it('is left unsaid where the title says it', () => {
    expect(stageToSay(composing('Composing “rain”'))).toBe('');
    expect(stageToSay(composing('Rain'))).toBe('Composing');
    expect(stageToSay(composing())).toBe('Composing');
    expect(stageToSay({})).toBe('');
  });
});

const actions = (count: number): Button[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'action',
    id: `song.x:j:${index}`,
    label: `${index}`,
  }));
const links = (count: number): Button[] =>
  Array.from({ length: count }, (_, index) => ({
    type: 'link',
    url: `https://a.example/${index}`,
    label: 'Link',
  }));

it.each([
  ['all, where they fit', 3, 2, 5, 0],
  ['four and a menu, without links', 12, 0, 4, 8],
  ['four, a link and a menu', 12, 1, 5, 8],
  ['two links take the room of an action more', 12, 2, 5, 9],
])('a row holds five at most: %s', (_name, some, other, shown, more) => {
  const arranged = arrangeButtons([...actions(some), ...links(other)]);
  expect([arranged.shown.length, arranged.more.length]).toEqual([shown, more]);
});
