import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'content-disposition';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LINKED_FILES_SENTENCE } from '../../src/core/message.ts';
import { type BucketServer, runBucket } from '../media/store/bucket.ts';
import type { DiscordServer } from '../servers/discord/index.ts';
import { links, readableText } from '../servers/slack/mentions.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';
import { filesOf, type RunningMinstrel } from './minstrel.ts';
import { soundOf, soundsOf, tagsOf } from './sound.ts';

/** The whole bot on both platforms with media in a bucket: how files reach people and the gateway. */
let directory: string;
let bucket: BucketServer;
let world: BothChats;
let discord: DiscordServer;
let slack: SlackServer;
let running: RunningMinstrel;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minstrel-bucket-'));
  bucket = await runBucket('media', { directory });
  world = await startOnBothChats(({ discord, slack }) => ({
    MEDIA_STORE: 's3://media/minstrel',
    MEDIA_S3_ENDPOINT: `http://127.0.0.1:${bucket.port}`,
    MEDIA_S3_REGION: 'us-east-1',
    MEDIA_S3_ACCESS_KEY_ID: 'S3RVER',
    MEDIA_S3_SECRET_ACCESS_KEY: 'S3RVER',
    MEDIA_ALLOWED_HOSTS: [discord.origin, slack.apiUrl].map((url) => new URL(url).host).join(','),
  }));
  ({ discord, slack, running } = world);
});

afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
  await bucket?.close();
  await rm(directory, { recursive: true, force: true });
});

const CHANNEL = 'C0MUSIC';

/** Returns the audio that the gateway created for the latest song. */
async function createdTakes(): Promise<string[]> {
  const complete = running.emulator.callbacks.findLast(({ body }) => /"complete"/.test(body))?.body ?? '';
  return soundsOf(await filesOf(complete, /^audio_url$/));
}

/** Uses a link like a browser, a player and a download manager. */
async function expectLinkWorks(link: string): Promise<void> {
  const whole = await fetch(link);
  expect(whole.status).toBe(200);
  expect(whole.headers.get('content-type')).toBe('audio/mpeg');
  expect(whole.headers.get('x-content-type-options')).toBe('nosniff');
  const { parameters } = parse(whole.headers.get('content-disposition') ?? '');
  expect(parameters.filename).toMatch(/ \(take \d\)\.mp3$/);
  const bytes = Buffer.from(await whole.arrayBuffer());
  expect(await createdTakes()).toContain((await soundOf(bytes)).toString('base64'));

  const head = await fetch(link, { method: 'HEAD' });
  expect(head.headers.get('content-length')).toBe(String(bytes.length));
  const part = await fetch(link, { headers: { range: 'bytes=100-199' } });
  expect(part.status).toBe(206);
  expect(Buffer.from(await part.arrayBuffer())).toEqual(bytes.subarray(100, 200));
  const forgedUrl = new URL(link);
  forgedUrl.searchParams.set('expires', String(Number(forgedUrl.searchParams.get('expires')) + 1));
  expect((await fetch(forgedUrl)).status).toBe(404);
}

describe('a file that exceeds the channel’s limit', () => {
  it('is linked on Discord with an explanation', async () => {
    const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain' }, fileLimit: 1_000 });
    const card = await song.message((message) => JSON.stringify(message.components).includes('Again'));
    expect(card.attachments).toEqual([]);
    const text = card.embeds[0]?.description ?? '';
    expect(text).toContain(`-# ${LINKED_FILES_SENTENCE}`);
    const [first = '', second = ''] = [...text.matchAll(/\[Listen: [^\]]+\]\(<([^>]+)>\)/g)].map(
      ([, link]) => link,
    );
    await expectLinkWorks(first);
    await expectLinkWorks(second);
    expect(discord.refused).toEqual([]);
  });

  it('is linked on Slack with an explanation', async () => {
    const restriction = { type: 'error', error: 'file_upload_size_restricted' } as const;
    slack.faults.every(1, 'files.getUploadURLExternal', restriction);
    await slack.slash('/song', 'a tune for rain');
    const message = await slack.until(() => {
      const [last] = slack.botMessages(CHANNEL);
      return last && JSON.stringify(last.blocks).includes('Again') ? last : undefined;
    });
    slack.faults.clear();
    expect(readableText(message)).toContain(LINKED_FILES_SENTENCE);
    const takes = links(message).filter(({ label }) => /take \d/.test(label));
    expect(takes).toHaveLength(2);
    for (const { url } of takes) await expectLinkWorks(url);
    expect(slack.refused).toEqual([]);
  });
});

it('a song’s tags contain its title, requester and lyrics', async () => {
  const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
  const card = await song.message((message) => message.attachments.length >= 2);
  const file = card.attachments.find(({ filename }) => filename.endsWith('.mp3'));
  const tags = await tagsOf(file?.bytes ?? Buffer.alloc(0));
  expect(card.embeds[0]?.title).toBe(tags.title);
  expect(tags.artist).toBe('Minstrel for Ada');
  expect(tags.lyrics).toContain('[Verse');
  expect(tags.images?.[0]).toMatchObject({ mimeType: 'image/png', kind: 'coverFront' });
});

it('a private file from Slack reaches the gateway through the bot’s link', async () => {
  const source = running.emulator.callbacks.findLast(({ body }) => /image_url/.test(body))?.body ?? '';
  const [picture = Buffer.alloc(0)] = await filesOf(source, /^image_url$/);
  await slack.slash('/video', '');
  const form = await slack.until(() => slack.openView('U0ADA'));
  await slack.submitView(form, {
    prompt: 'it begins to rain',
    image: [slack.upload('rain.png', picture)],
  });
  const lastRequest = () => running.emulator.requests.findLast(({ url }) => url.includes('video-synthesis'));
  await expect.poll(lastRequest).toBeDefined();
  const [link = ''] = /http:[^"]+\/files\/[^"]+/.exec(JSON.stringify(lastRequest()?.body)) ?? [];
  const response = await fetch(link);
  // Metadata is removed, so the bytes may differ. The pixels don't.
  const pixelsOf = (bytes: Buffer) => sharp(bytes).raw().toBuffer();
  expect(await pixelsOf(Buffer.from(await response.arrayBuffer()))).toEqual(await pixelsOf(picture));
  expect(slack.refused).toEqual([]);
});
