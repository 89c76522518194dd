import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/core/message.ts';
import { render } from '../../../src/platforms/slack/render/parts.ts';
import { openStudio, type Studio } from './world.ts';

/** What a finished message says of what was asked for, once, as Slack shows it: no command is shown above it there. */
let studio: Studio;

beforeEach(async () => {
  studio = await openStudio();
});
afterEach(() => studio[Symbol.asyncDispose]());

const AUDIO = { name: 'hum.mp3', url: 'https://cdn.example/hum.mp3', bytes: 3, contentType: 'audio/mpeg' };

async function shown(message: Message): Promise<string> {
  const { parts } = await render(message, { person: 'U0ADA' });
  return JSON.stringify(parts.map(({ blocks }) => blocks));
}

const make = async (command: string, options: object) =>
  studio.finish(await studio.ask(command, { ...options }));
const song = (options: object = {}) => make('song', { prompt: 'a tune for rain', ...options });
const fields = ({ fields = [] }: Message) =>
  Object.fromEntries(fields.map(({ name, value }) => [name, value]));
const askedFor = (message: Message) => fields(message).Request;
const times = (text: string, words: string) => text.split(words).length - 1;

describe('a finished song says, once, what was asked for', () => {
  it('in its own words', async () => {
    const text = await shown(await song());
    expect(times(text, 'a tune for rain')).toBe(1);
  });

  it('with a style, lyrics and a title that the gateway changed', async () => {
    const made = await song({ style: 'slow choir', lyrics: '[Verse]\nGrey skies', title: 'Puddles' });
    expect(askedFor(made)).toBe('a tune for rain\nLyrics: [Verse] Grey skies\nTitle: Puddles');
    const text = await shown(made);
    for (const words of ['a tune for rain', 'Grey skies', 'Puddles', 'slow choir'])
      expect([words, times(text, words)]).toEqual([words, 1]);
  });

  it('not again where its title and its style say it', async () => {
    expect(askedFor(await song({ prompt: undefined, title: 'Rain', style: 'lofi' }))).toBeUndefined();
    expect(askedFor(await song({ prompt: 'RAIN' }))).toBeUndefined();
    expect(askedFor(await song({ prompt: 'rai' }))).toBe('rai');
  });

  it('shortened at a word, and as plain text', async () => {
    const long = await song({ prompt: `<!channel> *loud* ${'many words '.repeat(120)}`, style: 'lofi' });
    expect(askedFor(long)).toMatch(/^<!channel> .* (many|words)…$/);
    expect(askedFor(long)?.length).toBeLessThanOrEqual(500);
    expect(await shown(long)).not.toContain('<!channel>');
  });

  it('when a button made it: Again, Change and Extend', async () => {
    const first = await song({ style: 'slow choir' });
    const again = await studio.finish(await studio.press(first, 'Again'));
    expect(askedFor(again)).toBe('a tune for rain');
    const plain = await song();
    const changed = await studio.finish(await studio.fill(plain, 'Change', { prompt: 'a tune for snow' }));
    expect(askedFor(changed)).toBe('a tune for snow');
    const sung = await studio.finish(await studio.fill(first, 'Change', { lyrics: 'White skies' }));
    expect(askedFor(sung)).toContain('Lyrics: White skies');
    expect(askedFor(await studio.finish(await studio.fill(first, 'Extend take 1')))).toBe('Mode: extend');
    const longer = await studio.finish(
      await studio.fill(first, 'Extend take 2', { prompt: 'Higher', style: 'brass', from: 60 }),
    );
    expect(fields(longer)).toMatchObject({
      Request: 'Mode: extend\nHigher\nFrom: 1:00',
      Style: 'brass',
      'Made from': '“Rain”, take 2',
    });
  });

  it.each([
    [{ mode: 'cover', style: 'brass band' }, 'Mode: cover'],
    [{ mode: 'extend', prompt: 'Higher still' }, 'Mode: extend\nHigher still'],
    [
      { mode: 'vocals', prompt: 'Sing of rain', title: 'Puddles' },
      'Mode: vocals\nSing of rain\nTitle: Puddles',
    ],
    [{ mode: 'instrumental', style: 'brass band' }, 'Mode: instrumental\nStyle: brass band'],
  ])('of /remix %j', async (options, words) => {
    const made = await make('remix', { audio: AUDIO, ...options });
    expect(askedFor(made)).toBe(words);
    expect(fields(made)['Made from']).toBe('hum');
    const text = await shown(made);
    if ('style' in options && options.style !== undefined) expect(times(text, options.style)).toBe(1);
  });

  it('of Stems, Karaoke, WAV, Music video and Cover art in the title', async () => {
    const first = await song();
    expect((await make('stems', {})).title).toBe('Stems of Rain, take 1');
    expect((await studio.finish(await studio.press(first, 'Karaoke take 1'))).title).toBe(
      'Karaoke for Rain, take 1',
    );
    expect((await studio.finish(await studio.press(first, 'WAV take 2'))).title).toBe('WAV of Rain, take 2');
    const filmed = await studio.finish(await studio.press(first, 'Music video take 1'));
    expect(filmed.title).toBe('Music video for Rain, take 1');
    const painted = await studio.finish(await studio.press(first, 'Cover art'));
    expect(painted.title).toBe('Cover art for Rain');
  });
});
