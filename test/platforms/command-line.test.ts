import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OptionDeclarations } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import { parseCommandLine } from '../../src/platforms/command-line.ts';

const SONG = {
  prompt: { type: 'text', description: 'What the song is about', required: true },
  title: { type: 'text', description: 'Its title' },
  style: { type: 'text', description: 'Its style' },
  instrumental: { type: 'flag', description: 'Without voices' },
  voice: { type: 'choice', description: 'Who sings', choices: [{ name: 'Female', value: 'f' }] },
  duration: { type: 'number', description: 'Seconds' },
  audio: { type: 'file', description: 'A recording', accept: ['audio'], maximumBytes: 1 },
} satisfies OptionDeclarations;

const song = (text: string) => parseCommandLine(text, SONG);

test.each([
  ['', {}],
  ['   ', {}],
  ['a tune for rain', { prompt: 'a tune for rain' }],
  ['a tune --style dark lofi', { prompt: 'a tune', style: 'dark lofi' }],
  ['--style dark lofi --title Rain', { style: 'dark lofi', title: 'Rain' }],
  ['--style=lofi --title Rain', { style: 'lofi', title: 'Rain' }],
  ['a tune --instrumental', { prompt: 'a tune', instrumental: true }],
  ['--instrumental a tune', { prompt: 'a tune', instrumental: true }],
  ['a tune --instrumental for rain', { prompt: 'a tune for rain', instrumental: true }],
  ['a tune --instrumental=off', { prompt: 'a tune', instrumental: 'off' }],
  ['--voice f a tune', { voice: 'f', prompt: 'a tune' }],
  ['--duration 30 a tune', { duration: '30', prompt: 'a tune' }],
  ['--STYLE lofi', { style: 'lofi' }],
  ['--prompt a tune', { prompt: 'a tune' }],
])('%j', (text, options) => {
  expect(song(text)).toEqual(options);
});

describe('quotes', () => {
  test.each([
    ['--title "Rain, again" a tune', { title: 'Rain, again', prompt: 'a tune' }],
    ['--title "Rain --style rock" a tune', { title: 'Rain --style rock', prompt: 'a tune' }],
    ['--title “Regen” a tune', { title: 'Regen', prompt: 'a tune' }],
    [`--title 'It rains' a tune`, { title: 'It rains', prompt: 'a tune' }],
    ['--title "never closed', { title: '"never closed' }],
    ['say "hello" to rain', { prompt: 'say "hello" to rain' }],
    [`--title Rock 'n' Roll`, { title: `Rock 'n' Roll` }],
  ])('%s', (text, options) => {
    expect(song(text)).toEqual(options);
  });
});

describe('dashes', () => {
  test('of prose stay prose', () => {
    expect(song('rain — sad – and slow - really —sad')).toEqual({
      prompt: 'rain — sad – and slow - really —sad',
    });
    expect(song('a well--known tune')).toEqual({ prompt: 'a well--known tune' });
  });

  test('that a phone joined are read as they were typed', () => {
    expect(song('rain —style lofi –instrumental')).toEqual({
      prompt: 'rain',
      style: 'lofi',
      instrumental: true,
    });
  });

  test('alone end the options', () => {
    expect(song('--style lofi -- sing: --title is no option here')).toEqual({
      style: 'lofi',
      prompt: 'sing: --title is no option here',
    });
  });
});

test('lines of lyrics stay lines', () => {
  expect(song('--style folk --prompt [Verse]\nRain\n\n[Chorus]\nMore rain')).toEqual({
    style: 'folk',
    prompt: '[Verse]\nRain\n\n[Chorus]\nMore rain',
  });
});

test('a name that nobody knows is passed on, for the bot to say what it may have been', () => {
  expect(song('rain --styl lofi')).toEqual({ prompt: 'rain', styl: 'lofi' });
  expect(song('rain --constructor x')).toEqual({ prompt: 'rain', constructor: 'x' });
  expect(Object.hasOwn(song('--__proto__ x'), '__proto__')).toBe(false);
});

test('a file is given by its address', () => {
  expect(song('--audio https://example.org/a/rain.mp3?x=1')).toEqual({
    audio: { name: 'rain.mp3', url: 'https://example.org/a/rain.mp3?x=1' },
  });
  expect(song('--audio rain.mp3')).toEqual({ audio: 'rain.mp3' });
});

test('an option that is given twice is named', () => {
  expect(() => song('--style a --style b')).toThrow('The option “style” is given twice.');
  expect(() => song('rain --prompt more rain')).toThrow('The option “prompt” is given twice.');
});

test('text for a command that takes none names what it takes', () => {
  const { instrumental } = SONG;
  expect(() => parseCommandLine('hello', { instrumental })).toThrow('only options: --instrumental');
  expect(() => parseCommandLine('hello', {})).toThrow('takes nothing');
});

test('any text is either read or refused with a sentence', () => {
  const words = fc.constantFrom(
    'rain',
    '--style',
    '--',
    '—title',
    '--voice',
    '"',
    '--title="',
    'a b',
    '=',
    '\n',
  );
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map((list) => list.join(' ')),
      ),
      (text) => {
        try {
          song(text);
        } catch (error) {
          expect(error).toBeInstanceOf(UserError);
        }
      },
    ),
  );
});
