import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { MediaItem, Message } from '../../../src/core/message.ts';
import { PlatformError, type PostState } from '../../../src/platforms/platform.ts';
import { completeRows, readableMarkdown } from '../../../src/platforms/terminal/render.ts';
import { SILENT_BOT } from '../../core/silent-bot.ts';
import { createPaper, openTerminal, type TerminalHarness } from './harness.ts';

const ADDRESS = { platform: 'terminal', channel: 'terminal', person: 'you' };
const STARTED_AT = 1_700_000_000_000;
const remember = async () => {};

let harness: TerminalHarness;
beforeEach(async () => {
  harness = await openTerminal();
  await harness.terminal.start(SILENT_BOT);
});
afterEach(() => harness.close());

const show = (message: Message, key = 'a') => harness.terminal.show(ADDRESS, message, { key, remember });

const silence = (seconds: number): Uint8Array => Buffer.alloc(seconds * 8000, 128);

function audio(name: string, bytes: Uint8Array, more: Partial<MediaItem> = {}): MediaItem {
  return { kind: 'audio', name, source: { type: 'stored', file: harness.keep(bytes) }, ...more };
}

test('prints a job from the first stage to the result', async () => {
  const stage = (text: string, more = {}): Message => ({
    title: 'Composing “Rain”',
    progress: { stage: text, startedAt: STARTED_AT },
    actions: [{ type: 'action', id: 'song.cancel:job1:0', label: 'Cancel' }],
    ...more,
  });
  await show(stage('handed over'));
  await show(stage('handed over'));
  await show(stage('the lyrics are written', { title: 'Rain', text: 'Drops\\\non the roof' }));
  await show({
    title: 'Rain',
    text: 'Drops\\\non the roof',
    fields: [{ name: 'Style', value: 'lofi' }],
    media: [audio('Rain.wav', silence(2), { caption: 'Take 1' })],
    actions: [
      { type: 'action', id: 'song.extend:job1:0', label: 'Extend' },
      { type: 'link', url: 'https://example.org', label: 'More' },
    ],
    footer: 'model V5',
  });
  expect(harness.paper.written()).toBe(
    [
      '',
      'Minstrel #1',
      '… Composing “Rain”: handed over [1] Cancel',
      'Rain',
      'Drops',
      'on the roof',
      '… Rain: the lyrics are written [1] Cancel',
      `♪ ${join(harness.folder, 'Rain.wav')} · Take 1 · 16 kB`,
      'Style: lofi',
      'model V5',
      '[2] Extend   More: https://example.org',
      '',
    ].join('\n'),
  );
});

test('leaves out links if their pages end with the program', async () => {
  const terminal = harness.make({ withoutLinks: true });
  await terminal.start(SILENT_BOT);
  const actions: Message['actions'] = [
    { type: 'action', id: 'song.extend:job1:0', label: 'Extend' },
    { type: 'link', url: 'http://127.0.0.1:3000/songs/1', label: 'Listen' },
  ];
  const progress = { stage: 'Recording', startedAt: STARTED_AT };
  await terminal.show(ADDRESS, { title: 'Rain', actions, progress }, { key: 'a', remember });
  await terminal.show(ADDRESS, { title: 'Rain', actions }, { key: 'a', remember });
  expect(harness.paper.written()).toContain('[1] Extend');
  expect(harness.paper.written()).not.toContain('Listen');
});

test('prints a heading when the output switches between messages', async () => {
  await show({ text: 'one' }, 'a');
  await show({ text: 'two' }, 'b');
  await show({ text: 'one', footer: 'more' }, 'a');
  await show({ text: 'another one' }, 'a');
  expect(harness.paper.written().trim().split(/\n+/)).toEqual([
    ...['Minstrel #1', 'one', 'Minstrel #2', 'two'],
    ...['Minstrel #1', 'more', 'Minstrel #1, edited', 'another one'],
  ]);
});

