import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Emulator } from '../../src/emulator/server.ts';
import { openStudio } from '../../src/emulator/studio/studio.ts';
import { encodeWav } from '../../src/emulator/studio/synthesizer/codecs.ts';
import { makeSong, post, type Receiver, runEmulator, runReceiver, shareEmulator } from './harness.ts';
import { SHAPES } from './shapes.ts';

const sharedEmulator = shareEmulator();
/** For tests that read files or requests. */
const realEmulator = shareEmulator({ studio: openStudio() });

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

async function upload(emulator: Emulator, receiver: Receiver, path: string, fields: Record<string, unknown>) {
  const answer = await post(emulator, path, { callBackUrl: receiver.url, ...fields });
  expect(answer.body).toMatchObject({ code: 200 });
  await emulator.settled();
  // biome-ignore lint/suspicious/noExplicitAny: a callback, checked by what the test reads
  return receiver.json().at(-1) as any;
}

const custom = { customMode: true, instrumental: true, model: 'V5', title: 'Tone', style: 'ambient' };

test('a cover needs no prompt in either mode, because the contract has none', async () => {
  const emulator = await sharedEmulator();
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

test.each([
  ['a missing file', async () => serveFile(Buffer.from(''), 404), 451],
  ['an unreachable server', async () => 'http://127.0.0.1:9/x.mp3', 451],
  ['a file that is not audio', async () => serveFile(Buffer.from('<html>')), 400],
  ['a damaged WAV', async () => serveFile((await toneWav()).subarray(0, 60)), 400],
  ['a file above the size limit', async () => serveFile(Buffer.alloc(30 * 1024 * 1024 + 1)), 451],
  ['an empty file', async () => serveFile(Buffer.alloc(0)), 400],
])('%s is reported by the callback', async (_, serve, code) => {
  const emulator = await realEmulator();
  const receiver = await runReceiver();
  const callback = await upload(emulator, receiver, '/music/upload-cover', {
    ...custom,
    uploadUrl: await serve(),
  });
  expect(callback).toMatchObject({ code, data: { callbackType: 'error', data: null } });
  expect(receiver.bodies.join()).not.toContain('http');
});

test('an extension in another model or past the end is refused', async () => {
  const emulator = await sharedEmulator();
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

test('a voice is saved once per audio and sings other songs', async () => {
  const emulator = await runEmulator({ shape: SHAPES.flat });
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
  const saved = await post(emulator, '/music/generate-persona', persona);
  expect(saved.body.personaId).toEqual(expect.any(String));
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
  expect(await sung(saved.body.personaId)).not.toBe(await sung());
});
