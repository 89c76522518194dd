import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { filesOf, type RunningMinstrel, startMinstrel } from './minstrel.ts';
import { soundsOf } from './sound.ts';

/** Six commands from Discord's event to the posted result: the real discord.js, the real gateway client, real storage. */
let discord: DiscordServer;
let running: RunningMinstrel;

beforeAll(async () => {
  discord = await startDiscord();
  running = await startMinstrel({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
  });
  await discord.until(() => discord.commands.length > 0, 'registered commands');
}, 60_000);

afterEach(() => expect(discord.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
}, 60_000);

const LONG = 60_000;
const labels = (message: StoredMessage) => JSON.stringify(message.components);
const lastCallback = (kind: RegExp) =>
  running.emulator.callbacks.findLast(({ body }) => kind.test(body))?.body ?? '';
const soundsIn = (files: readonly { bytes: Uint8Array }[]) => soundsOf(files.map(({ bytes }) => bytes));

it('/song posts both takes and the cover, every packet of sound as it was made', {
  timeout: LONG,
}, async () => {
  const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
  expect([4, 5]).toContain(await song.acknowledged());
  const card = await song.message((message) => message.attachments.length >= 2, LONG);
  const made = await filesOf(lastCallback(/"complete"/), /^audio_url$/);
  const covers = await soundsOf(await filesOf(lastCallback(/"complete"/), /^image_url$/));
  const posted = await soundsIn(card.attachments);
  expect(posted.filter((file) => covers.includes(file))).toHaveLength(1);
  for (const sound of await soundsOf(made)) expect(posted).toContain(sound);
  expect(labels(card)).toContain('Again');
  expect(card.pinged).toEqual([]);
});

it('/lyrics posts every variant, and “Sing it” opens the song form with the words in it', {
  timeout: LONG,
}, async () => {
  const lyrics = discord.command({ name: 'lyrics', options: { topic: 'a lighthouse' } });
  const message = await lyrics.message((m) => labels(m).includes('Sing it'), LONG);
  const form = discord.press('Sing it (1)', message);
  expect(await form.acknowledged()).toBe(9);
  const sung = await discord.submitModal(form, { prompt: 'a lighthouse' });
  await sung.message((m) => m.attachments.length >= 2, LONG);
});

it('/stems splits the latest song; the stems arrive as they were made', { timeout: LONG }, async () => {
  const stems = discord.command({ name: 'stems', options: { split: 'split_stem' } });
  const message = await stems.message((m) => m.attachments.length > 2, LONG);
  const made = await filesOf(lastCallback(/drums/), /_url$|Url$/);
  const sounds = await soundsOf(made);
  const stemFiles = message.attachments.filter(({ filename }) => !filename.endsWith('.zip'));
  expect(stemFiles).toHaveLength(message.attachments.length - 1);
  for (const sound of await soundsIn(stemFiles)) expect(sounds).toContain(sound);
});

it('/image posts the picture that was made', { timeout: LONG }, async () => {
  const image = discord.command({ name: 'image', options: { prompt: 'a fox', size: '1328*1328' } });
  const message = await image.message((m) => m.attachments.length === 1, LONG);
  expect(
    Buffer.from(message.attachments[0]?.bytes ?? [])
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

it('/video posts a film from a picture that a person attached', { timeout: LONG }, async () => {
  const picture = Buffer.from(
    discord.world.messages
      .values()
      .toArray()
      .flatMap((m) => m.attachments)
      .find((a) => a.filename.endsWith('.png'))?.bytes ?? [],
  );
  const video = discord.command({
    name: 'video',
    options: {
      prompt: 'the fox looks up',
      image: { filename: 'fox.png', contentType: 'image/png', bytes: picture },
    },
  });
  const message = await video.message((m) => m.attachments.length === 1, LONG);
  expect(
    Buffer.from(message.attachments[0]?.bytes ?? [])
      .subarray(4, 8)
      .toString(),
  ).toBe('ftyp');
  const created = running.emulator.requests.findLast(({ url }) => url.includes('video-synthesis'));
  expect(JSON.stringify(created?.body)).toContain('/files/');
});

it('/ask streams an answer into one message', { timeout: LONG }, async () => {
  const ask = discord.command({ name: 'ask', options: { question: 'What is 6 times 7?' } });
  const message = await ask.message(
    (m) => JSON.stringify(m.embeds).includes('42') && labels(m).includes('Again'),
    LONG,
  );
  expect(ask.messages).toHaveLength(1);
  expect(message.pinged).toEqual([]);
});

it('says what is wrong to the person alone, before anything is spent', async () => {
  const before = running.emulator.requests.length;
  const song = discord.command({ name: 'song', options: { prompt: 'rain '.repeat(200) } });
  const message = await song.response();
  expect(song.ephemeral).toBe(true);
  expect(JSON.stringify(message)).toContain('Please shorten it');
  expect(running.emulator.requests.length).toBe(before);
});

it('a callback with a wrong signature is answered 404 and changes nothing', async () => {
  const response = await fetch(`${running.minstrel.url}/callbacks/music/somejob/wrong`, {
    method: 'POST',
    body: '{}',
  });
  expect(response.status).toBe(404);
});
