import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  type Channel,
  type DiscordServer,
  type InteractionHandle,
  labelsOf,
  type StoredMessage,
  startDiscord,
} from '../servers/discord/index.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The whole bot under single faults of Discord. The nightly test covers everything people can do. */
const LOADING = 1 << 7;
/** Invalid Webhook Token: the interaction has expired. */
const DEAD_TOKEN = 50_027;
const isRunning = (message: StoredMessage) =>
  (message.flags & LOADING) !== 0 ||
  labelsOf(message).some((label) => label === 'Cancel' || label === 'Stop');

let discord: DiscordServer;
let running: RunningMinstrel;

/** Resolves to the last message of an interaction once all its work has ended. */
async function finalMessage(interaction: InteractionHandle): Promise<StoredMessage> {
  return await discord.until(() => {
    const { messages } = interaction;
    return messages.length > 0 && !messages.some(isRunning) && messages.at(-1);
  }, `the end of a ${interaction.record.kind}`);
}

describe('special conditions', () => {
  let restricted: Channel;
  let closed: Channel;
  beforeAll(async () => {
    // The bot, its gateway and Discord share one process here, so the deadline is longer. Other tests cover the 3 s.
    discord = await startDiscord({ responseDeadlineMs: 15_000 });
    const guildId = discord.guild.id;
    restricted = discord.world.addChannel('bare', { guildId, denied: ['AttachFiles', 'EmbedLinks'] });
    closed = discord.world.addChannel('closed', { guildId, denied: ['SendMessages'] });
    const environment = {
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    };
    running = await startMinstrel(environment, { speed: 0.3 });
    await discord.until(() => discord.commands.length > 0, 'registered commands');
  });
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await discord?.close();
  });
  afterEach(() => {
    const unexpected = discord.refused.filter(({ code }) => code !== DEAD_TOKEN);
    expect(unexpected).toEqual([]);
  });

  it('finishes in the same message after the token expires', async () => {
    const interaction = discord.command({ name: 'song', options: { prompt: 'a tune for rain' } });
    await discord.until(
      () => interaction.original && labelsOf(interaction.original).includes('Cancel'),
      'progress',
    );
    // Only Discord's clock advances, so the bot learns of the expiry from the refusal.
    discord.advance(16 * 60_000);
    const result = await finalMessage(interaction);
    expect(result).toBe(interaction.original);
    expect(discord.botMessages()).toHaveLength(1);
    expect(labelsOf(result)).toContain('Lyrics');
  });

  it('answers in plain text and names missing permissions for files and embeds', async () => {
    discord.mention({ text: 'What is 6 times 7?', channel: restricted });
    const answer = await discord.until(
      () =>
        discord
          .botMessages(restricted)
          .find((message) => message.content.includes('42') && !isRunning(message)),
      'an answer',
    );
    expect(answer.embeds).toEqual([]);
    expect(answer.content).toContain('grant me Embed Links and Attach Files');
  });

  it('sends a direct message if the bot may not post in the channel', async () => {
    discord.mention({ text: 'What is 6 times 7?', channel: closed });
    const notice = await discord.until(
      () =>
        discord
          .botMessages(discord.directChannel())
          .find((message) => JSON.stringify(message).includes('Send Messages')),
      'a direct message',
    );
    expect(labelsOf(notice)).toContain('Again');
    expect(discord.botMessages(closed)).toEqual([]);
  });

  it('links a file that exceeds the server’s limit', async () => {
    const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain' }, fileLimit: 1_000 });
    const card = await finalMessage(song);
    expect(card.attachments).toEqual([]);
    const [, link = ''] = /\(<(http[^>]+)>\)/.exec(JSON.stringify([card.content, card.embeds])) ?? [];
    const file = await fetch(link);
    expect(file.status).toBe(200);
    expect((await file.arrayBuffer()).byteLength).toBeGreaterThan(1_000);
  });

  it('completes a stream after the connection drops', async () => {
    const interaction = discord.command({
      name: 'ask',
      options: { question: 'Explain the tides to me in detail' },
    });
    await discord.until(() => interaction.original && interaction.original.history.length > 0, 'a beginning');
    discord.gateway.drop();
    discord.faults.fail(502, { times: 3, path: /^PATCH/ });
    const answer = await finalMessage(interaction);
    expect(labelsOf(answer)).toContain('Again');
    expect(JSON.stringify(answer)).not.toMatch(/broke off|restarted/);
    expect(interaction.messages.filter((message) => message === interaction.original)).toHaveLength(1);
  });
});
