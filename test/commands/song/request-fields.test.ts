import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/message.ts';
import { render } from '../../../src/platforms/slack/render/parts.ts';
import { openStudio, type Studio } from './world.ts';

/** Slack does not show the command above a result, so the message repeats the request, once. */
let studio: Studio;

beforeEach(async () => {
  studio = await openStudio();
});
afterEach(() => studio[Symbol.asyncDispose]());

const AUDIO = { name: 'hum.mp3', url: 'https://cdn.example/hum.mp3', bytes: 3, contentType: 'audio/mpeg' };

async function slackText(message: Message): Promise<string> {
  const { parts } = await render(message, { person: 'U0ADA' });
  return JSON.stringify(parts.map(({ blocks }) => blocks));
}

const result = async (command: string, options: object) =>
  studio.finish(await studio.ask(command, { ...options }));
const song = (options: object = {}) => result('song', { prompt: 'a tune for rain', ...options });
const fields = ({ fields = [] }: Message) =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]));
/** The fields with the words of the person, and the origin. */
const requestOf = (message: Message) => {
  const { Style: _, ...rest } = fields(message);
  return rest;
};
const countOf = (text: string, part: string) => text.split(part).length - 1;

describe('a finished song shows its request once', () => {
  it('with the prompt', async () => {
    const text = await slackText(await song());
    expect(countOf(text, 'a tune for rain')).toBe(1);
  });

  it('with a style, lyrics and a title that the gateway changed', async () => {
    const message = await song({ style: 'slow choir', lyrics: '[Verse]\nGrey skies', title: 'Puddles' });
    expect(requestOf(message)).toEqual({ Description: 'a tune for rain', Title: 'Puddles' });
    expect(message.text).toBe('> Rain on the roof');
    const text = await slackText(message);
    for (const words of ['a tune for rain', 'Rain on the roof', 'Puddles', 'slow choir'])
      expect([words, countOf(text, words)]).toEqual([words, 1]);
  });

  it('not if the title and style show it already', async () => {
    expect(requestOf(await song({ prompt: undefined, title: 'Rain', style: 'lofi' }))).toEqual({});
    expect(requestOf(await song({ prompt: 'RAIN' }))).toEqual({});
    expect(requestOf(await song({ prompt: 'rai' }))).toEqual({ Description: 'rai' });
  });

  it('cut at a word, and as plain text', async () => {
    const long = await song({ prompt: `<!channel> *loud* ${'many words '.repeat(120)}`, style: 'lofi' });
    expect(requestOf(long).Description).toMatch(/^<!channel> .* (many|words)…$/);
    expect(requestOf(long).Description?.length).toBeLessThanOrEqual(500);
    expect(await slackText(long)).not.toContain('<!channel>');
  });

  it('after Again, Change and Extend', async () => {
    const first = await song({ style: 'slow choir' });
    const again = await studio.finish(await studio.press(first, 'Again'));
    expect(requestOf(again)).toEqual({ Description: 'a tune for rain' });
    const plain = await song();
    const changed = await studio.finish(await studio.fill(plain, 'Change', { prompt: 'a tune for snow' }));
    expect(requestOf(changed)).toMatchObject({ Description: 'a tune for snow' });
    const withLyrics = await studio.finish(await studio.fill(first, 'Change', { lyrics: 'White skies' }));
    expect(withLyrics.text).toBe('> Rain on the roof');
    expect(requestOf(await studio.finish(await studio.fill(first, 'Extend take 1')))).toEqual({
      'Extended from': '“Rain”, take 1',
    });
    const longer = await studio.finish(
      await studio.fill(first, 'Extend take 2', { prompt: 'Higher', style: 'brass', from: 60 }),
    );
    expect(fields(longer)).toMatchObject({
      'New part': 'Higher',
      From: '1:00',
      Style: 'brass',
      'Extended from': '“Rain”, take 2',
    });
  });

  it.each([
    [{ mode: 'cover', style: 'brass band' }, { 'Cover of': 'hum' }],
    [
      { mode: 'extend', prompt: 'Higher still' },
      { 'New part': 'Higher still', 'Extended from': 'hum' },
    ],
    [
      { mode: 'vocals', prompt: 'Sing of rain', title: 'Puddles' },
      { Description: 'Sing of rain', Title: 'Puddles', 'Vocals added to': 'hum' },
    ],
    [{ mode: 'instrumental', style: 'brass band' }, { 'Band added to': 'hum' }],
  ])('for /remix %j', async (options, request) => {
    const message = await result('remix', { audio: AUDIO, ...options });
    expect(requestOf(message)).toEqual(request);
    const text = await slackText(message);
    if ('style' in options && options.style !== undefined) expect(countOf(text, options.style)).toBe(1);
  });

  it('in the title of Stems, Karaoke, WAV, Music video and Cover art', async () => {
    const first = await song();
    expect((await result('stems', {})).title).toBe('Stems of Rain, take 1');
    expect((await studio.finish(await studio.press(first, 'Karaoke take 1'))).title).toBe(
      'Karaoke for Rain, take 1',
    );
    expect((await studio.finish(await studio.press(first, 'WAV take 2'))).title).toBe('WAV of Rain, take 2');
    const video = await studio.finish(await studio.press(first, 'Music video take 1'));
    expect(video.title).toBe('Music video for Rain, take 1');
    const coverArt = await studio.finish(await studio.press(first, 'Cover art'));
    expect(coverArt.title).toBe('Cover art for Rain');
  });
});
