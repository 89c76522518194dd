import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { UserError } from '../../../src/core/errors.ts';
import type { OptionDeclarations } from '../../../src/core/options.ts';
import { parseOptions } from '../../../src/platforms/shared/parse.ts';

const options = {
  prompt: { type: 'text', description: 'Describe the song' },
  title: { type: 'text', description: 'Title' },
  style: { type: 'text', description: 'Style' },
  instrumental: { type: 'flag', description: 'Instrumental (no vocals)' },
  model: {
    type: 'choice',
    description: 'Model',
    choices: [
      { name: 'Version 5', value: 'V5' },
      { name: 'V4', value: 'V4' },
    ],
  },
  weight: { type: 'number', description: 'Weight', minimum: 0, maximum: 1000 },
  audio: { type: 'file', description: 'Audio', accept: ['audio'], maximumBytes: 1 },
} as const satisfies OptionDeclarations;

const parse = (text: string) => parseOptions({ name: 'song', options, fileHint: 'Send /song alone.' }, text);
const sentence = (text: string): string => {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof UserError) return error.message;
    throw error;
  }
  return 'no error';
};

describe('text after a command', () => {
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
    ['--style ‘don’t stop’ a tune', { prompt: 'a tune', style: 'don’t stop' }],
    ['--style=‘don’t stop’ a tune', { prompt: 'a tune', style: 'don’t stop' }],
    ['it’s Ada’s tune', { prompt: 'it’s Ada’s tune' }],
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
    ['rain --weight 1,000', { prompt: 'rain', weight: 1000 }],
    ['two\nlines  kept', { prompt: 'two\nlines  kept' }],
    ["--title 'It rains' a tune", { title: 'It rains', prompt: 'a tune' }],
    ["rain --title Rock 'n' Roll", { title: "Rock 'n' Roll", prompt: 'rain' }],
    ["'tis the season", { prompt: "'tis the season" }],
    ['say "hello" to rain', { prompt: 'say "hello" to rain' }],
    ['--title "Rain --style rock" a tune', { title: 'Rain --style rock', prompt: 'a tune' }],
    ['--title "never closed', { title: '"never', prompt: 'closed' }],
    ['rain --instrumental in the night', { prompt: 'rain in the night', instrumental: true }],
    ['--STYLE lofi', { style: 'lofi' }],
    ['a well--known tune', { prompt: 'a well--known tune' }],
    ['rain — sad – and slow - really —sad', { prompt: 'rain — sad – and slow - really —sad' }],
    ['rain —style lofi –instrumental', { prompt: 'rain', style: 'lofi', instrumental: true }],
    [
      '--style lofi -- sing: --title is no option here',
      { style: 'lofi', prompt: 'sing: --title is no option here' },
    ],
    ['rain -- --style', { prompt: 'rain --style' }],
    ['rain --style folk --prompt', undefined],
    ['--prompt=[Verse] --style folk', { prompt: '[Verse]', style: 'folk' }],
    [
      'rain --audio https://example.org/a/rain.mp3?x=1',
      { prompt: 'rain', audio: { name: 'rain.mp3', url: 'https://example.org/a/rain.mp3?x=1' } },
    ],
    [
      'prompt:a tune for rain style:dark lofi instrumental:true weight:0.5',
      { prompt: 'a tune for rain', style: 'dark lofi', instrumental: true, weight: 0.5 },
    ],
    ['title: It rains', { title: 'It rains' }],
    ['a song in the style: dark', { prompt: 'a song in the style: dark' }],
    ['Style:lofi 10:30 https://rain.example', { prompt: 'Style:lofi 10:30 https://rain.example' }],
    ['', {}],
  ])('%s', (text, expected) => {
    if (expected === undefined) expect(sentence(text)).not.toBe('no error');
    else expect(parse(text)).toEqual(expected);
  });

  it.each([
    ['rain --stlye lofi', 'Did you mean --style?'],
    ['rain --loudness 3', 'Its options are --prompt, --title'],
    ['rain --style', '--style needs a value'],
    ['rain --style --instrumental', '--style needs a value'],
    ['rain --model V9', '“model” must be one of: Version 5, V4.'],
    ['rain --weight heavy', '“weight” must be a number'],
    ['rain --instrumental=perhaps', '“instrumental” must be on or off'],
    ['rain --audio x.mp3', 'Send /song alone'],
    ['rain --style a --style b', 'twice. Use it once.'],
    ['rain --prompt snow', 'twice. Use it once.'],
    ['rain --constructor x', 'no option --constructor'],
    ['rain --__proto__ x', 'no option --__proto__'],
    ['rain --audio rain.mp3', 'Enter a link that'],
  ])('names the problem: %s', (text, part) => {
    expect(sentence(text)).toContain(part);
  });

  it('reads the name of a switch as that switch if the command takes no text', () => {
    const jobs = { name: 'jobs', options: { all: { type: 'flag', description: 'All' } } } as const;
    expect(parseOptions(jobs, 'all')).toEqual({ all: true });
    expect(() => parseOptions(jobs, 'everything')).toThrow("/jobs doesn't take text, only --all");
    expect(parse('instrumental')).toEqual({ prompt: 'instrumental' });
  });

  it("reports that a command doesn't take text", () => {
    const jobs = { name: 'jobs', options: {} };
    expect(() => parseOptions(jobs, 'all')).toThrow("/jobs doesn't take text");
    expect(parseOptions(jobs, ' ')).toEqual({});
  });

  it('returns options or throws a UserError for any input', () => {
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
    );
  });

  it('passes words without flags and quotes to the prompt unchanged', () => {
    const word = fc.string({ minLength: 1 }).filter((value) => /^[^\s"“”„«»–—-]+$/.test(value));
    fc.assert(
      fc.property(fc.array(word, { minLength: 1 }), (list) => {
        expect(parse(list.join(' '))).toEqual({ prompt: list.join(' ') });
      }),
    );
  });

  it('reads any quoted value', () => {
    const value = fc.string().filter((text) => text.trim() === text && text !== '' && !/["“”„«»]/.test(text));
    fc.assert(
      fc.property(value, (style) => {
        expect(parse(`rain --style="${style}"`)).toEqual({ prompt: 'rain', style });
      }),
    );
  });
});

describe('positional words', () => {
  const set = {
    family: {
      type: 'choice',
      description: 'For what',
      required: true,
      choices: [
        { name: 'answers', value: 'ask' },
        { name: 'songs', value: 'song' },
      ],
    },
    model: { type: 'text', description: 'Model', required: true },
    where: {
      type: 'choice',
      description: 'Where',
      choices: [
        { name: 'channel', value: 'channel' },
        { name: 'server', value: 'server' },
      ],
    },
  } as const satisfies OptionDeclarations;
  const byPosition = (text: string) =>
    parseOptions({ name: 'models set', options: set, positional: true }, text);

  it.each([
    ['ask chat:chat-small channel', { family: 'ask', model: 'chat:chat-small', where: 'channel' }],
    ['answers chat:chat-small', { family: 'ask', model: 'chat:chat-small' }],
    ['ask a model with spaces server', { family: 'ask', model: 'a model with spaces', where: 'server' }],
    ['ask --model=channel', { family: 'ask', model: 'channel' }],
    ['--where server ask chat-small', { family: 'ask', model: 'chat-small', where: 'server' }],
    ['--family song V5 channel', { family: 'song', model: 'V5', where: 'channel' }],
    ['ask channel', { family: 'ask', model: 'channel' }],
    ['ask', { family: 'ask' }],
    ['picture chat-small', { model: 'picture chat-small' }],
  ])('%s', (text, expected) => {
    expect(byPosition(text)).toEqual(expected);
  });

  it('are read if there is no text option', () => {
    const { family, where } = set;
    const options = { family, where };
    const reset = (text: string) => parseOptions({ name: 'models reset', options, positional: true }, text);
    expect(reset('ask server')).toEqual({ family: 'ask', where: 'server' });
    expect(() => reset('askk server')).toThrow(
      "“askk” isn't valid for family. Choose one of answers, songs.",
    );
  });

  it('are read as numbers, but not taken from multiline text', () => {
    const options = {
      scope: set.where,
      most: { type: 'number', description: 'Most' },
      per: set.family,
    } as const;
    const limit = (text: string) => parseOptions({ name: 'limits set', options, positional: true }, text);
    expect(limit('server 1,000 song')).toEqual({ scope: 'server', most: 1000, per: 'song' });
    expect(limit('server 1,000')).toEqual({ scope: 'server', most: 1000 });
    const prompt = { type: 'text', description: 'Prompt', multiline: true } as const;
    const prose = (text: string) =>
      parseOptions(
        { name: 'models prompt', options: { text: prompt, where: set.where }, positional: true },
        text,
      );
    expect(prose('Be kind to people of this server')).toEqual({ text: 'Be kind to people of this server' });
    expect(prose('Be kind --where server')).toEqual({ text: 'Be kind', where: 'server' });
  });

  it('stay text if the command has no subcommands', () => {
    const options = { prompt: { type: 'text', description: 'What' }, where: set.where } as const;
    expect(parseOptions({ name: 'image', options }, 'a red channel')).toEqual({ prompt: 'a red channel' });
  });
});
