/** The bot with an OpenAI-compatible service on the same machine and nothing else: answers on every platform, and no other command. */
import { PassThrough } from 'node:stream';
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { commandsFor } from '../../commands/index.ts';
import { createTerminal } from '../../src/platforms/terminal/adapter.ts';
import type { DiscordServer } from '../servers/discord/index.ts';
import { pngFile } from '../servers/public/files.ts';
import { startOpenAi } from '../servers/public/openai.ts';
import type { Double } from '../servers/public/service.ts';
import { readableText } from '../servers/slack/mentions.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

const OFFERED = commandsFor({ offered: ['ask'], changesImages: false }).map(({ name }) => name);

describe('with only CHAT_BASE_URL', () => {
  let service: Double;
  let world: BothChats;
  let discord: DiscordServer;
  let slack: SlackServer;

  beforeAll(async () => {
    service = await startOpenAi({ keyless: true });
    world = await startOnBothChats(
      (chats) => {
        ({ discord, slack } = chats);
        return {
          CHAT_BASE_URL: service.url,
          MEDIA_ALLOWED_HOSTS: [chats.discord.origin, chats.slack.apiUrl]
            .map((url) => new URL(url).host)
            .join(','),
        };
      },
      { gateway: false },
    );
  });
  afterEach(() => {
    expect(discord.refused).toEqual([]);
    expect(slack.refused).toEqual([]);
    expect(service.refused).toEqual([]);
  });
  afterAll(async () => {
    await world?.[Symbol.asyncDispose]();
    await service?.[Symbol.asyncDispose]();
  });

  const answersOnDiscord = (channel = discord.channel) =>
    discord.botMessages(channel).filter(({ components }) => JSON.stringify(components).includes('Again'));
  const answersOnSlack = () =>
    slack.botMessages('C0MUSIC').filter(({ blocks }) => JSON.stringify(blocks).includes('Again'));

  it('offers /ask and the commands that need no service', () => {
    expect(OFFERED).toEqual(['ask', 'jobs', 'schedule', 'models', 'limits', 'minstrel']);
    const registered = discord.commands.filter(({ type = 1 }) => type === 1).map(({ name }) => name);
    expect(registered.sort()).toEqual([...OFFERED].sort());
  });

  it('answers /ask with the newest small model of the list', async () => {
    const interaction = discord.command({ name: 'ask', options: { question: 'What is 6 times 7?' } });
    const answer = await interaction.message(({ components }) =>
      JSON.stringify(components).includes('Again'),
    );
    expect(JSON.stringify(answer.embeds)).toContain('Answer 1 to');
    expect(service.accepted.at(-1)?.body).toMatchObject({ model: 'gpt-4o-mini', stream: true });
    await slack.slash('/ask', 'What is 6 times 8?');
    const onSlack = await slack.until(() => answersOnSlack()[0]);
    expect(readableText(onSlack)).toContain('Answer 1 to');
  });

  it('keeps the conversation of mentions in threads', async () => {
    const thread = discord.world.addChannel('talk', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
    });
    for (const [index, text] of ['One?', 'Two?'].entries()) {
      discord.mention({ text, channel: thread });
      await discord.until(() => answersOnDiscord(thread).length === index + 1, 'an answer');
    }
    expect(JSON.stringify(answersOnDiscord(thread).at(-1))).toContain('Answer 2 to “Two?”');

    const before = answersOnSlack().length;
    const { message } = await slack.mention('One?', { channel: 'C0MUSIC' });
    await slack.until(() => answersOnSlack()[before]);
    await slack.mention('Two?', { channel: 'C0MUSIC', threadTs: message.ts });
    const second = await slack.until(() => answersOnSlack()[before + 1]);
    expect(readableText(second)).toContain('Answer 2 to “Two?”');
  });

  it('lets the model read images', async () => {
    const image = { filename: 'fox.png', contentType: 'image/png', bytes: pngFile('fox') };
    const before = service.accepted.length;
    const interaction = discord.command({ name: 'ask', options: { question: 'What is this?', image } });
    await interaction.message(({ components }) => JSON.stringify(components).includes('Again'));
    expect(JSON.stringify(service.accepted.slice(before))).toContain('data:image/png;base64,');
  });

  it('explains in /minstrel which settings add the other commands', async () => {
    const help = await discord.command({ name: 'minstrel help' }).message(() => true);
    const text = JSON.stringify([help.content, help.embeds]).replaceAll('\\', '');
    expect(text).toContain('Songs: MUSIC_API_KEY');
    expect(text).toContain('Images: MEDIA_API_KEY');
    expect(text).not.toContain('/song');
    await slack.slash('/minstrel');
    const onSlack = await slack.until(() => slack.ephemeralsOf('U0ADA').at(-1));
    expect(readableText(onSlack)).toContain('Songs: MUSIC_API_KEY');
  });

  it('explains a command that a workspace still has from an earlier setup', async () => {
    const { ack } = await slack.slash('/song', 'rain');
    expect(JSON.stringify(ack)).toContain("I don't know /song");
    const outcome = await world.running.minstrel.bot.run({
      id: 'old-button',
      command: 'song',
      action: { name: 'extend', job: 'gone', index: 0 },
      options: {},
      address: { platform: 'discord', guild: 'g', channel: 'c', person: 'ada' },
      person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
    });
    expect(JSON.stringify(outcome)).toContain('Its operator can add one with MUSIC_API_KEY');
  });

  it('offers the same commands in the terminal', async () => {
    const output = new PassThrough();
    let shown = '';
    output.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
    });
    const input = new PassThrough();
    const terminal = createTerminal({
      input,
      output,
      folder: 'unused',
      media: { open: () => Promise.reject(new TypeError('unused')) },
      newId: () => 'id',
      onExit: () => undefined,
    });
    await terminal.start(world.running.minstrel.bot);
    input.write('help\n');
    await expect.poll(() => shown).toContain('/minstrel');
    expect(shown).toContain('/ask');
    expect(shown).not.toContain('/song');
    await terminal.stop();
    await terminal.close();
  });
});

it('with EMULATOR_FAMILIES=music, songs come from the emulator, and answers still from the service', async () => {
  const service = await startOpenAi({ keyless: true });
  onTestFinished(() => service[Symbol.asyncDispose]());
  const world = await startOnBothChats(
    () => ({ CHAT_BASE_URL: service.url, EMULATOR_FAMILIES: 'music', ASK_MODEL: 'gpt-4o' }),
    { gateway: false },
  );
  onTestFinished(() => world[Symbol.asyncDispose]());
  const { discord } = world;
  const ready = ({ components }: { components: unknown }) => JSON.stringify(components).includes('Again');
  const lyrics = await discord.command({ name: 'lyrics', options: { topic: 'rain' } }).message(ready);
  expect(JSON.stringify(lyrics.embeds)).toMatch(/rain/i);
  const answer = await discord.command({ name: 'ask', options: { question: 'Why?' } }).message(ready);
  expect(JSON.stringify(answer.embeds)).toContain('Answer 1 to');
  expect(service.accepted.map(({ body }) => body)).toMatchObject([{ model: 'gpt-4o' }]);
  expect(discord.commands.map(({ name }) => name)).not.toContain('image');
});
