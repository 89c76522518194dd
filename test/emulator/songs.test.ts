import { ALL_FORMATS, BufferSource, Input } from 'mediabunny';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { openStudio } from '../../src/emulator/studio/studio.ts';
import { decodeAudio } from '../../src/emulator/studio/synthesizer/decode.ts';
import { encodeWav } from '../../src/emulator/studio/synthesizer/encode.ts';
import { sumStems } from '../../src/emulator/studio/synthesizer/mix.ts';
import { type SongRecipe, stemNames } from '../../src/emulator/studio/synthesizer/recipe.ts';
import { renderStems } from '../../src/emulator/studio/synthesizer/render.ts';
import {
  fetchBytes,
  makeSong,
  post,
  runEmulator,
  runReceiver,
  type Song,
  shareEmulator,
  songFields,
} from './harness.ts';

const emulatorHere = shareEmulator({ studio: openStudio() });

/** For tests that hear nothing. */
const silentHere = shareEmulator();

/** A bar of jazz is short, and so is every sound that is made of the song. */
const PROMPT = 'a jazz cat';
let shared: Promise<Song> | undefined;
/** One plain song for those tests that only read it: making one costs a second. */
const songHere = async () => {
  shared ??= makeSong(await emulatorHere(), await runReceiver(), { prompt: PROMPT });
  return await shared;
};

const recipe: SongRecipe = {
  title: 'Rain',
  style: 'lofi',
  prompt: 'rain',
  lyrics: '[Verse]\nrain upon the roof again\n[Chorus]\noh stay a little rain',
  voice: null,
  seconds: 4,
  take: 0,
  source: null,
};

/** Root mean square of samples. */
function loudness(samples: Float32Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length));
}

async function trackOf(bytes: Uint8Array<ArrayBuffer>) {
  const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
  const audio = await input.getPrimaryAudioTrack();
  const video = await input.getPrimaryVideoTrack();
  return { audio, video, seconds: await input.computeDuration() };
}

test('stems add up to the song, sample by sample, and a WAV holds the very samples', async () => {
  const stems = await renderStems(recipe);
  const song = sumStems(stems);
  expect(song.length).toBeGreaterThan(88_200);
  let loudest = 0;
  for (let index = 0; index < song.length; index++) {
    const sum = stemNames.reduce((total, name) => total + (stems[name][index] ?? 0), 0);
    if (sum !== song[index]) throw new Error(`sample ${index}: ${sum}, not ${song[index]}`);
    loudest = Math.max(loudest, Math.abs(sum));
  }
  expect(loudest).toBeGreaterThan(20_000);
  expect(loudest).toBeLessThan(32_768);
  for (const name of ['vocals', 'backingVocals', 'drums', 'bass'] as const) {
    expect(
      stems[name].some((sample) => Math.abs(sample) > 500),
      name,
    ).toBe(true);
  }
  const file = Buffer.from(await encodeWav(song));
  expect(file.readInt16LE(44 + 2 * 10_000)).toBe(song[10_000]);
  expect(file.readInt16LE(44 + 2 * 10_001)).toBe(song[10_001]);
  const read = await decodeAudio(file, 60);
  expect(read.length).toBe(song.length);
  expect(Math.round((read[10_000] ?? 0) * 32_768)).toBe(song[10_000]);
});

test('the stems that are delivered add up to the song that was delivered', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await songHere();
  const target = { taskId: song.taskId, audioId: song.audioId, callBackUrl: receiver.url };
  const whole = await decodeAudio(await fetchBytes(song.items[0].audio_url), 60);
  for (const type of ['separate_vocal', 'split_stem']) {
    await post(emulator, '/music/vocal-removal', { ...target, type });
    await emulator.settled();
    const info = (receiver.json().at(-1) as { data: { vocal_removal_info: Record<string, string> } }).data
      .vocal_removal_info;
    const urls = Object.values(info).filter((url) => url !== '');
    expect(urls.length).toBeGreaterThanOrEqual(type === 'split_stem' ? 7 : 2);
    const stems = await Promise.all(urls.map(async (url) => decodeAudio(await fetchBytes(url), 60)));
    const rest = whole.map(
      (sample, index) => sample - stems.reduce((sum, stem) => sum + (stem[index] ?? 0), 0),
    );
    // MP3 loses a little in every file: what is left over must be far below the song.
    expect(loudness(rest)).toBeLessThan(loudness(whole) * 0.12);
  }
});

