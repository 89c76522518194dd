import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { labelsOf, type StoredMessage } from '../servers/discord/index.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type BothChats, startOnBothChats } from './both-chats.ts';

/** Images made from the images of any message, through the message menus of both chats. */
let world: BothChats;
let photo: Buffer;

const MENU = 'Change this image';
const NO_IMAGE = 'This message has no image that I can read.';

beforeAll(async () => {
  world = await startOnBothChats(({ discord, slack }) => ({
    IMAGE_MODEL: 'canvas-plus',
    MEDIA_ALLOWED_HOSTS: [discord.origin, slack.apiUrl].map((url) => new URL(url).host).join(','),
  }));
  photo = await sharp({ create: { width: 2000, height: 1000, channels: 3, background: '#c33' } })
    .jpeg()
    .toBuffer();
});
afterEach(() => {
  expect(world.discord.refused).toEqual([]);
  expect(world.slack.refused).toEqual([]);
});
afterAll(() => world?.[Symbol.asyncDispose]());

/** The type and the width of the images in the request with these words. */
async function imagesSentWith(words: string) {
  const sent = world.running.emulator.requests
    .filter(({ url }) => url.includes('facet-picture'))
    .findLast(({ body }) => JSON.stringify(body).includes(words));
  const found = JSON.stringify(sent?.body).matchAll(/"mimeType":"([^"]+)","data":"([^"]+)"/g);
  const images = [...found].map(async ([, type, data = '']) => {
    const { width } = await sharp(Buffer.from(data, 'base64')).metadata();
    return { type, width };
  });
  return Promise.all(images);
}

describe('on Discord', () => {
  async function change(message: StoredMessage, prompt: string) {
    const menu = world.discord.contextMenu({ name: MENU, message });
    const form = JSON.stringify(await menu.modal());
    const submission = await world.discord.submitModal(menu, { prompt });
    const result = await submission.message(
      (posted) => labelsOf(posted).includes('Again') && posted.attachments.length > 0,
    );
    return { form, text: JSON.stringify(result) };
  }

  it('changes an uploaded image, and names it in the form', async () => {
    const file = { filename: 'dog.jpg', contentType: 'image/jpeg', bytes: photo };
    const { form, text } = await change(
      world.discord.say({ text: 'my dog', files: [file] }),
      'give it a red hat',
    );
    expect(form).toContain('“dog.jpg” will be used');
    expect(form).toContain('What should change?');
    expect(form).not.toContain('my dog');
    expect(text).toContain('dog.jpg');
    expect(await imagesSentWith('give it a red hat')).toEqual([{ type: 'image/jpeg', width: 1568 }]);
  });

  it('changes an image that another app shows', async () => {
    const { discord } = world;
    const file = { filename: 'chart.jpg', contentType: 'image/jpeg', bytes: photo };
    const { url } = discord.world.addAttachment(discord.channel.id, file);
    const chart = discord.say({ text: '', webhook: true, embeds: [{ title: 'Load', image: { url } }] });
    const { form } = await change(chart, 'draw it by hand');
    expect(form).toContain('chart.jpg');
    expect(await imagesSentWith('draw it by hand')).toEqual([{ type: 'image/jpeg', width: 1568 }]);
  });

  it('changes the image of a result', async () => {
    const result = world.discord.command({ name: 'image', options: { prompt: 'a fox' } });
    const image = await result.message((posted) => labelsOf(posted).includes('Change'));
    await change(image, 'make it winter');
    expect(await imagesSentWith('make it winter')).toEqual([{ type: 'image/png', width: 1328 }]);
  });

  it('refuses a message without an image', async () => {
    const message = world.discord.say({ text: 'look' });
    const reply = await world.discord.contextMenu({ name: MENU, message }).response();
    expect(reply.content).toContain(NO_IMAGE);
  });

  it('spends nothing if the message was deleted before the form was sent', async () => {
    const { discord, running } = world;
    const file = { filename: 'cat.jpg', contentType: 'image/jpeg', bytes: photo };
    const message = discord.say({ text: '', files: [file] });
    const menu = discord.contextMenu({ name: MENU, message });
    await menu.modal();
    discord.remove(message);
    const sent = running.emulator.requests.length;
    const reply = await (await discord.submitModal(menu, { prompt: 'make it night' })).response();
    expect(reply.content).toContain('That message was deleted');
    expect(discord.refused.splice(0)).toMatchObject([{ code: 10_008 }]);
    expect(running.emulator.requests.slice(sent).filter(({ url }) => url.includes('picture'))).toEqual([]);
  });
});

describe('on Slack', () => {
  type PostState = Parameters<BothChats['slack']['messageShortcut']>[1];

  async function change(message: PostState, prompt: string) {
    const { slack } = world;
    await slack.messageShortcut('message-menu:image', message);
    const form = await slack.until(() => slack.openView('U0ADA'));
    await slack.submitView(form, { prompt });
    await slack.until(() =>
      slack
        .botMessages('C0MUSIC')
        .find(
          ({ blocks }) => JSON.stringify(blocks).includes(prompt) && JSON.stringify(blocks).includes('Again'),
        ),
    );
    return JSON.stringify(form);
  }

  it('changes an uploaded image, and names it in the form', async () => {
    const { slack } = world;
    const file = slack.upload('dog.jpg', photo, { mimetype: 'image/jpeg' });
    const { message } = await slack.say('my dog', { files: [file] });
    const form = await change(message, 'give it a blue hat');
    expect(form).toContain('“dog.jpg” will be used');
    expect(form).not.toContain('my dog');
    expect(await imagesSentWith('give it a blue hat')).toEqual([{ type: 'image/jpeg', width: 1568 }]);
  });

  it('changes the image of a result', async () => {
    const { slack } = world;
    await slack.slash('/image', 'an owl');
    const image = await slack.until(() =>
      slack.botMessages('C0MUSIC').find(({ blocks }) => /an owl.*image\.again/s.test(JSON.stringify(blocks))),
    );
    await change(image, 'make it spring');
    expect(await imagesSentWith('make it spring')).toEqual([{ type: 'image/png', width: 1328 }]);
  });

  it('refuses a message without an image', async () => {
    const { slack } = world;
    const { message } = await slack.say('look');
    await slack.messageShortcut('message-menu:image', message);
    const reply = await slack.until(() => slack.ephemeralsOf('U0ADA')[0]);
    expect(readableText(reply)).toContain(NO_IMAGE);
  });
});
