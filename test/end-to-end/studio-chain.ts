import { unzipSync } from 'fflate';
import { afterEach, beforeAll, expect, it } from 'vitest';
import { wavOf } from '../fixtures/media-samples.ts';
import { MUSIC_ROUTES } from '../fixtures/music-routes.ts';
import { soundsOf } from './sound.ts';

/** An attached file. */
export interface Recording {
  readonly name: string;
  readonly bytes: Buffer;
}

/** All visible parts of a result, wherever the platform puts them. */
export interface Shown<Handle = unknown> {
  readonly handle: Handle;
  readonly text: string;
  readonly labels: readonly string[];
  /** URLs of link buttons. */
  readonly links: readonly string[];
  readonly files: readonly { readonly name: string; readonly bytes: Uint8Array }[];
  /** Text and audio in the message before the result was complete. */
  readonly early: { readonly words: string; readonly takes: number };
}

export type Values = Readonly<Record<string, string | number | true | Recording>>;
export const isRecording = (value: Values[string]): value is Recording => typeof value === 'object';

/** A person on a platform. Methods resolve once the result is shown with the given number of files. */
export interface StudioPerson<Handle = unknown> {
  command(name: string, values: Values, files: number): Promise<Shown<Handle>>;
  press(shown: Shown<Handle>, label: string, files: number): Promise<Shown<Handle>>;
  /** Presses a button that opens a form, and submits it. */
  fill(shown: Shown<Handle>, label: string, values: Values, files: number): Promise<Shown<Handle>>;
  /** Presses a button and resolves to the private reply. */
  pressQuietly(shown: Shown<Handle>, label: string): Promise<string>;
  suggest(
    command: string,
    option: string,
    typed: string,
  ): Promise<readonly { name: string; value: string }[]>;
  /** Returns the platform's link to a message. */
  linkTo(shown: Shown<Handle>): string;
}

export interface ChainOptions<Handle> {
  readonly person: () => StudioPerson<Handle>;
  /** Returns the names of the music routes that were called. */
  readonly reached: () => readonly string[];
  /** True if people see the stages of a song. */
  readonly hasStages: () => boolean;
  readonly refused: () => readonly unknown[];
}

