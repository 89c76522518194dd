import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { UserError } from '../../src/core/errors.ts';
import { type OptionDeclarations, readNumber, validateOptions } from '../../src/core/options.ts';

const declarations = {
  prompt: { type: 'text', description: 'What it is about', required: true, maximumLength: 10 },
  size: {
    type: 'choice',
    description: 'Aspect ratio',
    choices: [{ name: 'wide (16:9)', typed: 'wide', value: '16*9' }],
  },
  loud: { type: 'flag', description: 'Loud' },
  seconds: { type: 'number', description: 'How long', integer: true, minimum: 1, maximum: 15 },
  picture: { type: 'file', description: 'A picture', accept: ['image'], maximumBytes: 1024 * 1024 },
} as const satisfies OptionDeclarations;

const refusal = (raw: Parameters<typeof validateOptions>[0]): UserError => {
  try {
    validateOptions(raw, declarations);
  } catch (error) {
    if (error instanceof UserError) return error;
  }
  throw new Error('The options were accepted');
};

describe('options are validated before anything is spent', () => {
  it('parses typed values', () => {
    expect(
      validateOptions({ prompt: ' rain ', size: 'WIDE', loud: 'yes', seconds: '5' }, declarations),
    ).toEqual({
      prompt: 'rain',
      size: '16*9',
      loud: true,
      seconds: 5,
    });
  });

  it.each([
    [{ prompt: '   ' }, 'prompt', 'The option “prompt” is required: What it is about.'],
    [{ prompt: 'rain', sise: 'wide' }, 'sise', 'There is no option “sise”. Did you mean “size”?'],
    [{ prompt: 'a tune for rain' }, 'prompt', '“prompt” is too long: 15 characters. The limit is 10.'],
    [{ prompt: 'rain', size: 'round' }, 'size', '“size” must be one of: wide.'],
    [{ prompt: 'rain', loud: 'perhaps' }, 'loud', '“loud” must be on or off.'],
    [{ prompt: 'rain', seconds: 'many' }, 'seconds', '“seconds” must be a number, such as 5, 2.5 or 1,000.'],
    [{ prompt: 'rain', seconds: '1,000' }, 'seconds', '“seconds” must be at most 15.'],
    [{ prompt: 'rain', seconds: 1.5 }, 'seconds', '“seconds” must be a whole number.'],
    [{ prompt: 'rain', seconds: 99 }, 'seconds', '“seconds” must be at most 15.'],
    [{ prompt: 'rain', picture: 'fox.png' }, 'picture', '“picture” takes a file. Please attach one.'],
    [
      {
        prompt: 'rain',
        picture: { name: 'fox.mp3', contentType: 'audio/mpeg', url: 'https://cdn.example/fox' },
      },
      'picture',
      "“picture” takes image files, and fox.mp3 isn't one. Attach a different file.",
    ],
    [
      {
        prompt: 'rain',
        picture: {
          name: 'fox.png',
          contentType: 'image/png',
          bytes: 5_000_000,
          url: 'https://cdn.example/fox',
        },
      },
      'picture',
      'fox.png is too large. “picture” takes files of up to 1 MB. Attach a smaller file.',
    ],
  ])('refuses %j with a message', (raw, option, sentence) => {
    const error = refusal(raw);
    expect(error.message).toBe(sentence);
    expect(error.option).toBe(option);
  });

  it('never throws anything but a UserError', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...commands),
        fc.dictionary(
          fc.string(),
          fc.oneof(
            fc.string(),
            fc.double(),
            fc.boolean(),
            fc.record({ name: fc.string(), url: fc.string() }),
          ),
        ),
        ({ options }, raw) => {
          try {
            validateOptions(raw, options);
          } catch (error) {
            expect(error).toBeInstanceOf(UserError);
          }
        },
      ),
    );
  });
});

it('a number is never -0', () => {
  const most = { most: { type: 'number', description: 'Maximum', minimum: 0 } } as const;
  for (const typed of ['-0', -0, '-0.0']) expect(validateOptions({ most: typed }, most).most).toBe(0);
});

describe('a typed number', () => {
  it.each([
    ['5', 5],
    [' 2.5 ', 2.5],
    ['2,5', 2.5],
    ['.5', 0.5],
    ['0,125', 0.125],
    ['-3', -3],
    ['1,000', 1000],
    ['12,345,678', 12_345_678],
    ['1,000.5', 1000.5],
  ])('parses %s', (typed, number) => {
    expect(readNumber(typed)).toBe(number);
  });

  it.each(['', ' ', '-', 'many', '1,00,000', '1,000,5', '1.2.3', '0x10', '1e3', '5 songs', 'NaN'])(
    'rejects %j',
    (typed) => {
      expect(readNumber(typed)).toBeUndefined();
    },
  );
});