test('the WAV is the song: its samples are those that the MP3 was made from', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await songHere();
  const target = { taskId: song.taskId, audioId: song.audioId, callBackUrl: receiver.url };
  await post(emulator, '/music/wav-generate', target);
  await emulator.settled();
  const { audioWavUrl } = (receiver.json().at(-1) as { data: { audioWavUrl: string } }).data;
  const wav = await decodeAudio(await fetchBytes(audioWavUrl), 60);
  const mp3 = await decodeAudio(await fetchBytes(song.items[0].audio_url), 60);
  // An MP3 begins with the silence that its encoder and decoder need.
  const differences = Array.from({ length: 2400 }, (_, delay) => loudness(difference(wav, mp3, delay, 8000)));
  const delay = differences.indexOf(Math.min(...differences));
  expect(loudness(difference(wav, mp3, delay, 160_000))).toBeLessThan(loudness(wav) * 0.1);
});

/** A stretch of the first sound less the second one, which begins some frames of two samples later. */
function difference(first: Float32Array, second: Float32Array, delay: number, length: number): Float32Array {
  const from = 40_000;
  const rest = first.slice(from, from + length);
  for (let index = 0; index < rest.length; index++)
    rest[index] = (rest[index] ?? 0) - (second[from + index + 2 * delay] ?? 0);
  return rest;
}

test('the same request makes the same bytes, another take or prompt makes others', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const first = await songHere();
  // Another emulator, so that nothing kept by the first one is compared with itself.
  const second = await makeSong(await runEmulator({ studio: openStudio() }), receiver, { prompt: PROMPT });
  const other = await makeSong(emulator, receiver, { prompt: 'a jazz dog' });
  const bytes = async (song: typeof first, take: number) =>
    Buffer.from(await fetchBytes(song.items[take].audio_url));
  const firstBytes = await bytes(first, 0);
  expect(firstBytes.equals(await bytes(second, 0))).toBe(true);
  expect(firstBytes.equals(await bytes(first, 1))).toBe(false);
  expect(firstBytes.equals(await bytes(other, 0))).toBe(false);
  expect(first.items[0].id).not.toBe(second.items[0].id);
  const picture = PNG.sync.read(Buffer.from(await fetchBytes(first.items[0].image_url)));
  expect(picture.width).toBe(512);
});

test('a song’s MP3 is a real one, as long as its callback says', async () => {
  const song = await songHere();
  const { audio, seconds } = await trackOf(await fetchBytes(song.items[0].audio_url));
  expect(audio?.codec).toBe('mp3');
  expect(await audio?.getSampleRate()).toBe(44_100);
  expect(Math.abs(seconds - song.items[0].duration)).toBeLessThan(0.15);
});

test('the music video has a picture and the song’s sound', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await songHere();
  const target = { taskId: song.taskId, audioId: song.audioId, callBackUrl: receiver.url };
  await post(emulator, '/music/mp4-generate', { ...target, author: 'Ada' });
  await emulator.settled();
  const { video_url: url } = (receiver.json().at(-1) as { data: { video_url: string } }).data;
  const { audio, video, seconds } = await trackOf(await fetchBytes(url));
  expect(video?.codec).toBe('avc');
  expect(audio?.codec).toBe('aac');
  expect(Math.abs(seconds - song.items[0].duration)).toBeLessThan(0.5);
});

