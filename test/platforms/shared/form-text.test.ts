import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OptionValue } from '../../../src/core/options.ts';
import { addField, textParts } from '../../../src/platforms/shared/form-text.ts';

const FIELD = 100;

const partsOf = (text: string) => textParts('lyrics', {}, text, FIELD);

/** The option's value after the form is submitted. */
function submit(text: string): OptionValue | undefined {
  const options: Record<string, OptionValue> = {};
  for (const part of partsOf(text)) addField(options, part.field, part.text);
  return options.lyrics;
}

describe('a text that is longer than a form field', () => {
  test('is restored exactly on submit', () => {
    const words = fc.array(fc.constantFrom('rain', 'on', 'the', 'roof', ' ', '\n', '\n\n', '雨', '🎵', 'ß'), {
      maxLength: 400,
    });
    for (const joint of ['', ' '])
      fc.assert(
        fc.property(words, (list) => {
          expect(submit(list.join(joint))).toBe(list.join(joint));
        }),
      );
  });

  test('breaks between words, preferably at the end of a verse or line', () => {
    const word = 'evening';
    for (const { text } of partsOf(Array.from({ length: 60 }, () => word).join(' ')))
      expect(text.split(' ').every((part) => part === word)).toBe(true);
    const verse = Array.from({ length: 3 }, () => 'Rain on the roof').join('\n');
    const [first] = partsOf(Array.from({ length: 6 }, () => verse).join('\n\n'));
    expect(first?.text).toBe(verse);
  });

  test('breaks between words in languages without spaces', () => {
    const text = '雨の夜に歌う。'.repeat(40);
    const words = new Set(
      [...new Intl.Segmenter('ja', { granularity: 'word' }).segment(text)].map(({ index }) => index),
    );
    let at = 0;
    for (const part of partsOf(text)) {
      expect(words.has(at)).toBe(true);
      at += part.text.length;
    }
    expect(at).toBe(text.length);
  });

  test('is rejected with a sentence if it exceeds the option limit', () => {
    expect(() =>
      textParts('prompt', { label: 'Description', maximumLength: 3000 }, 'x'.repeat(4100), FIELD),
    ).toThrow('The text is too long for “Description”: 4,100 characters. The limit is 3,000.');
  });
});
