import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { actionId, type Button, type Message, parseActionId, plain } from '../../src/core/message.ts';
import { counted } from '../../src/core/util/words.ts';
import { arrangeButtons } from '../../src/platforms/shared/buttons.ts';
import { parseMarkdown } from '../../src/platforms/shared/markdown/read.ts';
import { stageText } from '../../src/platforms/shared/progress.ts';

it.each([
  [0, '0 songs'],
  [1, '1 song'],
  [1.5, '1.5 songs'],
  [1234, '1,234 songs'],
])('counts %d as %s', (count, words) => {
  expect(counted(count, 'song')).toBe(words);
});

describe('an action id', () => {
  it('survives a round trip', () => {
    const reference = { command: 'song', action: 'keep-voice', job: '0123456789abcdef0123', index: 12 };
    expect(parseActionId(actionId(reference))).toEqual(reference);
  });

  it("stays within the platforms' limits", () => {
    expect(() => actionId({ command: 'song', action: 'x'.repeat(100), job: 'j', index: 0 })).toThrow(
      RangeError,
    );
  });

  it('is undefined for other texts', () => {
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

it('plain text shows every character and has no effect as Markdown', () => {
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

describe('the stage of a message', () => {
  it('is omitted if the title already contains it', () => {
    expect(stageText(composing('Composing “rain”'))).toBe('');
    expect(stageText(composing('Rain'))).toBe('Composing');
    expect(stageText(composing())).toBe('Composing');
    expect(stageText({})).toBe('');
    const split = { stage: 'Splitting into stems', startedAt: 0 };
    expect(stageText({ title: 'Splitting “Rain” into stems', progress: split })).toBe('');
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
  ['all, if they fit', 3, 2, 5, 0],
  ['four and a menu, without links', 12, 0, 4, 8],
  ['four, a link and a menu', 12, 1, 5, 8],
  ['two links take the place of one more action', 12, 2, 5, 9],
])('a row holds at most five buttons: %s', (_name, some, other, shown, more) => {
  const arranged = arrangeButtons([...actions(some), ...links(other)]);
  expect([arranged.rows.flat().length, arranged.more.length]).toEqual([shown, more]);
});
