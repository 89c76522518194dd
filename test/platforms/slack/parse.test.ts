import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { OptionDeclarations } from '../../../src/command.ts';
import { UserError } from '../../../src/errors.ts';
import { escapeMrkdwn, unescapeSlack } from '../../../src/platforms/slack/escape.ts';
import { parseOptions } from '../../../src/platforms/slack/parse.ts';

const options = {
  prompt: { type: 'text', description: 'What the song is about' },
  title: { type: 'text', description: 'Its title' },
  style: { type: 'text', description: 'Its style' },
  instrumental: { type: 'flag', description: 'Without a voice' },
  model: {
    type: 'choice',
    description: 'Model',
    choices: [
      { name: 'Version 5', value: 'V5' },
      { name: 'V4', value: 'V4' },
    ],
  },
  weight: { type: 'number', description: 'Weight', minimum: 0, maximum: 1 },
  audio: { type: 'file', description: 'Audio', accept: ['audio'], maximumBytes: 1 },
} as const satisfies OptionDeclarations;

const parse = (text: string) => parseOptions({ name: 'song', options }, text);
const sentence = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  return 'no error';
};

describe('what is typed behind a command', () => {
  it.each([
    [
      'a tune for rain --style lofi --instrumental',
      { prompt: 'a tune for rain', style: 'lofi', instrumental: true },
    ],
    [
      'a tune --style dark lofi, slow --no-instrumental',
      { prompt: 'a tune', style: 'dark lofi, slow', instrumental: false },
    ],
    ['--style lofi a tune for rain', { prompt: 'a tune for rain', style: 'lofi' }],
    ['--style "dark lofi" a tune', { prompt: 'a tune', style: 'dark lofi' }],
    ['--style “dark lofi” a tune', { prompt: 'a tune', style: 'dark lofi' }],
    ['--style=lofi rain', { prompt: 'rain', style: 'lofi' }],
    ['--style="dark lofi" rain', { prompt: 'rain', style: 'dark lofi' }],
    ['--instrumental=off rain', { prompt: 'rain', instrumental: false }],
    ['rain —style lofi', { prompt: 'rain', style: 'lofi' }],
    ['rain — and more – words', { prompt: 'rain — and more – words' }],
    ['a song called “Rain --again”', { prompt: 'a song called “Rain --again”' }],
    ['"a whole quotation"', { prompt: 'a whole quotation' }],
    ["don't stop --title it's fine", { prompt: "don't stop", title: "it's fine" }],
    ['rain --model version 5', undefined],
    ['rain --model v5', { prompt: 'rain', model: 'V5' }],
    ['rain --weight 0,5', { prompt: 'rain', weight: 0.5 }],
    ['two\nlines  kept', { prompt: 'two\nlines  kept' }],
    ['', {}],
  ])('%s', (text, expected) => {
    if (expected === undefined) expect(sentence(text)).not.toBe('no error');
    else expect(parse(text)).toEqual(expected);
  });

  it.each([
    ['rain --stlye lofi', 'Did you mean --style?'],
    ['rain --loudness 3', 'There are --prompt, --title'],
    ['rain --style', '--style needs a value'],
    ['rain --style --instrumental', '--style needs a value'],
    ['rain --model V9', 'Choose one of V5, V4'],
    ['rain --weight heavy', 'has to be a number'],
    ['rain --instrumental=perhaps', 'write --instrumental or --no-instrumental'],
    ['rain --audio x.mp3', 'Send /song alone'],
    ['rain --style a --style b', 'given twice'],
    ['rain --prompt snow', 'given twice'],
  ])('names the problem: %s', (text, part) => {
    expect(sentence(text)).toContain(part);
  });

  it('says so when a command takes no text', () => {
    const jobs = { name: 'jobs', options: {} };
    expect(() => parseOptions(jobs, 'all')).toThrow('/jobs takes no text');
    expect(parseOptions(jobs, ' ')).toEqual({});
  });

  it('either reads options or throws a UserError, whatever was typed', () => {
    const part = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.constantFrom(
        '--',
        '--style',
        '—style',
        '"',
        '“',
        '”',
        '=',
        '--no-instrumental',
        '--model=',
        ' ',
        '\n',
      ),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        try {
          for (const name of Object.keys(parse(parts.join(' ')))) expect(options).toHaveProperty(name);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      }),
      { numRuns: 250 },
    );
  });

  it('gives words without flags and quotes to the prompt as they are', () => {
    const word = fc.string({ minLength: 1 }).filter((value) => /^[^\s"“”„«»–—-]+$/.test(value));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (list) => {
        expect(parse(list.join(' '))).toEqual({ prompt: list.join(' ') });
      }),
    );
  });

  it('reads back any value that was quoted', () => {
    const value = fc.string().filter((text) => text.trim() === text && text !== '' && !/["“”„«»]/.test(text));
    fc.assert(
      fc.property(value, (style) => {
        expect(parse(`rain --style="${style}"`)).toEqual({ prompt: 'rain', style });
      }),
    );
  });
});

describe('what Slack makes of typed text', () => {
  it('is undone exactly once, whatever was typed', () => {
    const pieces = fc.oneof(
      fc.string(),
      fc.constantFrom('<', '>', '&', 'amp;', 'lt;', '@U1', '|', 'https://x.example', '&amp;'),
    );
    const typedText = fc.array(pieces, { maxLength: 8 }).map((parts) => parts.join(''));
    fc.assert(
      fc.property(typedText, (typed) => {
        expect(unescapeSlack(escapeMrkdwn(typed))).toBe(typed);
      }),
    );
  });

  it.each([
    ['<@U0ADA|ada> and <@U1>', '@ada and @U1'],
    ['<#C1|music>', '#music'],
    ['<!here> <!subteam^S1|@team>', '@here @team'],
    ['<http://example.com/|example.com>', 'http://example.com/'],
    ['<https://example.com/a?b=1&amp;c=2>', 'https://example.com/a?b=1&c=2'],
    ['<https://example.com|look>', 'look (https://example.com)'],
    ['<mailto:a@b.c|a@b.c>', 'a@b.c'],
    ['&amp;lt;', '&lt;'],
  ])('%s', (received, typed) => {
    expect(unescapeSlack(received)).toBe(typed);
  });
});