/** The whole workflow of a person. Each step builds on the previous ones. */
export function studioChain<Handle>({ person, reached, refused, hasStages }: ChainOptions<Handle>): void {
  let ada: StudioPerson<Handle>;
  let song: Shown<Handle>;
  const recording: Recording = { name: 'demo.wav', bytes: wavOf({ seconds: 3 }) };

  beforeAll(() => {
    ada = person();
  });
  afterEach(() => expect(refused()).toEqual([]));

  const kind = (bytes: Uint8Array) => Buffer.from(bytes);
  const isPng = (bytes: Uint8Array) => kind(bytes).subarray(1, 4).toString() === 'PNG';
  const isMp4 = (bytes: Uint8Array) => kind(bytes).subarray(4, 8).toString() === 'ftyp';
  const isWav = (bytes: Uint8Array) => kind(bytes).subarray(0, 4).toString() === 'RIFF';
  const isZip = (bytes: Uint8Array) => kind(bytes).subarray(0, 2).toString() === 'PK';

  it('a song in custom mode: lyrics, then one take, then both, in one message', async () => {
    song = await ada.command('song', { prompt: 'a tune for rain', title: 'Rain' }, 3);
    expect(song.labels).toEqual(
      expect.arrayContaining(['Extend take 1', 'Extend take 2', 'Save voice take 2', 'Change']),
    );
    expect(song.text).toContain('Style (from your description)');
    if (!hasStages()) return;
    expect(song.early.words, 'the words of the song').toMatch(/> \w/);
    expect(song.early.takes, 'one take to listen to').toBe(1);
  });

  it('Extend: unchanged, and in another style from a given second', async () => {
    const longer = await ada.fill(song, 'Extend take 1', {}, 1);
    expect(longer.text).toContain('Extended from');
    expect(longer.text).toContain('take 1');
    expect(longer.links).toContain(ada.linkTo(song));
    const other = await ada.fill(
      song,
      'Extend take 2',
      { prompt: 'Chorus:\nHigher and higher', style: 'choir', from: 5 },
      1,
    );
    expect(other.text).toContain('choir');
    // The public service creates two takes.
    expect(other.labels.some((label) => /^Karaoke/.test(label))).toBe(true);
  });

  it('Stems: two tracks, and all tracks with an archive of them', async () => {
    const two = await ada.fill(song, 'Stems take 1', {}, 2);
    expect(two.files.map(({ name }) => name)).toEqual([
      expect.stringContaining('vocals'),
      expect.stringContaining('instrumental'),
    ]);
    const all = await ada.fill(song, 'Stems take 2', { split: 'split_stem' }, 4);
    const archive = all.files.find(({ bytes }) => isZip(bytes));
    const stems = all.files.filter((file) => file !== archive);
    expect(await soundsOf(Object.values(unzipSync(archive?.bytes ?? new Uint8Array())))).toEqual(
      await soundsOf(stems.map(({ bytes }) => bytes)),
    );
    expect(stems[0]?.name).toContain('vocals');
  });

  it('Cover art: a gallery', async () => {
    const covers = await ada.press(song, 'Cover art', 2);
    expect(covers.files.filter(({ bytes }) => isPng(bytes))).toHaveLength(2);
  });

  it('Karaoke: an .lrc file and the lines as text', async () => {
    const karaoke = await ada.press(song, 'Karaoke take 1', 1);
    const [file] = karaoke.files;
    expect(file?.name).toContain('.lrc');
    const lines = kind(file?.bytes ?? new Uint8Array())
      .toString('utf8')
      .trim()
      .split('\n');
    expect(lines[0]).toBe('[ti:Rain]');
    const timed = lines.filter((line) => /^\[\d\d:\d\d\.\d\d\]./.test(line));
    expect(timed.length).toBeGreaterThan(1);
    expect(karaoke.text).toContain(timed[0]?.replace(/^\[[^\]]*\]/, '').split(' ')[0]);
  });

  it('WAV and Music video', async () => {
    const wav = await ada.press(song, 'WAV take 1', 1);
    expect(wav.files.some(({ bytes }) => isWav(bytes))).toBe(true);
    const video = await ada.press(song, 'Music video take 2', 1);
    expect(video.files.some(({ bytes }) => isMp4(bytes))).toBe(true);
  });

  it('Save voice, and a song with that voice by name', async () => {
    const savedVoice = await ada.fill(song, 'Save voice take 1', { name: 'Rainy', start: 0, end: 10 }, 0);
    expect(savedVoice.text).toContain('Rainy');
    const [choice] = await ada.suggest('song', 'voice', 'rai');
    expect(choice?.name).toBe('Rainy');
    const songWithVoice = await ada.command('song', { prompt: 'snow', voice: choice?.value ?? '' }, 2);
    expect(songWithVoice.text).toContain('Rainy');
    expect(await ada.pressQuietly(song, 'Save voice take 1')).toContain('saved the voice of this take');
  });

  it('remix of an upload in four modes', async () => {
    const cover = await ada.command(
      'remix',
      { audio: recording, mode: 'cover', style: 'brass band', title: 'Brass rain' },
      2,
    );
    expect(cover.text).toContain('demo');
    await ada.command('remix', { audio: recording, mode: 'extend' }, 1);
    await ada.command('remix', { audio: recording, mode: 'vocals', prompt: 'La la la', style: 'soft' }, 1);
    const band = await ada.command('remix', { audio: recording, mode: 'instrumental', style: 'strings' }, 1);
    for (const label of [/^Extend/, /^Change/]) expect(band.labels.some((one) => label.test(one))).toBe(true);
  });

  it('lyrics, and Change', async () => {
    await ada.command('lyrics', { topic: 'a lighthouse' }, 0);
    const changed = await ada.fill(song, 'Change', { style: 'polka' }, 2);
    expect(changed.text).toContain('polka');
    expect(changed.links).toContain(ada.linkTo(song));
  });

  it('calls all fourteen music routes', () => {
    const names = reached();
    expect(MUSIC_ROUTES.filter((route) => !names.includes(route))).toEqual([]);
  });
}