test('does not repeat parts printed before a restart, even if button numbers change', async () => {
  const message: Message = {
    text: 'done',
    actions: [{ type: 'action', id: 'song.again:job1:0', label: 'Again' }],
  };
  await show({ ...message, actions: [{ type: 'action', id: 'x.y:z:0', label: 'Other' }] }, 'b');
  const posted = await show(message);
  const before = harness.paper.written();
  await harness.make().show(ADDRESS, message, { key: 'a', posted, remember });
  expect(harness.paper.written()).toBe(before);
});

test('ignores a stored state that is not from a terminal', async () => {
  const posted: PostState = { printed: 7 };
  await harness.terminal.show(ADDRESS, { text: 'hello' }, { key: 'a', posted, remember });
  expect(harness.paper.written()).toContain('hello');
});

test('does not print a file again when more files arrive', async () => {
  const first = audio('Take 1.wav', silence(1));
  await show({
    title: 'Rain',
    media: [first],
    progress: { stage: 'the second take', startedAt: STARTED_AT },
  });
  await show({ title: 'Rain', media: [audio('Take 2.wav', silence(2)), first] });
  const lines = harness.paper.written().trim().split('\n');
  expect(lines.map((line) => line.replace(`${harness.folder}/`, ''))).toEqual([
    'Minstrel #1',
    'Rain',
    '♪ Take 1.wav · 8 kB',
    '… Rain: the second take',
    '♪ Take 2.wav · 16 kB',
  ]);
});

describe('control characters are removed', () => {
  const evil = 'a\u001b[2Jb\u0007c\rd\u009b1Ae\u202ef';
  test('from every part of a message', async () => {
    await show({
      title: evil,
      text: `${evil} and &#27;[2J and \`&#27;\` [x](https://e.org/&#27;)`,
      fields: [{ name: evil, value: evil }],
      media: [audio(`${evil}.mp3`, silence(1), { caption: evil, alt: evil })],
      actions: [
        { type: 'action', id: 'a.b:c:0', label: evil },
        { type: 'link', url: `https://e.org/${evil}`, label: evil },
      ],
      footer: evil,
    });
    await show({ title: evil, progress: { stage: evil, startedAt: STARTED_AT } }, 'b');
    await harness.terminal.sendPrivately(ADDRESS, { text: evil });
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these must be removed.
    expect(harness.paper.written()).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
  });
});

test.each([
  ['escapes', 'a \\*star\\* and a line\\\nmore', 'a *star* and a line\nmore'],
  ['code in a line', 'escaped \\` and `a\\*b` and \\*', 'escaped ` and `a\\*b` and *'],
  ['a block of code', '\\*\n```js\n/\\*/ `\n```\n\\*', '*\n```js\n/\\*/ `\n```\n*'],
  ['a block within a longer fence', '````\n```\n\\*\n````\n\\*', '````\n```\n\\*\n````\n*'],
  ['everything else', '# Head\n\n**bold** [link](https://e.org)', '# Head\n\n**bold** [link](https://e.org)'],
])('keeps Markdown readable: %s', (_, markdown, text) => {
  expect(readableMarkdown(markdown)).toBe(text);
});

test.each([
  ['one two three', ['one two'], 8],
  ['one\n\ntwo', ['one', ''], 5],
  ['abcdefghijk lm', ['abcdefgh'], 8],
  ['one two', [], 0],
])('splits %j into complete rows of 8 columns', (text, rows, length) => {
  expect(completeRows(text, 8)).toEqual({ rows, length });
});

