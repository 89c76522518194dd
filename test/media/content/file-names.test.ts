import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { safeFileName, uniqueFileNames } from '../../../src/media/content/file-names.ts';
import { codePoint } from '../../fixtures/code-point.ts';

describe('a title becomes a file name', () => {
  test.each([
    ['Rain on Tin', 'Rain on Tin.mp3'],
    ['雨のうた', '雨のうた.mp3'],
    ['Ünïcödé – “quoted”', 'Ünïcödé – “quoted”.mp3'],
    ['👩‍🚀 in space', '👩‍🚀 in space.mp3'],
    ['AC/DC: Live\\Loud', 'AC-DC- Live-Loud.mp3'],
    ['What? "Who" <me> |*', 'What Who me.mp3'],
    ['../../etc/passwd', '-..-etc-passwd.mp3'],
    ['.hidden', 'hidden.mp3'],
    ['...', 'untitled.mp3'],
    ['', 'untitled.mp3'],
    [' \t\n ', 'untitled.mp3'],
    ['two\nlines\tand  tabs', 'two lines and tabs.mp3'],
    ['bell\u0007 and null\0', 'bell and null.mp3'],
    ['evil\u202egnp.exe', 'evilgnp.exe.mp3'],
    ['zero\u200bwidth\ufeff', 'zerowidth.mp3'],
    ['half a \ud83d', 'half a.mp3'],
    ['CON', '_CON.mp3'],
    ['com1.backup', '_com1.backup.mp3'],
    ['lpt¹', '_lpt¹.mp3'],
    ['console', 'console.mp3'],
    ['ends with dots. . .', 'ends with dots.mp3'],
    ['Song.MP3', 'Song.mp3'],
    ['e\u0301', 'é.mp3'],
  ])('%j: %s', (title, name) => expect(safeFileName(title, 'mp3')).toBe(name));

  test.each([
    ['WAV', 'song.wav'],
    ['', 'song.bin'],
    ['../sh', 'song.bin'],
    ['averylongone', 'song.bin'],
  ])('with the extension %j: %s', (extension, name) => expect(safeFileName('song', extension)).toBe(name));

  test('that is cut between characters if it is long', () => {
    const name = safeFileName('👩‍🚀'.repeat(100), 'mp3');
    expect(name).toBe(`${'👩‍🚀'.repeat(16)}.mp3`);
  });

  test('that is valid on every system, for any title', () => {
    fc.assert(
      fc.property(fc.string({ unit: codePoint, maxLength: 300 }), (title) => {
        const name = safeFileName(title, 'mp3');
        expect(Buffer.byteLength(name)).toBeLessThanOrEqual(180);
        expect(name).toMatch(/^[^\s.].*\.mp3$/u);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters must not be there
        expect(name).not.toMatch(/[\u0000-\u001f\u007f-\u009f/\\:*?"<>|\u202a-\u202e\u2066-\u2069]/);
        expect(name.isWellFormed()).toBe(true);
      }),
    );
  });
});

describe('files in one folder', () => {
  const named = (...titles: string[]) =>
    uniqueFileNames(titles.map((title) => ({ title, extension: 'mp3' })));

  test('get unique names on every system', () => {
    expect(named('Rain', 'rain', 'Rain', 'Sun')).toEqual([
      'Rain.mp3',
      'rain (2).mp3',
      'Rain (3).mp3',
      'Sun.mp3',
    ]);
    expect(named('Rain', 'Rain (2)', 'Rain')).toEqual(['Rain.mp3', 'Rain (2).mp3', 'Rain (3).mp3']);
  });

  test('may share a title if their extensions differ', () => {
    const files = [
      { title: 'Rain', extension: 'mp3' },
      { title: 'Rain', extension: 'wav' },
    ];
    expect(uniqueFileNames(files)).toEqual(['Rain.mp3', 'Rain.wav']);
  });

  test('stay within the limit with their numbers', () => {
    const names = named(...Array.from({ length: 12 }, () => 'x'.repeat(500)));
    expect(new Set(names).size).toBe(12);
    for (const name of names) expect(Buffer.byteLength(name)).toBeLessThanOrEqual(180);
  });
});
