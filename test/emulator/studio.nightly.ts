/** Decodes the emulator's media to check its audio and video. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { encode as encodeJpeg } from 'jpeg-js';
import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { PNG } from 'pngjs';
import { expect, onTestFinished, test } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { openStudio } from '../../src/emulator/studio/studio.ts';
import { decodeAudio, encodeWav } from '../../src/emulator/studio/synthesizer/codecs.ts';
import { sumStems } from '../../src/emulator/studio/synthesizer/mix.ts';
import { type SongRecipe, stemNames } from '../../src/emulator/studio/synthesizer/recipe.ts';
import { renderStems } from '../../src/emulator/studio/synthesizer/render.ts';
import {
  fetchBytes,
  get,
  makeSong,
  post,
  type Receiver,
  runEmulator,
  runReceiver,
  type Song,
  shareEmulator,
} from './harness.ts';

const sharedEmulator = shareEmulator({ studio: openStudio() });

/** A bar of jazz is short, so all audio derived from the song is short too. */
const PROMPT = 'a jazz cat';
let shared: Promise<Song> | undefined;
/** A shared song for tests that only read it, because creating one takes a second. */
const sharedSong = async () => {
  shared ??= makeSong(await sharedEmulator(), await runReceiver(), { prompt: PROMPT });
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

test('stems add up to the song, sample by sample, and a WAV has the same samples', async () => {
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

test('delivered stems add up to the delivered song', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await sharedSong();
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
    // Each MP3 is lossy, so the difference must be far below the song's level.
    expect(loudness(rest)).toBeLessThan(loudness(whole) * 0.12);
  }
});

test('the WAV has the samples that the MP3 was encoded from', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await sharedSong();
  const target = { taskId: song.taskId, audioId: song.audioId, callBackUrl: receiver.url };
  await post(emulator, '/music/wav-generate', target);
  await emulator.settled();
  const { audioWavUrl } = (receiver.json().at(-1) as { data: { audioWavUrl: string } }).data;
  const wav = await decodeAudio(await fetchBytes(audioWavUrl), 60);
  const mp3 = await decodeAudio(await fetchBytes(song.items[0].audio_url), 60);
  // An MP3 begins with the delay of its encoder and decoder.
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

test('equal requests give equal bytes, another take or prompt gives different ones', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const first = await sharedSong();
  // Another emulator, so that no stored file is compared with itself.
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

test('a song’s MP3 is valid and has the length in its callback', async () => {
  const song = await sharedSong();
  const { audio, seconds } = await trackOf(await fetchBytes(song.items[0].audio_url));
  expect(audio?.codec).toBe('mp3');
  expect(await audio?.getSampleRate()).toBe(44_100);
  expect(Math.abs(seconds - song.items[0].duration)).toBeLessThan(0.15);
});

test('the music video has a video track and the song’s audio', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await sharedSong();
  const target = { taskId: song.taskId, audioId: song.audioId, callBackUrl: receiver.url };
  await post(emulator, '/music/mp4-generate', target);
  await emulator.settled();
  const { video_url: url } = (receiver.json().at(-1) as { data: { video_url: string } }).data;
  const { audio, video, seconds } = await trackOf(await fetchBytes(url));
  expect(video?.codec).toBe('avc');
  expect(audio?.codec).toBe('aac');
  expect(Math.abs(seconds - song.items[0].duration)).toBeLessThan(0.5);
});

const create = '/v1/media/services/aigc/video-generation/video-synthesis';
const query = '/v1/media/tasks/';
const imagePath = '/v1/media/services/aigc/multimodal-generation/generation';

async function renderVideo(emulator: Emulator, body: object, headers: Record<string, string> = {}) {
  const created = await post(emulator, create, body, headers);
  await emulator.settled();
  return (await get(emulator, query + created.body.output.task_id)).body;
}

test('a video has the requested size, length, image and sound', async () => {
  const task = await renderVideo(await sharedEmulator(), {
    model: 'reel-standard',
    input: { prompt: 'a boat at sunset' },
    parameters: { resolution: '480P', duration: 2 },
  });
  const { video, audio, seconds } = await trackOf(await fetchBytes(task.output.video_url));
  expect(video?.codec).toBe('avc');
  expect([await video?.getDisplayWidth(), await video?.getDisplayHeight()]).toEqual([480, 270]);
  expect(audio?.codec).toBe('aac');
  expect(seconds).toBeCloseTo(2, 0);
  if (video === null) return;
  const sizes: number[] = [];
  for await (const packet of new EncodedPacketSink(video).packets()) sizes.push(packet.byteLength);
  expect(sizes.length).toBeGreaterThan(20);
});

test('animates a PNG from a URL and a JPEG from a data URL', async () => {
  const emulator = await sharedEmulator();
  const drawn = await post(emulator, imagePath, {
    model: 'canvas-plus',
    input: { messages: [{ role: 'user', content: [{ text: 'a cat' }] }] },
    parameters: { size: '320*240' },
  });
  const url: string = drawn.body.output.choices[0].message.content[0].image;
  const jpeg = encodeJpeg({ width: 64, height: 64, data: Buffer.alloc(64 * 64 * 4, 120) }, 80).data;
  for (const img_url of [url, `data:image/jpeg;base64,${jpeg.toString('base64')}`]) {
    const task = await renderVideo(emulator, {
      model: 'reel-animate',
      input: { prompt: 'drift', img_url },
      parameters: { resolution: '480P', duration: 2, audio: false },
    });
    expect(task.output.task_status).toBe('SUCCEEDED');
    expect((await trackOf(await fetchBytes(task.output.video_url))).audio).toBeNull();
  }
});

test('a video can have a song as its sound', async () => {
  const emulator = await sharedEmulator();
  const song = await makeSong(emulator, await runReceiver());
  const task = await renderVideo(emulator, {
    model: 'reel-standard',
    input: { prompt: 'drift', audio_url: song.items[0].audio_url },
    parameters: { resolution: '480P', duration: 2 },
  });
  expect((await trackOf(await fetchBytes(task.output.video_url))).audio?.codec).toBe('aac');
});

/** Two seconds of a tone as WAV. */
async function toneWav(frequency = 440): Promise<Uint8Array> {
  const sampleAt = (index: number) =>
    Math.round(12_000 * Math.sin((2 * Math.PI * frequency * (index >> 1)) / 44_100));
  return encodeWav(new Int16Array(2 * 44_100 * 2).map((_, index) => sampleAt(index)));
}

async function serveFile(bytes: Uint8Array, status = 200): Promise<string> {
  const server = createServer((_, response) => response.writeHead(status).end(bytes));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  // A TCP server's address is never a string.
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/upload`;
}

/** Returns the amplitude of a frequency in stereo audio. */
function strength(samples: Float32Array, frequency: number): number {
  let real = 0;
  let imaginary = 0;
  for (let index = 0; index < samples.length; index++) {
    const angle = (2 * Math.PI * frequency * (index >> 1)) / 44_100;
    real += (samples[index] ?? 0) * Math.cos(angle);
    imaginary += (samples[index] ?? 0) * Math.sin(angle);
  }
  return (2 * Math.hypot(real, imaginary)) / samples.length;
}

async function upload(emulator: Emulator, receiver: Receiver, path: string, fields: Record<string, unknown>) {
  const answer = await post(emulator, path, { callBackUrl: receiver.url, ...fields });
  expect(answer.body).toMatchObject({ code: 200 });
  await emulator.settled();
  // biome-ignore lint/suspicious/noExplicitAny: a callback, checked by what the test reads
  return receiver.json().at(-1) as any;
}

const custom = { customMode: true, instrumental: true, model: 'V5', title: 'Tone', style: 'ambient' };

test('an added band keeps the uploaded voice audible for its whole length', async () => {
  const emulator = await sharedEmulator();
  const uploadUrl = await serveFile(await toneWav(1234));
  const callback = await upload(emulator, await runReceiver(), '/music/add-instrumental', {
    uploadUrl,
    title: 'Tone',
    tags: 'jazz',
    negativeTags: '',
  });
  const [item] = callback.data.data;
  expect(item.duration).toBeCloseTo(2, 1);
  const sound = await decodeAudio(await fetchBytes(item.audio_url), 60);
  expect(strength(sound, 1234)).toBeGreaterThan(10 * strength(sound, 1300));
});

test('a cover plays the upload’s tone a whole tone higher', async () => {
  const emulator = await sharedEmulator();
  const uploadUrl = await serveFile(await toneWav(1234));
  const callback = await upload(emulator, await runReceiver(), '/music/upload-cover', {
    ...custom,
    uploadUrl,
  });
  const sound = await decodeAudio(await fetchBytes(callback.data.data[0].audio_url), 60);
  expect(strength(sound, 1234 * 2 ** (2 / 12))).toBeGreaterThan(10 * strength(sound, 1234));
  expect(callback.data.data).toHaveLength(2);
});

test('an extension starts with the upload and continues', async () => {
  const emulator = await sharedEmulator();
  const uploadUrl = await serveFile(await toneWav(1234));
  const callback = await upload(emulator, await runReceiver(), '/music/upload-extend', {
    uploadUrl,
    model: 'V5',
    defaultParamFlag: true,
    instrumental: true,
    style: 'rock',
    title: 'On',
    continueAt: 1,
  });
  const [item] = callback.data.data;
  expect(item.duration).toBeGreaterThan(2);
  const sound = await decodeAudio(await fetchBytes(item.audio_url), 60);
  const before = strength(sound.subarray(0, 66_150), 1234);
  expect(before).toBeGreaterThan(10 * strength(sound.subarray(110_250), 1234));
});

test('vocals are added in time with the upload, and a generated MP3 can be uploaded', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await sharedSong();
  const fields = {
    uploadUrl: song.items[0].audio_url,
    prompt: 'sing of owls',
    title: 'Owls',
    style: 'folk',
    negativeTags: '',
  };
  const callback = await upload(emulator, receiver, '/music/add-vocals', fields);
  const [item] = callback.data.data;
  expect(item.duration).toBeCloseTo(song.items[0].duration, 0);
  const target = { taskId: callback.data.task_id, audioId: item.id };
  const { body } = await post(emulator, '/music/timestamped-lyrics', target);
  expect(body.data.alignedWords.map(({ word }: { word: string }) => word.trim())).toEqual([
    'sing',
    'of',
    'owls',
  ]);
  expect(body.data.alignedWords.at(-1).endS).toBeLessThanOrEqual(item.duration);
});

test('an extension continues the song’s lyrics from its end', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await sharedSong();
  const { duration } = song.items[0];
  const fields = { audioId: song.audioId, model: 'V5', callBackUrl: receiver.url };
  const whole = await upload(emulator, receiver, '/music/extend', { ...fields, defaultParamFlag: false });
  expect(whole.data.data[0].duration).toBeGreaterThan(duration + 1);
  const override = {
    defaultParamFlag: true,
    prompt: '[Verse]\nnew words',
    style: 'rock',
    title: 'More',
    continueAt: 1.5,
  };
  const cut = await upload(emulator, receiver, '/music/extend', { ...fields, ...override });
  expect(cut.data.data[0]).toMatchObject({ title: 'More', tags: 'rock' });
  const target = { taskId: cut.data.task_id, audioId: cut.data.data[0].id };
  const { body } = await post(emulator, '/music/timestamped-lyrics', target);
  const words: { word: string; startS: number }[] = body.data.alignedWords;
  expect(words.at(-1)?.word.trim()).toBe('words');
  expect(words.at(-1)?.startS).toBeGreaterThan(1.5);
});
