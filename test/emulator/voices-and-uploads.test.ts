import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { openStudio } from '../../src/emulator/studio/studio.ts';
import { decodeAudio } from '../../src/emulator/studio/synthesizer/decode.ts';
import { encodeWav } from '../../src/emulator/studio/synthesizer/encode.ts';
import {
  fetchBytes,
  makeSong,
  post,
  type Receiver,
  runEmulator,
  runReceiver,
  type Song,
  shareEmulator,
} from './harness.ts';

const emulatorHere = shareEmulator({ studio: openStudio() });
/** For tests that hear nothing. */
const silentHere = shareEmulator();

let shared: Promise<Song> | undefined;
/** One song for those tests that make something of it. A bar of jazz is short, and so is every sound that is made of it. */
const songHere = async () => {
  shared ??= makeSong(await emulatorHere(), await runReceiver(), { prompt: 'a jazz cat' });
  return await shared;
};

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

/** How strongly a frequency sounds in stereo: the amplitude of its component. */
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

test('an added band leaves the uploaded voice audible, as long as it was', async () => {
  const emulator = await emulatorHere();
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

test('a cover is made from the upload: the tone comes back a whole tone higher', async () => {
  const emulator = await emulatorHere();
  const uploadUrl = await serveFile(await toneWav(1234));
  const callback = await upload(emulator, await runReceiver(), '/music/upload-cover', {
    ...custom,
    uploadUrl,
  });
  const sound = await decodeAudio(await fetchBytes(callback.data.data[0].audio_url), 60);
  expect(strength(sound, 1234 * 2 ** (2 / 12))).toBeGreaterThan(10 * strength(sound, 1234));
  expect(callback.data.data).toHaveLength(2);
});

test('a cover needs no prompt in either mode, since the contract names none', async () => {
  const emulator = await silentHere();
  const receiver = await runReceiver();
  const uploadUrl = await serveFile(await toneWav());
  for (const mode of [
    { ...custom, instrumental: false },
    { customMode: false, instrumental: false, model: 'V5' },
  ]) {
    const callback = await upload(emulator, receiver, '/music/upload-cover', { ...mode, uploadUrl });
    expect(callback.data.data[0].prompt).toMatch(/\S/);
  }
});

test('an extended upload begins with it and goes on', async () => {
  const emulator = await emulatorHere();
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
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await songHere();
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

test.each([
  ['a file that is not there', async () => serveFile(Buffer.from(''), 404), 451],
  ['a server that is not there', async () => 'http://127.0.0.1:9/x.mp3', 451],
  ['a file that is no sound', async () => serveFile(Buffer.from('<html>')), 400],
  ['a WAV that is broken', async () => serveFile((await toneWav()).subarray(0, 60)), 400],
  ['an empty file', async () => serveFile(Buffer.alloc(0)), 400],
])('%s is told by the callback', async (_, serve, code) => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const callback = await upload(emulator, receiver, '/music/upload-cover', {
    ...custom,
    uploadUrl: await serve(),
  });
  expect(callback).toMatchObject({ code, data: { callbackType: 'error', data: null } });
  expect(receiver.bodies.join()).not.toContain('http');
});

test('an extension goes on from the song, in its words and from its time', async () => {
  const emulator = await emulatorHere();
  const receiver = await runReceiver();
  const song = await songHere();
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

test('an extension in another model or past the end is refused', async () => {
  const emulator = await silentHere();
  const receiver = await runReceiver();
  const song = await makeSong(emulator, receiver);
  const fields = { audioId: song.audioId, model: 'V5', callBackUrl: receiver.url };
  const other = await post(emulator, '/music/extend', { ...fields, model: 'V4', defaultParamFlag: false });
  expect(other.body).toMatchObject({ code: 400, msg: expect.stringContaining('V5') });
  const override = { defaultParamFlag: true, prompt: 'x', style: 'y', title: 'z', continueAt: 900 };
  expect((await post(emulator, '/music/extend', { ...fields, ...override })).body.msg).toContain(
    'continueAt',
  );
});

test('a voice is kept once for each audio, and sings other songs', async () => {
  const emulator = await runEmulator({ shape: 'flat' });
  const receiver = await runReceiver();
  const generated = await post(emulator, '/music/generate', {
    ...custom,
    instrumental: false,
    prompt: 'la la la',
    callBackUrl: receiver.url,
  });
  await emulator.settled();
  const { taskId } = generated.body;
  const items = (receiver.json().at(-1) as { data: { id: string }[] }).data;
  const persona = {
    taskId,
    audioId: items[0]?.id,
    name: 'Ada',
    description: 'soft',
    vocalStart: 0.5,
    vocalEnd: 12,
  };
  for (const wrong of [
    { vocalStart: 5, vocalEnd: 5 },
    { vocalStart: 0, vocalEnd: 5 },
    { vocalStart: 0, vocalEnd: 31 },
    { vocalStart: -1 },
    { vocalStart: 900, vocalEnd: 915 },
    { name: ' ' },
    { audioId: 'other' },
  ]) {
    const refused = await post(emulator, '/music/generate-persona', { ...persona, ...wrong });
    expect([400, 404], JSON.stringify(wrong)).toContain(refused.status);
  }
  const kept = await post(emulator, '/music/generate-persona', persona);
  expect(kept.body.personaId).toEqual(expect.any(String));
  expect((await post(emulator, '/music/generate-persona', persona)).status).toBe(409);
  const second = await post(emulator, '/music/generate-persona', { ...persona, audioId: items[1]?.id });
  expect(second.status).toBe(200);

  const sung = async (personaId?: string) => {
    await post(emulator, '/music/generate', {
      ...custom,
      instrumental: false,
      title: 'Other',
      prompt: 'do re mi',
      callBackUrl: receiver.url,
      personaId,
    });
    await emulator.settled();
    return (receiver.json().at(-1) as { data: { audioUrl: string }[] }).data[0]?.audioUrl;
  };
  expect(await sung(kept.body.personaId)).not.toBe(await sung());
});
