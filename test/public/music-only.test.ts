import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from '../end-to-end/minstrel.ts';
import { type DiscordServer, labelsOf, type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { type Double, SERVICE_KEY } from '../servers/public/service.ts';
import { type Suno, startSuno } from '../servers/public/suno.ts';

/** A bot with nothing but a key of sunoapi.org, whose callbacks the tests hold back. */
let music: Double<Suno>;
let discord: DiscordServer;
let running: RunningMinstrel;
/** Each opens once the test has checked the effect of the previous callback. */
let gates: PromiseWithResolvers<void>[] = [];

beforeAll(async () => {
  discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  music = await startSuno({ fetch, beforeCallback: async () => gates.shift()?.promise });
  running = await startMinstrel(
    {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MUSIC_BASE_URL: music.url,
      MUSIC_API_KEY: SERVICE_KEY,
      MEDIA_ALLOWED_HOSTS: new URL(music.origin).host,
    },
    { gateway: false },
  );
  await discord.until(() => discord.commands.length > 0, 'registered commands');
});
afterEach(() => {
  expect(discord.refused).toEqual([]);
  expect(music.refused).toEqual([]);
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
  await music?.[Symbol.asyncDispose]();
});

/** Holds the next callbacks until they are released, in order. */
function hold(count: number): () => void {
  const held = Array.from({ length: count }, () => Promise.withResolvers<void>());
  gates = [...held];
  return () => held.shift()?.resolve();
}
const textOf = ({ content, embeds }: StoredMessage) => `${content}${JSON.stringify(embeds)}`;
const song = () => discord.command({ name: 'song', options: { prompt: 'a tune for rain', title: 'Rain' } });
const has = (label: string) => (message: StoredMessage) => labelsOf(message).includes(label);

it('offers songs and nothing else', () => {
  const names = discord.commands.map(({ name }) => name).filter((name) => /^[a-z]/.test(name));
  expect(names).toEqual(expect.arrayContaining(['song', 'lyrics', 'stems', 'remix', 'voices', 'party']));
  for (const name of ['ask', 'image', 'video']) expect(names).not.toContain(name);
});

it('shows a song as it arrives: its lyrics, one take, then both', async () => {
  // The lyrics are written first, in a separate task.
  const release = hold(4);
  const interaction = song();
  release();
  release();
  await interaction.message((message) => /\[?Verse|a tune for rain/.test(textOf(message)));
  release();
  const early = await interaction.message(({ attachments }) => attachments.length === 1);
  expect(early.attachments[0]?.filename).toMatch(/take_1.*\.mp3/);
  release();
  const whole = await interaction.message(({ attachments }) => attachments.length === 3);
  expect(has('Again')(whole)).toBe(true);
});

it('a cancelled song that is finished anyway can still be shown', async () => {
  const songs = () => music.accepted.filter(({ path }) => path === '/api/v1/generate').length;
  const before = songs();
  const release = hold(4);
  const interaction = song();
  release();
  const waiting = await interaction.message(has('Cancel'));
  await discord.until(() => songs() > before, 'the request');
  discord.press('Cancel', waiting);
  await interaction.message((message) => textOf(message).includes('Cancelled.'));
  for (let left = 3; left > 0; left -= 1) release();
  const late = await interaction.message(has('Show it'));
  expect(textOf(late)).toContain('This was cancelled, but the service had already finished it.');
  // The message is visible a moment before its job is recorded.
  await expect
    .poll(async () => textOf(await discord.press('Show it', late).response()))
    .toContain('It will appear in a moment.');
  await interaction.message(({ attachments }) => attachments.length === 3);
});

it('repeated callbacks change nothing', async () => {
  const interaction = song();
  await interaction.message(({ attachments }) => attachments.length === 3);
  const before = interaction.messages.length;
  await music.idle();
  await music.repeatLast();
  const next = discord.command({ name: 'lyrics', options: { topic: 'rain' } });
  await next.message((message) => labelsOf(message).some((label) => label?.startsWith('Sing')));
  expect(interaction.messages).toHaveLength(before);
});
