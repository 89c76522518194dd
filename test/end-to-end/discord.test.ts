import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { discordPage } from '../pictures/discord.ts';
import { type DiscordServer, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { filesOf, PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';
import { soundsOf } from './sound.ts';

/** Six commands from Discord's event to the posted result: the real discord.js, the real gateway client, real storage. */
let discord: DiscordServer;
let running: RunningMinstrel;

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  running = await startMinstrel({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
  });
  await discord.until(() => discord.commands.length > 0, 'registered commands');
});

afterEach(() => expect(discord.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
});

const labels = (message: StoredMessage) => JSON.stringify(message.components);
const lastCallback = (kind: RegExp) =>
  running.emulator.callbacks.findLast(({ body }) => kind.test(body))?.body ?? '';
const soundsIn = (files: readonly { bytes: Uint8Array }[]) => soundsOf(files.map(({ bytes }) => bytes));

it('/song posts both takes and the cover with unchanged audio', async () => {
  const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
  expect([4, 5]).toContain(await song.acknowledged());
  const card = await song.message((message) => message.attachments.length >= 2);
  const expectedFiles = await filesOf(lastCallback(/"complete"/), /^audio_url$/);
  const covers = await soundsOf(await filesOf(lastCallback(/"complete"/), /^image_url$/));
  const posted = await soundsIn(card.attachments);
  expect(posted.filter((file) => covers.includes(file))).toHaveLength(1);
  for (const sound of await soundsOf(expectedFiles)) expect(posted).toContain(sound);
  expect(labels(card)).toContain('Again');
  expect(card.pinged).toEqual([]);
});

it('/lyrics posts every variant, and “Sing 1” opens the song form with the lyrics', async () => {
  const lyrics = discord.command({ name: 'lyrics', options: { topic: 'a lighthouse' } });
  const message = await lyrics.message((m) => labels(m).includes('Sing 1'));
  const form = discord.press('Sing 1', message);
  expect(await form.acknowledged()).toBe(9);
  const submission = await discord.submitModal(form, { prompt: 'a lighthouse' });
  await submission.message((m) => m.attachments.length >= 2);
});

it('/stems splits the latest song and posts unchanged stems', async () => {
  const stems = discord.command({ name: 'stems', options: { split: 'split_stem' } });
  const message = await stems.message((m) => m.attachments.length > 2);
  const expectedFiles = await filesOf(lastCallback(/drums/), /_url$|Url$/);
  const sounds = await soundsOf(expectedFiles);
  const stemFiles = message.attachments.filter(({ filename }) => !filename.endsWith('.zip'));
  expect(stemFiles).toHaveLength(message.attachments.length - 1);
  for (const sound of await soundsIn(stemFiles)) expect(sounds).toContain(sound);
});

it('/image posts the image', async () => {
  const image = discord.command({ name: 'image', options: { prompt: 'a fox', size: '1328*1328' } });
  const message = await image.message((m) => m.attachments.length === 1);
  expect(
    Buffer.from(message.attachments[0]?.bytes ?? [])
      .subarray(1, 4)
      .toString(),
  ).toBe('PNG');
});

it('/video posts a video from an attached image', async () => {
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
  const message = await video.message((m) => m.attachments.length === 1);
  expect(
    Buffer.from(message.attachments[0]?.bytes ?? [])
      .subarray(4, 8)
      .toString(),
  ).toBe('ftyp');
  const request = running.emulator.requests.findLast(({ url }) => url.includes('video-synthesis'));
  expect(JSON.stringify(request?.body)).toContain('/files/');
});

it('/ask streams an answer into one message', async () => {
  const ask = discord.command({ name: 'ask', options: { question: 'What is 6 times 7?' } });
  const message = await ask.message(
    (m) => JSON.stringify(m.embeds).includes('42') && labels(m).includes('Again'),
  );
  expect(ask.messages).toHaveLength(1);
  expect(message.pinged).toEqual([]);
});

it('the README pictures can be drawn from its posts', async () => {
  const messageWith = (action: string) =>
    discord.until(() =>
      discord.botMessages().find(({ components }) => JSON.stringify(components).includes(action)),
    );
  const page = await discordPage([
    { by: 'song', message: await messageWith('song.extend') },
    { by: 'ask', message: await messageWith('ask.again') },
  ]);
  const missing = ['Extend', '(take 2).mp3', '42', 'data:image/png'].filter(
    (text) => !page.html.includes(text),
  );
  expect(missing).toEqual([]);
});

it('reports invalid input privately before spending anything', async () => {
  const before = running.emulator.requests.length;
  const song = discord.command({ name: 'song', options: { prompt: 'rain '.repeat(200) } });
  const message = await song.response();
  expect(song.ephemeral).toBe(true);
  expect(JSON.stringify(message)).toContain('is too long');
  expect(running.emulator.requests.length).toBe(before);
});

it('answers a callback with a wrong signature with 404 and ignores it', async () => {
  const response = await fetch(`${running.minstrel.url}/callbacks/music/somejob/wrong`, {
    method: 'POST',
    body: '{}',
  });
  expect(response.status).toBe(404);
});

it('a command acknowledged too late costs nothing until the requester presses Again', async () => {
  const paidRequests = () => running.emulator.requests.filter(({ url }) => url.startsWith('/music/')).length;
  const before = paidRequests();
  discord.gateway.hold(() => discord.advance(PATIENCE_MS + 1));
  discord.command({ name: 'song', options: { prompt: 'a tune for latecomers' } });
  const notice = await discord.until(
    () =>
      discord.botMessages().find((message) => JSON.stringify(message.embeds).includes('Nothing was spent')),
    'a sentence',
  );
  // Discord refused the acknowledgement and an edit of the missing response.
  expect(discord.refused.splice(0).map(({ code }) => code)).toEqual([10_062, 10_015]);
  expect(paidRequests()).toBe(before);
  await discord.press('Again', notice).message((message) => message.attachments.length >= 2);
  expect(paidRequests()).toBe(before + 1);
});
