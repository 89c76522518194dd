import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import {
  fetchBytes,
  makeSong,
  post,
  runEmulator,
  runReceiver,
  shareEmulator,
  songFields,
} from './harness.ts';
import { SHAPES } from './shapes.ts';

const sharedEmulator = shareEmulator();

test('cover art is two images that differ from the song’s', async () => {
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await makeSong(emulator, receiver);
  await post(emulator, '/music/generate-cover', { taskId: song.taskId, callBackUrl: receiver.url });
  await emulator.settled();
  const { images } = (receiver.json().at(-1) as { data: { images: string[] } }).data;
  expect(new Set([...images, song.items[0].image_url]).size).toBe(3);
  const cover = PNG.sync.read(Buffer.from(await fetchBytes(images[0] ?? '')));
  expect([cover.width, cover.height]).toEqual([768, 768]);
});

test('aligned words are the lyrics, in order, within the song', async () => {
  const emulator = await sharedEmulator();
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
  const emulator = await sharedEmulator();
  const receiver = await runReceiver();
  const song = await makeSong(emulator, receiver, { instrumental: true });
  const target = { taskId: song.taskId, audioId: song.audioId };
  const { body } = await post(emulator, '/music/timestamped-lyrics', target);
  expect(body.data.alignedWords).toEqual([]);
  await post(emulator, '/music/vocal-removal', { ...target, type: 'split_stem', callBackUrl: receiver.url });
  await emulator.settled();
  const { data } = receiver.json().at(-1) as { data: Record<string, unknown> };
  expect(data.vocalUrl).toBeUndefined();
  expect(data.drumsUrl).toEqual(expect.any(String));
});

test('lyrics have several variants, with section tags and the topic’s words', async () => {
  const emulator = await sharedEmulator();
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

test('an improved style keeps its tags', async () => {
  const emulator = await sharedEmulator();
  const { body } = await post(emulator, '/music/style-generate', { content: 'sad, lofi' });
  expect(body.data.result).toMatch(/^sad, lofi, .*BPM/);
});

test('routes that need a completed song refuse a running task', async () => {
  const emulator = await runEmulator({ speed: 1, shape: SHAPES.flat });
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
