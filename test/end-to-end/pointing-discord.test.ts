import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Component } from '../servers/discord/components.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import type { Channel, StoredMessage } from '../servers/discord/types.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';
import { recordedQuestion } from './recorded-question.ts';

/** Questions about a message: by forwarding, replying, or its context menu. */
let discord: DiscordServer;
let running: RunningMinstrel;
/** A thread in which the bot may not read earlier messages. */
let closed: Channel;

const MESSAGE_CONTENT = 1 << 15;

beforeAll(async () => {
  discord = await startDiscord({ privilegedIntents: MESSAGE_CONTENT });
  const hall = discord.world.addChannel('hall', {
    guildId: discord.guild.id,
    denied: ['ReadMessageHistory'],
  });
  closed = discord.world.addChannel('closed', {
    guildId: discord.guild.id,
    type: 11,
    parentId: hall.id,
    denied: ['ReadMessageHistory'],
  });
  running = await startMinstrel({
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    DISCORD_MESSAGE_CONTENT: '1',
    ASK_MODEL: 'chat:chat-small',
    VISION_MODEL: 'msg:scribe-large',
    MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
  });
  await discord.until(() => discord.commands.length > 0, 'registered commands');
});
afterEach(() => expect(discord.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await discord?.close();
});

/** Resolves to the question sent to the gateway after `act`. */
async function questionAfter(act: () => unknown): Promise<string[]> {
  const { requests } = running.emulator;
  const before = requests.length;
  await act();
  return await discord.until(() => recordedQuestion(requests.slice(before)), 'a question at the gateway');
}

const alert = (): StoredMessage =>
  discord.say({
    user: discord.world.addUser('Monitor'),
    webhook: true,
    text: '',
    embeds: [
      {
        author: { name: 'Grafana' },
        title: 'Disk almost full',
        url: 'https://grafana.example/alerts/7',
        description: 'Volume **data** is at 93 %',
        fields: [{ name: 'Host', value: 'db-1' }],
        footer: { text: 'since 10:02' },
      },
    ],
  });
const ALERT = `Grafana
Disk almost full (https://grafana.example/alerts/7)
Volume **data** is at 93 %
Host: db-1
since 10:02`;

const dashboard: Component[] = [
  {
    type: 17,
    components: [
      { type: 10, content: 'Build 512 failed' },
      {
        type: 9,
        components: [{ type: 10, content: 'Step: lint' }],
        accessory: { type: 2, style: 5, label: 'Log', url: 'https://ci.example/512' },
      },
    ],
  },
];

async function photo() {
  const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#c33' } });
  return { filename: 'cat.png', contentType: 'image/png', bytes: await image.png().toBuffer() };
}

describe('a message that a question refers to on Discord', () => {
  it('is read from a forwarded message in a direct message', async () => {
    const source = discord.say({ text: 'The release moves to Friday.' });
    const channel = discord.directChannel();
    expect(await questionAfter(() => discord.say({ text: '', forwards: source, channel }))).toEqual([
      'Forwarded message:\n\nThe release moves to Friday.',
    ]);
  });

  it('is read from a forwarded message that someone replies to with only a mention', async () => {
    const source = discord.say({ text: 'The release moves to Monday.' });
    const forward = discord.say({ text: '', forwards: source });
    expect(await questionAfter(() => discord.mention({ text: '', replyTo: forward }))).toEqual([
      'Forwarded message:\n\nThe release moves to Monday.',
    ]);
  });

  it('is read from another app’s embeds', async () => {
    const question = await questionAfter(() => discord.mention({ text: 'why?', replyTo: alert() }));
    expect(question.join('\n')).toContain(ALERT);
    expect(question.at(-1)).toContain('why?');
  });

  it('is read from text displays and polls', async () => {
    const build = discord.say({ text: '', components: dashboard, webhook: true });
    const poll = discord.say({
      text: '',
      poll: {
        question: 'Pizza or pasta?',
        answers: [
          { text: 'Pizza', votes: 3 },
          { text: 'Pasta', votes: 1 },
        ],
      },
    });
    expect(await questionAfter(() => discord.mention({ text: '', replyTo: build }))).toEqual([
      'Build 512 failed\n\nStep: lint',
    ]);
    expect(await questionAfter(() => discord.mention({ text: '', replyTo: poll }))).toEqual([
      'Poll: Pizza or pasta?\n- Pizza (votes: 3)\n- Pasta (votes: 1)',
    ]);
  });

  it('is read by “Ask about this”, with text and image', async () => {
    const message = discord.say({ text: 'my cat', files: [await photo()] });
    const interaction = discord.contextMenu({ name: 'Ask about this', message });
    const modal = await interaction.modal();
    expect(JSON.stringify(modal)).toContain('“cat.png” will be used unless you choose another file.');
    expect(await questionAfter(() => discord.submitModal(interaction, { question: 'which breed?' }))).toEqual(
      ['[image]', 'which breed?'],
    );
  });

  it('includes an image that an app embeds', async () => {
    const { url } = discord.world.addAttachment(discord.channel.id, await photo());
    const chart = discord.say({ text: '', webhook: true, embeds: [{ title: 'Load', image: { url } }] });
    expect(await questionAfter(() => discord.mention({ text: '', replyTo: chart }))).toEqual([
      '[image]',
      'Load',
    ]);
  });

  it('does not fail with an embedded image that cannot be fetched', async () => {
    const image = { url: 'http://127.0.0.1:9/chart.png' };
    const chart = discord.say({ text: '', webhook: true, embeds: [{ title: 'Load', image }] });
    expect(await questionAfter(() => discord.mention({ text: '', replyTo: chart }))).toEqual([
      '(an image)',
      'Load',
    ]);
  });

  it('has names instead of ids', async () => {
    const bob = discord.world.addUser('bob');
    const text = `is <@${bob.id}> in <#${discord.channel.id}> as <@&${discord.guild.botRoleId}>?`;
    expect(await questionAfter(() => discord.mention({ text }))).toEqual([
      `is @bob in #${discord.channel.name} as ?`,
    ]);
  });
});

it('tells people which permission is missing to read the thread', async () => {
  discord.say({ text: 'The release moves to Friday.', channel: closed });
  discord.command({ name: 'ask', options: { question: 'when is the release?' }, channel: closed });
  const answer = await discord.until(
    () => discord.botMessages(closed).find((message) => JSON.stringify(message).includes('Again')),
    'an answer',
  );
  expect(JSON.stringify(answer.embeds)).toContain('grant me Read Message History');
});

it('is answered if the bot’s role is mentioned', async () => {
  const text = `<@&${discord.guild.botRoleId}> what is 2 times 3?`;
  expect(await questionAfter(() => discord.say({ text }))).toEqual(['what is 2 times 3?']);
});
