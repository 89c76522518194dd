import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import type { DiscordServer } from '../servers/discord/index.ts';
import type { Channel } from '../servers/discord/types.ts';
import type { SlackServer } from '../servers/slack/server.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** How attached images and texts reach the gateway. The default model cannot read images. */
let world: BothChats;
let discord: DiscordServer;
let slack: SlackServer;
let thread: Channel;
let photo: Buffer;

beforeAll(async () => {
  world = await startOnBothChats((chats) => {
    ({ discord, slack } = chats);
    thread = discord.world.addChannel('talk', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
    });
    return {
      ASK_MODEL: 'chat:chat-small',
      VISION_MODEL: 'msg:scribe-large',
      MEDIA_ALLOWED_HOSTS: [new URL(discord.origin).host, new URL(slack.apiUrl).host].join(','),
    };
  });
  photo = await sharp({ create: { width: 3200, height: 1600, channels: 3, background: '#c33' } })
    .jpeg()
    .toBuffer();
});

afterEach(() => {
  expect(discord.refused).toEqual([]);
  expect(slack.refused).toEqual([]);
});
afterAll(async () => {
  await world?.[Symbol.asyncDispose]();
});

const block = z.union([
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({
    type: z.literal('image'),
    source: z.object({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
  }),
]);
const bodySchema = z.object({
  messages: z.array(z.object({ role: z.string(), content: z.union([z.string(), z.array(block)]) })),
});

const lastMessages = (path: string) =>
  bodySchema.parse(world.running.emulator.requests.findLast(({ url }) => url === path)?.body).messages;
const isResultWith =
  (words: string) => (message: { embeds?: unknown; content?: unknown; components?: unknown }) =>
    JSON.stringify(message).includes(words) && JSON.stringify(message).includes('Again');

async function imagesIn(messages: ReturnType<typeof lastMessages>) {
  const blocks = messages.flatMap(({ content }) => (typeof content === 'string' ? [] : content));
  return Promise.all(
    blocks.flatMap((one) =>
      one.type === 'image'
        ? [
            (async () => {
              const { width, height } = await sharp(Buffer.from(one.source.data, 'base64')).metadata();
              return { type: one.source.media_type, width, height };
            })(),
          ]
        : [],
    ),
  );
}

const SCALED = { type: 'image/jpeg', width: 1568, height: 784 };

describe('an image with a question', () => {
  it('is scaled and sent to the vision model, equally from Discord and Slack', async () => {
    discord.mention({
      text: 'what is this?',
      channel: thread,
      files: [{ filename: 'a.jpg', contentType: 'image/jpeg', bytes: photo }],
    });
    await discord.until(
      () => discord.botMessages(thread).find(isResultWith('1568')),
      'an answer about the picture',
    );
    const fromDiscord = lastMessages('/msg/v1/messages');
    expect(await imagesIn(fromDiscord)).toEqual([SCALED]);

    await slack.mention('what is this?', {
      files: [slack.upload('a.jpg', photo, { mimetype: 'image/jpeg' })],
    });
    await slack.until(() =>
      slack.botMessages('C0MUSIC').find((m) => JSON.stringify(m.blocks).includes('1568')),
    );
    expect(lastMessages('/msg/v1/messages')).toEqual(fromDiscord);
  });

  it('is included in the next question to a model that can read it', async () => {
    const dog = await sharp(photo).resize(64).png().toBuffer();
    discord.mention({
      text: 'and this?',
      channel: thread,
      files: [{ filename: 'b.png', contentType: 'image/png', bytes: dog }],
    });
    await discord.until(
      () => discord.botMessages(thread).find(isResultWith('64 × 32')),
      'an answer about both',
    );
    expect(await imagesIn(lastMessages('/msg/v1/messages'))).toEqual([
      SCALED,
      { type: 'image/png', width: 64, height: 32 },
    ]);
  });

  it('is replaced by a note on a route without images', async () => {
    discord.mention({ text: 'What is 2 times 3?', channel: thread });
    await discord.until(() => discord.botMessages(thread).find(isResultWith('**6**')), 'a plain answer');
    const sent = lastMessages('/chat/v1/chat/completions');
    expect(sent.every(({ content }) => typeof content === 'string')).toBe(true);
    expect(JSON.stringify(sent)).toContain('(an image)');
  });

  it('is refused before the gateway is asked if it has too many pixels', async () => {
    const bomb = await sharp({
      create: { width: 12_000, height: 12_000, channels: 3, background: '#000' },
      limitInputPixels: false,
    })
      .png({ compressionLevel: 9 })
      .toBuffer();
    const before = world.running.emulator.requests.length;
    discord.mention({
      text: 'look',
      files: [{ filename: 'bomb.png', contentType: 'image/png', bytes: bomb }],
    });
    const reply = await discord.until(
      () => discord.botMessages().find((m) => JSON.stringify(m).includes('too many pixels')),
      'a refusal',
    );
    expect(JSON.stringify(reply)).toContain('bomb.png');
    expect(world.running.emulator.requests).toHaveLength(before);
  });

  it('is refused if its content is not an image', async () => {
    discord.mention({
      text: 'look',
      files: [{ filename: 'fox.png', contentType: 'image/png', bytes: Buffer.from('<html>') }],
    });
    await discord.until(
      () => discord.botMessages().find((m) => JSON.stringify(m).includes("isn't an image file")),
      'a refusal',
    );
  });
});

it('sends an attached text to the model', async () => {
  const text = 'My favourite colour is teal.';
  discord.mention({
    text: 'What is 3 times 3?',
    files: [{ filename: 'notes.txt', contentType: 'text/plain', bytes: Buffer.from(text) }],
  });
  const isRead = () => JSON.stringify(lastMessages('/chat/v1/chat/completions')).includes(text);
  await discord.until(() => isRead() || undefined, 'a question with the text');
});

it('sends an image that a person replies to', async () => {
  const answers = () => discord.botMessages().filter(isResultWith('1568'));
  // Without the message content intent, Discord includes files only in messages that mention the bot.
  const pictureMessage = discord.mention({
    text: 'my garden',
    files: [{ filename: 'g.jpg', contentType: 'image/jpeg', bytes: photo }],
  });
  await discord.until(() => answers().length === 1, 'an answer about the picture');
  const bob = discord.world.addUser('bob');
  discord.mention({ text: 'what is there?', replyTo: pictureMessage, user: bob });
  await discord.until(() => answers().length === 2, 'an answer about the picture replied to');
  expect(await imagesIn(lastMessages('/msg/v1/messages'))).toEqual([SCALED]);
});

it('refuses other files before the gateway is asked', async () => {
  const before = world.running.emulator.requests.length;
  const pdf = Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1');
  const image = { filename: 'paper.pdf', contentType: 'application/pdf', bytes: pdf };
  const interaction = discord.command({ name: 'ask', options: { question: 'What is this?', image } });
  await interaction.response();
  await discord.until(
    () => discord.botMessages().find(isResultWith("paper.pdf isn't an image or text file")),
    'a refusal',
  );
  expect(world.running.emulator.requests).toHaveLength(before);
});

it('says that the requested model cannot read images', async () => {
  const interaction = discord.command({
    name: 'ask',
    options: {
      question: 'Who is it?',
      model: 'chat:chat-small',
      image: { filename: 'a.jpg', contentType: 'image/jpeg', bytes: photo },
    },
  });
  expect(JSON.stringify(await interaction.response())).toContain("can't read images");
});
