import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import type { Piece } from '../../src/emulator/studio/studio.ts';
import { createLargeStudio, type LargeStudio, TWELVE_STEMS } from '../fixtures/large-studio.ts';
import {
  type Channel,
  type DiscordServer,
  type InteractionHandle,
  labelsOf,
  type StoredMessage,
  startDiscord,
} from '../servers/discord/index.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

const MEBIBYTE = 1024 * 1024;
const SIZES = { wav: 11 * MEBIBYTE, video: 11 * MEBIBYTE, stem: 4 * MEBIBYTE };

let discord: DiscordServer;
let emulator: Emulator;
let running: RunningMinstrel;
/** Channels in servers whose boosts allow files of 50 and 100 MiB. */
let boosted: Channel;
let muchBoosted: Channel;
let studio: LargeStudio;
/** Videos take the gateway seconds, so tests run concurrently. */
let videoRequest: InteractionHandle;

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  const { world } = discord;
  const channelOf = (premiumTier: 2 | 3) =>
    world.addChannel('music', { guildId: world.addGuild(`Tier ${premiumTier}`, { premiumTier }).id });
  boosted = channelOf(2);
  muchBoosted = channelOf(3);
  studio = createLargeStudio(SIZES);
  emulator = await startEmulator({
    speed: 0,
    songSeconds: 3,
    studio,
  });
  running = await startMinstrel(
    {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    },
    { emulator },
  );
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  videoRequest = discord.command({ name: 'video', options: { prompt: 'waves' } });
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await emulator?.close();
  await discord?.close();
});
/** Invalid Webhook Token: the interaction has expired. */
const DEAD_TOKEN = 50_027;
afterEach(() => expect(discord.refused.filter(({ code }) => code !== DEAD_TOKEN)).toEqual([]));

const isEnd = (message: StoredMessage) => labelsOf(message).includes('Again');
const finalMessage = (interaction: InteractionHandle) => interaction.message(isEnd);
const songsIn = (channel: Channel) =>
  discord.autocomplete({ name: 'stems', option: 'song', typed: '', channel });

/** Resolves to a song once its delivery is stored. */
async function song(channel = discord.channel): Promise<StoredMessage> {
  const before = await songsIn(channel);
  const card = await finalMessage(
    discord.command({ name: 'song', options: { prompt: 'a tune for rain' }, channel }),
  );
  await expect.poll(async () => (await songsIn(channel)).length).toBeGreaterThan(before.length);
  return card;
}
const latestPiece = (type: Piece['contentType']) =>
  studio.made.findLast(({ contentType }) => contentType === type)?.bytes ?? new Uint8Array();

/** Downloads the only link in a message. */
async function download({ content, embeds }: StoredMessage) {
  const links = [...JSON.stringify([content, embeds]).matchAll(/\(<(http[^>]+)>\)/g)].map(
    ([, link = '']) => link,
  );
  expect(links).toHaveLength(1);
  const response = await fetch(links[0] ?? '');
  expect(response.status).toBe(200);
  const bytes = Buffer.from(await response.arrayBuffer());
  expect(response.headers.get('content-length')).toBe(String(bytes.length));
  return { type: response.headers.get('content-type'), bytes };
}

/** Expects the complete audio after the tag. */
function expectWholeStem(file: Uint8Array, name: string): void {
  const stem = studio.made.findLast((piece) => piece.name === name)?.bytes ?? new Uint8Array();
  expect(stem.length, name).toBeGreaterThan(SIZES.stem - 2_000);
  expect(Buffer.from(file.subarray(0, 3)).toString(), name).toBe('ID3');
  expect(Buffer.from(file.subarray(file.length - stem.length)).equals(stem), name).toBe(true);
}

/** The mark follows the video. */
function expectWholeVideo(file: Buffer): void {
  expect(file.subarray(0, SIZES.video).equals(latestPiece('video/mp4'))).toBe(true);
  expect(file.subarray(SIZES.video).toString()).toContain('trainedAlgorithmicMedia');
}

/** Expects the same audio, and a header with the file's length including tags. */
function expectWholeWav(file: Uint8Array): void {
  const original = latestPiece('audio/wav');
  expect(original.length).toBe(SIZES.wav);
  expect(Buffer.from(file).readUInt32LE(4)).toBe(file.length - 8);
  expect(Buffer.from(file.subarray(8, SIZES.wav)).equals(original.subarray(8))).toBe(true);
}

describe('in a server without boosts, with a limit of 10 MiB', () => {
  it('links a WAV of 11 MiB', async () => {
    const card = await finalMessage(discord.press('Take 1: WAV', await song()));
    // The song itself is attached, so that people can listen right away.
    expect(card.attachments.map(({ contentType }) => contentType)).toEqual(['audio/mpeg']);
    const wav = await download(card);
    expect(wav.type).toBe('audio/wav');
    expectWholeWav(wav.bytes);
  });

  it('attaches twelve stems of 4 MiB within the size limit of each request', async () => {
    await song();
    const before = discord.botMessages().length;
    discord.command({ name: 'stems', options: { split: 'split_stem' } });
    const messages = await discord.until(() => {
      const newMessages = discord.botMessages().slice(before);
      return newMessages.some(isEnd) && newMessages;
    }, 'stems');
    expect(messages.map(({ attachments }) => attachments.length)).toEqual([6, 6]);
    const files = new Map(
      messages.flatMap(({ attachments }) => attachments).map((file) => [file.filename, file.bytes]),
    );
    expect(files.size).toBe(TWELVE_STEMS.length);
    for (const name of TWELVE_STEMS) {
      const fileName = name === 'backingVocals' ? 'backing_vocals' : name;
      const bytes = [...files].find(([filename]) => filename.endsWith(`-_${fileName}.mp3`))?.[1];
      expectWholeStem(bytes ?? new Uint8Array(), name);
    }
  });

  it('links a video of 11 MiB', async () => {
    const card = await finalMessage(videoRequest);
    expect(card.attachments).toEqual([]);
    const video = await download(card);
    expect(video.type).toBe('video/mp4');
    expectWholeVideo(video.bytes);
  });
});

describe('in a server with boosts', () => {
  it('attaches a WAV of 11 MiB with a limit of 50 MiB', async () => {
    const wav = await finalMessage(discord.press('Take 1: WAV', await song(boosted), { channel: boosted }));
    expect(wav.attachments).toHaveLength(1);
    expectWholeWav(wav.attachments[0]?.bytes ?? new Uint8Array());
    expect(wav.attachments[0]?.filename).toMatch(/\.wav$/);
  });

  it('attaches a music video of 11 MiB with a limit of 100 MiB, even after the interaction expired', async () => {
    const card = await song(muchBoosted);
    const finished = Promise.withResolvers<void>();
    studio.before = finished.promise;
    const interaction = discord.press('Take 1: Music video', card, { channel: muchBoosted });
    await interaction.acknowledged();
    discord.advance(16 * 60_000);
    finished.resolve();
    const video = await discord.until(() => {
      const last = discord.botMessages(muchBoosted).at(-1);
      return last && last !== card && isEnd(last) && last;
    }, 'a music video');
    expect(video.attachments).toHaveLength(1);
    expectWholeVideo(Buffer.from(video.attachments[0]?.bytes ?? []));
  });
});