describe('a streamed text', () => {
  const words = Array.from({ length: 40 }, (_, index) => `word${index}`).join(' ');
  const startStream = async (output: ReturnType<typeof createPaper>) => {
    const stream = harness.make({ output }).stream(ADDRESS, { key: 'a', remember });
    stream.update(() => ({ title: 'Words', text: `${words.slice(0, 150)}` }));
    return stream;
  };

  test('is printed once, row by row, on a TTY', async () => {
    const screen = Object.assign(createPaper(), { isTTY: true, columns: 40 });
    const stream = await startStream(screen);
    await expect.poll(screen.written).toContain('Minstrel #1\nWords\nword0 word1');
    await stream.close({ title: 'Words', text: words, footer: 'the end' });
    const [, , ...rows] = screen.written().trim().split('\n');
    expect(rows.length).toBeGreaterThan(4);
    expect(rows.join(' ')).toBe(`${words} the end`.replace('Words ', ''));
  });

  test('is printed in complete lines to a pipe', async () => {
    const pipe = createPaper();
    const stream = await startStream(pipe);
    await stream.close({ title: 'Words', text: words });
    expect(pipe.written()).toBe(`\nMinstrel #1\nWords\n${words}\n`);
  });

  test('is printed again in full if its start changes', async () => {
    const screen = Object.assign(createPaper(), { isTTY: true, columns: 40 });
    const stream = await startStream(screen);
    await expect.poll(screen.written).toContain('word0 word1');
    await stream.close({ title: 'Words', text: 'Stopped.' });
    expect(screen.written()).toMatch(/Minstrel #1, edited\nWords\nStopped\.\n$/);
  });
});

describe('files', () => {
  test('with the same name get a number', async () => {
    await show({ media: [audio('Rain.wav', silence(1)), audio('Rain.wav', silence(2))] });
    expect((await readdir(harness.folder)).sort()).toEqual(['Rain (2).wav', 'Rain.wav']);
    expect(await readFile(join(harness.folder, 'Rain (2).wav'))).toHaveLength(16_000);
  });

  test('with the same name do not overwrite each other when saved at once', async () => {
    await Promise.all(
      [1, 2, 3, 4].map((seconds) => show({ media: [audio('Rain.wav', silence(seconds))] }, `key${seconds}`)),
    );
    expect(await readdir(harness.folder)).toHaveLength(4);
  });

  test('that already exist are not saved again', async () => {
    await show({ media: [audio('Rain.wav', silence(1))] }, 'a');
    await show({ media: [audio('Rain.wav', silence(1))] }, 'b');
    expect(await readdir(harness.folder)).toEqual(['Rain.wav']);
  });

  test('never leave the folder', async () => {
    await show({ media: [audio('../../escaped.wav', silence(1)), audio('..', silence(2))] });
    const names = await readdir(harness.folder);
    expect(names).toHaveLength(2);
    expect(await readdir(join(harness.folder, '..'))).toEqual(['media']);
  });

  test('are rejected if they are shorter than expected', async () => {
    const whole = harness.keep(silence(1));
    const file = { ...whole, bytes: whole.bytes + 1 };
    const item: MediaItem = { kind: 'audio', name: 'Rain.wav', source: { type: 'stored', file } };
    await expect(show({ media: [item] })).rejects.toMatchObject({ code: 'unavailable' });
    expect(await readdir(harness.folder)).toEqual([]);
  });

  test('that are no longer stored can be retried', async () => {
    const file = { name: 'lost', bytes: 1, contentType: 'audio/wav' };
    const item: MediaItem = { kind: 'audio', name: 'Rain.wav', source: { type: 'stored', file } };
    await expect(show({ media: [item] })).rejects.toBeInstanceOf(PlatformError);
  });

  test('are refused with advice if the folder is not writable', async () => {
    await writeFile(harness.folder, 'a file where the folder should be');
    await expect(show({ media: [audio('Rain.wav', silence(1))] })).rejects.toMatchObject({
      code: 'refused',
      advice: expect.stringContaining('Make the folder writable'),
    });
    await harness.terminal.sendPrivately(ADDRESS, { text: 'Here', media: [audio('Rain.wav', silence(1))] });
    expect(harness.paper.written()).toContain('Make the folder writable');
  });

  test('that are still at the gateway show their URL', async () => {
    await show({
      text: 'Listen already',
      media: [{ kind: 'audio', name: 'Rain.mp3', source: { type: 'remote', url: 'https://example.org/s' } }],
      progress: { stage: 'the last seconds', startedAt: STARTED_AT },
    });
    expect(harness.paper.written()).toContain('♪ https://example.org/s\n');
  });
});

test('reports a closed output as a deleted channel', async () => {
  harness.paper.destroy(new Error('EPIPE'));
  await expect.poll(() => harness.terminal.status()).toMatchObject({ ready: false });
  await expect(show({ text: 'hello' })).rejects.toMatchObject({ code: 'gone' });
});