test('cover art is two pictures, other than the song’s own', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await songHere();
  await post(emulator, '/music/generate-cover', { taskId: song.taskId, callBackUrl: receiver.url });
  await emulator.settled();
  const { images } = (receiver.json().at(-1) as { data: { images: string[] } }).data;
  expect(new Set([...images, song.items[0].image_url]).size).toBe(3);
  const cover = PNG.sync.read(Buffer.from(await fetchBytes(images[0] ?? '')));
  expect([cover.width, cover.height]).toEqual([768, 768]);
});

test('aligned words are the lyrics, in order, within the song', async () => {
  const emulator = await silentHere();
  const receiver = await runReceiver();
  const lyrics = '[Verse]\nCrows on the wire\nwaiting for rain\n\n[Chorus]\nOh crows, oh rain';
  const song = await makeSong(emulator, receiver, {
    customMode: true,
    title: 'Crows',
    style: 'folk',
    prompt: lyrics,
  });
  const { body } = await post(emulator, '/music/timestamped-lyrics', {
    taskId: song.taskId,
    audioId: song.audioId,
  });
  const words: { word: string; startS: number; endS: number }[] = body.data.alignedWords;
  const flat = (text: string) => text.split(/\s+/).filter(Boolean);
  expect(flat(words.map(({ word }) => word).join(''))).toEqual(flat(lyrics));
  words.forEach((word, index) => {
    expect(word.endS).toBeGreaterThan(word.startS);
    expect(word.startS).toBeGreaterThanOrEqual(words[index - 1]?.endS ?? 0);
  });
  expect(words.at(-1)?.endS).toBeLessThan(song.items[0].duration);
});

test('an instrumental has no words and no vocal stem', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await makeSong(emulator, receiver, { prompt: PROMPT, instrumental: true });
  const target = { taskId: song.taskId, audioId: song.audioId };
  const { body } = await post(emulator, '/music/timestamped-lyrics', target);
  expect(body.data.alignedWords).toEqual([]);
  await post(emulator, '/music/vocal-removal', { ...target, type: 'split_stem', callBackUrl: receiver.url });
  await emulator.settled();
  const { data } = receiver.json().at(-1) as { data: Record<string, unknown> };
  expect(data.vocalUrl).toBeUndefined();
  expect(data.drumsUrl).toEqual(expect.any(String));
});

test('lyrics come in several variants, with section tags and the topic’s words', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  await post(emulator, '/music/generate-lyrics', {
    prompt: 'pirates and the sea',
    callBackUrl: receiver.url,
  });
  await emulator.settled();
  const { data } = receiver.json().at(-1) as { data: { data: { title: string; text: string }[] } };
  expect(data.data).toHaveLength(3);
  expect(new Set(data.data.map(({ text }) => text)).size).toBe(3);
  for (const { text } of data.data) {
    expect(text).toMatch(/\[Verse\][\s\S]*\[Chorus\][\s\S]*\[Bridge\]/);
    expect(text).toMatch(/pirates/i);
    expect(text).toMatch(/sea/i);
  }
});

test('a style is polished and keeps its tags', async () => {
  const emulator = await emulatorHere();
  const { body } = await post(emulator, '/music/style-generate', { content: 'sad, lofi' });
  expect(body.data.result).toMatch(/^sad, lofi, .*BPM/);
});

test('routes that need a completed song refuse a task that is still at work', async () => {
  const emulator = await runEmulator({ speed: 1, shape: 'flat' });
  const receiver = await runReceiver();
  const { body } = await post(emulator, '/music/generate', songFields(receiver));
  const { taskId } = body;
  const target = { taskId, audioId: 'any' };
  const called = { ...target, callBackUrl: receiver.url };
  for (const [path, fields] of [
    ['/music/timestamped-lyrics', target],
    ['/music/generate-cover', { taskId, callBackUrl: receiver.url }],
    ['/music/generate-persona', { ...target, name: 'Ada', description: 'soft' }],
    ['/music/vocal-removal', called],
    ['/music/wav-generate', called],
    ['/music/mp4-generate', called],
  ] as const) {
    const answer = await post(emulator, path, fields);
    expect(answer.status, path).toBe(400);
    expect(answer.body.msg).toContain('not complete');
  }
});
