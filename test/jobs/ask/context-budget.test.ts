import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Inquiry, InquiryPart } from '../../../src/core/work.ts';
import { cutToFit, estimateTokens, halve } from '../../../src/jobs/ask/context-budget.ts';

const text = (words: string): InquiryPart => ({ type: 'text', text: words });
const picture: InquiryPart = {
  type: 'image',
  file: { name: 'fox.png', bytes: 9, contentType: 'image/png' },
};

function talk(...turns: (string | readonly InquiryPart[])[]): Inquiry {
  return {
    model: 'some-model',
    system: 'Be kind.',
    turns: turns.map((content, index) => ({
      role: index % 2 === 0 ? 'user' : 'assistant',
      parts: typeof content === 'string' ? [text(content)] : content,
    })),
  };
}

const textsIn = ({ turns }: Inquiry) =>
  turns.map(({ parts }) => parts.map((part) => (part.type === 'text' ? part.text : part.type)).join(' '));

describe('earlier messages', () => {
  it('are dropped oldest first; the system prompt and the newest message always stay', () => {
    const long = talk('a'.repeat(300), 'b'.repeat(300), 'c'.repeat(300), 'd'.repeat(300), 'e'.repeat(300));
    expect(textsIn(cutToFit(long, 330)).map(([first]) => first)).toEqual(['c', 'd', 'e']);
    expect(textsIn(cutToFit(long, 1))).toEqual(['e'.repeat(300)]);
    expect(cutToFit(long, 1).system).toBe('Be kind.');
  });

  it('lose images before text, with a note', () => {
    const shown = talk(
      [picture, text('my fox')],
      'Nice.',
      [picture, text('my cat')],
      'Cute.',
      'Which is older?',
    );
    expect(textsIn(cutToFit(shown, 2_000))).toEqual([
      '(an image) my fox',
      'Nice.',
      'image my cat',
      'Cute.',
      'Which is older?',
    ]);
    expect(textsIn(cutToFit(shown, 400))[2]).toBe('(an image) my cat');
  });

  it('fit the budget, unless the newest message alone is larger', () => {
    const part = fc.oneof(fc.string({ maxLength: 500, unit: 'grapheme' }).map(text), fc.constant(picture));
    fc.assert(
      fc.property(
        fc.array(fc.array(part, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 12 }),
        fc.integer({ min: 1, max: 5_000 }),
        (turns, budget) => {
          const inquiry = talk(...turns);
          const cut = cutToFit(inquiry, budget);
          expect(cut.turns.at(-1)).toEqual(inquiry.turns.at(-1));
          if (cut.turns.length > 1) expect(estimateTokens(cut)).toBeLessThanOrEqual(budget);
          const dropped = inquiry.turns.length - cut.turns.length;
          expect(cut.turns.map(({ role }) => role)).toEqual(
            inquiry.turns.slice(dropped).map(({ role }) => role),
          );
        },
      ),
    );
  });
});

describe('a model that rejects the conversation as too long', () => {
  it('gets half of the earlier messages, and half again, until only the question is left', () => {
    let inquiry: Inquiry | undefined = talk(...Array.from({ length: 9 }, (_, n) => `${n}`.repeat(90)));
    const lengths: number[] = [];
    for (; inquiry; inquiry = halve(inquiry)) lengths.push(inquiry.turns.length);
    expect(lengths[0]).toBe(9);
    expect(lengths.at(-1)).toBe(1);
    expect(lengths).toEqual(lengths.toSorted((one, other) => other - one));
    expect(lengths.length).toBeLessThanOrEqual(5);
  });
});
