import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { longDay } from '../../src/core/util/words.ts';
import type { InteractionHandle } from '../servers/discord/handle.ts';
import { labelsOf, type StoredMessage } from '../servers/discord/index.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** Marks of generated media, from the gateway to the chats and back. */
let world: BothChats;
const ADA = 'U0ADA';

beforeAll(async () => {
  world = await startOnBothChats(({ discord }) => ({
    IMAGE_MODEL: 'gen:facet-picture',
    MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
  }));
});
afterAll(async () => world?.[Symbol.asyncDispose]());

const GENERATED = 'digitalsourcetype/trainedAlgorithmicMedia';

async function resultOf(name: string, options: Record<string, string>): Promise<StoredMessage> {
  const handle = world.discord.command({ name, options });
  return handle.message((message) => labelsOf(message).includes('Again') && message.attachments.length > 0);
}

const bytesOf = ({ attachments }: StoredMessage) => attachments.map(({ bytes }) => Buffer.from(bytes));
/** ID3 has texts in UTF-16. */
const textOf = (bytes: Buffer) => bytes.toString('latin1').replaceAll('\0', '');

const today = () => longDay(Date.now());

const privateReply = async (handle: InteractionHandle) => {
  const { content, embeds } = await handle.response();
  expect(handle.ephemeral).toBe(true);
  return `${content}\n${JSON.stringify(embeds)}`;
};

describe('on Discord', () => {
  it.each([
    ['image', { prompt: 'a fox', model: 'canvas-plus' }],
    ['image', { prompt: 'a fox' }],
    ['video', { prompt: 'a lighthouse' }],
    ['song', { prompt: 'rain' }],
    ['ask', { question: 'Show me a fox', model: 'gen:facet-picture' }],
  ])('every file of /%s with %j has a mark', async (name, options) => {
    const files = bytesOf(await resultOf(name, options));
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(textOf(file)).toContain(GENERATED);
  });

  it('/minstrel verify shows the request of a file, and detects changes to it', async () => {
    const before = today();
    const message = await resultOf('image', { prompt: 'a fox', model: 'canvas-plus' });
    const days = `(?:${before}|${today()})`;
    const [bytes = Buffer.alloc(0)] = bytesOf(message);
    const verify = (content: Buffer, name: string) =>
      privateReply(
        world.discord.command({
          name: 'minstrel verify',
          options: { file: { filename: name, contentType: 'image/png', bytes: content } },
        }),
      );
    expect(await verify(bytes, 'fox.png')).toMatch(
      new RegExp(
        `I generated this with AI on ${days}, with canvas-plus.*a fox.*It has not changed since`,
        's',
      ),
    );
    const edited = await sharp(bytes).keepXmp().modulate({ brightness: 2 }).png().toBuffer();
    expect(await verify(edited, 'fox.png')).toMatch(/I generated this.*It doesn't match any file/s);
    const photo = await sharp({ create: { width: 9, height: 9, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    expect(await verify(photo, 'photo.png')).toContain('I found no mark in this file');
    expect(await verify(Buffer.from('<html>'), 'page.png')).toContain("isn't an image, audio or video file");
  });

  it('the menu of a message verifies its files', async () => {
    const message = await resultOf('song', { prompt: 'rain' });
    const reply = await privateReply(world.discord.contextMenu({ name: 'Verify these files', message }));
    expect(reply.match(/It has not changed since/g)?.length).toBe(message.attachments.length);
    const empty = world.discord.say({ text: 'Nothing here' });
    expect(
      await privateReply(world.discord.contextMenu({ name: 'Verify these files', message: empty })),
    ).toContain('Attach a song, an image or a video');
  });
});

describe('on Slack', () => {
  it.each(['image', 'song'])(
    'the shortcut of a message with a result of /%s verifies its files',
    async (command) => {
      const { slack } = world;
      await slack.slash(`/${command}`, 'a fox');
      const message = await slack.until(() =>
        slack.botMessages('C0MUSIC').find((one) => JSON.stringify(one.blocks).includes(`${command}.again`)),
      );
      const files = [...slack.workspace.files.values()];
      expect(files.length).toBeGreaterThan(0);
      for (const { bytes } of files) expect(textOf(Buffer.from(bytes))).toContain(GENERATED);
      const before = slack.ephemeralsOf(ADA).length;
      await slack.messageShortcut('message-menu:minstrel', message);
      await slack.until(() => slack.ephemeralsOf(ADA).length > before);
      const reply = slack.ephemeralsOf(ADA).slice(before).map(readableText).join('\n');
      expect(reply).toMatch(/I generated this with AI.*a fox.*It has not changed since/s);
    },
  );
});
