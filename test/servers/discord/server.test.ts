import { once } from 'node:events';
import { Agent, request } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import {
  Client,
  Events,
  GatewayIntentBits,
  MessageFlags,
  Partials,
  type RESTOptions,
  Routes,
} from 'discord.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type DiscordServer, liveMentions, startDiscord } from './index.ts';

const PING = {
  name: 'ping',
  description: 'Answers',
  options: [{ type: 3, name: 'text', description: 'Text', required: true }],
};

describe('the local Discord', () => {
  let discord: DiscordServer;
  let client: Client;

  beforeEach(async () => {
    discord = await startDiscord();
    client = new Client({
      intents: [GatewayIntentBits.Guilds, GatewayIntentBits.GuildMessages, GatewayIntentBits.DirectMessages],
      partials: [Partials.Channel],
      // The library creates Node's own FormData, which only Node's own fetch accepts: https://github.com/nodejs/undici/issues/5520
      rest: { api: discord.apiUrl, makeRequest: fetch as unknown as RESTOptions['makeRequest'] },
    });
    client.on(Events.Error, () => {});
    const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
    await client.login(discord.token);
    await ready;
    await client.application?.commands.set([PING]);
  });

  afterEach(async () => {
    await client.destroy();
    await discord.close();
  });

  const onInteraction = (
    handle: (interaction: import('discord.js').ChatInputCommandInteraction) => Promise<unknown>,
  ) =>
    new Promise<unknown>((resolve) => {
      client.once(Events.InteractionCreate, (interaction) => {
        if (interaction.isChatInputCommand()) handle(interaction).then(resolve, resolve);
      });
    });

  it('handles a command from the real discord.js and stores its files', async () => {
    const answered = onInteraction(async (interaction) => {
      await interaction.deferReply();
      await interaction.editReply({
        content: interaction.options.getString('text', true),
        files: [{ attachment: Buffer.from('abc'), name: 'a b.txt' }],
      });
    });
    const ping = discord.command({ name: 'ping', options: { text: 'hello' } });
    expect(await answered).toBeUndefined();
    const message = await ping.response();
    expect(message).toMatchObject({ content: 'hello', onlyFor: null });
    const [file] = message.attachments;
    expect(file?.filename).toBe('a_b.txt');
    expect(Buffer.from(file?.bytes ?? []).toString()).toBe('abc');
    expect(await (await fetch(file?.url ?? '')).text()).toBe('abc');
    expect(discord.refused).toEqual([]);
  });

  it('expires an interaction after three seconds and its token after fifteen minutes', async () => {
    const late = onInteraction(async (interaction) => {
      discord.advance(3_001);
      await interaction.reply('late');
    });
    discord.command({ name: 'ping', options: { text: 'x' } });
    expect(await late).toMatchObject({ code: 10_062 });

    const old = onInteraction(async (interaction) => {
      await interaction.reply('first');
      discord.advance(15 * 60_000 + 1);
      await interaction.editReply('second');
    });
    discord.command({ name: 'ping', options: { text: 'x' } });
    expect(await old).toMatchObject({ code: 50_027, status: 401 });
    expect(discord.refused.map((refused) => refused.code)).toEqual([10_062, 50_027]);
  });

  it('accepts one first response', async () => {
    const twice = onInteraction(async (interaction) => {
      await interaction.reply('one');
      await client.rest.post(Routes.interactionCallback(interaction.id, interaction.token), {
        body: { type: 4, data: { content: 'two' } },
        auth: false,
      });
    });
    discord.command({ name: 'ping', options: { text: 'x' } });
    expect(await twice).toMatchObject({ code: 40_060 });
  });

  it.each([
    ['content over 2000', { content: 'x'.repeat(2_001) }, 50_035],
    ['an empty message', { content: ' ' }, 50_006],
    [
      'six rows',
      {
        content: 'x',
        components: Array.from({ length: 6 }, (_, n) => ({
          type: 1,
          components: [{ type: 2, style: 1, label: 'b', custom_id: `b${n}` }],
        })),
      },
      50_035,
    ],
    [
      'a duplicate custom_id',
      {
        content: 'x',
        components: [
          { type: 1, components: [1, 2].map(() => ({ type: 2, style: 1, label: 'b', custom_id: 'same' })) },
        ],
      },
      50_035,
    ],
    [
      'content with Components V2',
      { content: 'x', flags: MessageFlags.IsComponentsV2, components: [{ type: 10, content: 'y' }] },
      50_035,
    ],
    [
      'embeds over 6000',
      { embeds: [{ description: 'x'.repeat(3_500) }, { description: 'x'.repeat(3_500) }] },
      50_035,
    ],
    ['an image that is not attached', { embeds: [{ image: { url: 'attachment://none.png' } }] }, 50_035],
    ['an attachment without a file', { content: 'x', attachments: [{ id: 0, filename: 'a.txt' }] }, 50_035],
    ['an ephemeral message with the bot token', { content: 'x', flags: MessageFlags.Ephemeral }, 50_035],
    ['a nonce over 25 characters', { content: 'x', nonce: 'n'.repeat(26), enforce_nonce: true }, 50_035],
    [
      'contradictory allowed mentions',
      { content: 'x', allowed_mentions: { parse: ['users'], users: ['123456789012345678'] } },
      50_035,
    ],
  ])('refuses %s', async (_, body, code) => {
    await expect(
      client.rest.post(Routes.channelMessages(discord.channel.id), { body }),
    ).rejects.toMatchObject({ code });
    expect(discord.refused).toHaveLength(1);
  });

  it('refuses a file above the server’s limit', async () => {
    const files = [{ name: 'big.bin', data: Buffer.alloc(10 * 1024 * 1024 + 1, 1) }];
    await expect(
      client.rest.post(Routes.channelMessages(discord.channel.id), { files }),
    ).rejects.toMatchObject({ code: 40_005 });
  });

  it('refuses requests without permission', async () => {
    const send = () =>
      client.rest.post(Routes.channelMessages(discord.channel.id), { body: { content: 'x' } });
    discord.channel.denied.add('SendMessages');
    await expect(send()).rejects.toMatchObject({ code: 50_013 });
    discord.channel.denied.add('ViewChannel');
    await expect(send()).rejects.toMatchObject({ code: 50_001 });
  });

  it('returns the same message for an enforced nonce within five minutes', async () => {
    const send = () =>
      client.rest.post(Routes.channelMessages(discord.channel.id), {
        body: { content: 'x', nonce: 'n', enforce_nonce: true },
      });
    expect(await send()).toMatchObject(
      await send().then((message) => ({ id: (message as { id: string }).id })),
    );
    expect(discord.botMessages()).toHaveLength(1);
    discord.advance(5 * 60_000 + 1);
    await send();
    expect(discord.botMessages()).toHaveLength(2);
  });

  it('records who a message pings', async () => {
    const text = `hi <@${discord.user.id}> @everyone`;
    const send = (allowed?: object) =>
      client.rest.post(Routes.channelMessages(discord.channel.id), {
        body: { content: text, allowed_mentions: allowed },
      });
    await send();
    await send({ parse: [] });
    await send({ parse: [], users: [discord.user.id] });
    expect(discord.botMessages().map((message) => message.pinged)).toEqual([
      [discord.user.id, 'everyone'],
      [],
      [discord.user.id],
    ]);
    expect(liveMentions(`${text} \`@here\` <#12> </song:34>`)).toEqual([
      `<@${discord.user.id}>`,
      '@everyone',
      '<#12>',
      '</song:34>',
    ]);
  });

  it('counts requests before Retry-After is over as refused', async () => {
    discord.faults.limitEvery(1, { retryAfterMs: 5_000 });
    const send = () =>
      fetch(`${discord.apiUrl}/v10/channels/${discord.channel.id}/messages`, { method: 'POST', body: '{}' });
    expect((await send()).headers.get('retry-after')).toBe('5.000');
    // A request in transit with the first one does not count.
    await expect
      .poll(async () => {
        await send();
        return discord.refused[0];
      })
      .toMatchObject({ status: 429, reason: expect.stringContaining('before Retry-After was over') });
    expect(discord.faults.limited.length).toBeGreaterThan(1);
  });

  it('counts only requests sent after the 429, not those in transit', async () => {
    const url = `${discord.apiUrl}/v10/channels/${discord.channel.id}/messages`;
    const early = () => discord.refused.filter(({ reason }) => reason.includes('before Retry-After'));
    const lines = [1, 2].map(() => new Agent({ keepAlive: true, maxSockets: 1 }));
    const [line, other] = lines;
    const begin = (agent: Agent | undefined) => {
      const sending = request(url, { agent, method: 'POST', headers: { 'content-length': '2' } });
      sending.write('{');
      const answer = once(sending, 'response').then(async ([response]) => {
        response.resume();
        await once(response, 'end');
      });
      return { sending, answer };
    };
    const finish = ({ sending, answer }: ReturnType<typeof begin>) => {
      sending.end('}');
      return answer;
    };
    const late = begin(other);
    await once(late.sending, 'socket');
    discord.faults.limitEvery(1, { retryAfterMs: 60_000 });
    await finish(begin(line));
    await delay(50);
    await finish(late);
    expect(early()).toEqual([]);
    await finish(begin(line));
    expect(early()).toHaveLength(1);
    for (const agent of lines) agent.destroy();
  });

  it('resumes a dropped session with missed events', async () => {
    const heard = new Promise((resolve) =>
      client.once(Events.MessageCreate, (message) => resolve(message.content)),
    );
    discord.gateway.drop();
    discord.mention({ text: 'still there?' });
    expect(await heard).toBe(`<@${discord.applicationId}> still there?`);
    expect(discord.gateway).toMatchObject({ resumes: 1, identifies: 1, closed: [] });
  });

  it('hides the content of messages that do not mention the bot', async () => {
    const heard: string[] = [];
    client.on(Events.MessageCreate, (message) => heard.push(message.content));
    discord.say({ text: 'secret' });
    discord.say({ text: 'to you', channel: discord.directChannel() });
    await expect.poll(() => heard).toEqual(['', 'to you']);
  });

  it('refuses invalid commands', async () => {
    const set = (command: object) =>
      client.rest.put(Routes.applicationCommands(discord.applicationId), { body: [command] });
    for (const command of [
      { ...PING, name: 'Ping' },
      { ...PING, description: '' },
      {
        ...PING,
        options: [
          { type: 3, name: 'a', description: 'a' },
          { type: 3, name: 'b', description: 'b', required: true },
        ],
      },
      {
        ...PING,
        options: Array.from({ length: 26 }, (_, n) => ({ type: 3, name: `o${n}`, description: 'o' })),
      },
      {
        ...PING,
        options: [
          {
            type: 3,
            name: 'c',
            description: 'c',
            choices: Array.from({ length: 26 }, (_, n) => ({ name: `${n}`, value: `${n}` })),
          },
        ],
      },
    ]) {
      await expect(set(command)).rejects.toMatchObject({ code: 50_035 });
    }
    expect(discord.registrations.count).toBe(1);
  });
});
