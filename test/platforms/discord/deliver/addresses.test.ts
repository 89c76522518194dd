import { afterEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../../../src/core/invocation.ts';
import type { DiscordServer, StoredMessage } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, StoredPost, startHarness } from '../harness.ts';

let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness(options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const QUARTER = 15 * 60_000;
const expectNoRejections = (discord: DiscordServer) => expect(discord.refused).toEqual([]);
const song = (media: Harness['media']) => ({
  title: 'Rain',
  fields: [{ name: 'Style', value: 'lofi' }],
  media: [1, 2].map((take) => ({
    kind: 'audio' as const,
    name: `rain-${take}.mp3`,
    source: { type: 'stored' as const, file: media.keep(`take ${take}`, new Uint8Array([take, 2, 3])) },
  })),
  notify: 'ready' as const,
});

/** All kinds of channels, and whether the bot token can post there. */
const CHANNELS = [
  ['a channel', (d: DiscordServer) => d.channel, true],
  [
    'a thread',
    (d: DiscordServer) =>
      d.world.addChannel('aside', { type: 11, guildId: d.guild.id, parentId: d.channel.id }),
    true,
  ],
  [
    'a forum post',
    (d: DiscordServer) => {
      const forum = d.world.addChannel('help', { type: 15, guildId: d.guild.id });
      return d.world.addChannel('my post', { type: 11, guildId: d.guild.id, parentId: forum.id });
    },
    true,
  ],
  ['a direct message', (d: DiscordServer) => d.directChannel(), true],
  ['a group message', (d: DiscordServer) => d.world.addChannel('friends', { type: 3 }), false],
  [
    'a server with a user install',
    (d: DiscordServer) => {
      const elsewhere = d.world.addGuild('Elsewhere', { installed: false });
      return d.world.addChannel('general', { guildId: elsewhere.id });
    },
    false,
  ],
  [
    'an age-restricted channel',
    (d: DiscordServer) => d.world.addChannel('night', { guildId: d.guild.id, nsfw: true }),
    true,
  ],
] as const;

describe.each(CHANNELS)('%s', (_name, channelIn, hasAccess) => {
  it('receives an early result with its files and a mention', async () => {
    const { discord, bot, media, platform } = await start();
    const channel = channelIn(discord);
    const started = accept(bot);
    const command = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
    const { address } = await started;
    const post = new StoredPost('j');
    await platform.show(address, { title: 'Composing', progress: { stage: 'Waiting', startedAt: 1 } }, post);
    await platform.show(address, song(media), post);
    const card = await command.response();
    expect(card.attachments.map(({ filename }) => filename)).toEqual(['rain-1.mp3', 'rain-2.mp3']);
    expect(discord.botMessages(channel).map(({ pinged }) => pinged)).toEqual([[], [discord.user.id]]);
    expectNoRejections(discord);
  });

  it(
    hasAccess ? 'receives a late result in the same message' : 'receives a late result by direct message',
    async () => {
      const { discord, bot, media, platform } = await start();
      const channel = channelIn(discord);
      const started = accept(bot);
      const command = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
      const { address } = await started;
      const post = new StoredPost('j');
      await platform.show(address, { title: 'Composing' }, post);
      discord.advance(QUARTER);
      if (hasAccess) {
        await platform.show(address, song(media), post);
        expect(command.original?.attachments).toHaveLength(2);
        expect(discord.botMessages(channel)[0]).toBe(command.original);
      } else {
        await expect(platform.show(address, song(media), post)).rejects.toMatchObject({
          code: 'gone',
          advice: expect.stringContaining("I'm not a member of"),
        });
        await platform.sendPrivately(address, song(media));
        expect(discord.botMessages(discord.directChannel()).at(-1)?.attachments).toHaveLength(2);
      }
      expectNoRejections(discord);
    },
  );
});

describe('an address', () => {
  it('includes the parent of a thread, and the guild', async () => {
    const { discord, bot } = await start();
    const invocations: Invocation[] = [];
    for (const [, channelIn] of CHANNELS) {
      const started = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' }, channel: channelIn(discord) });
      invocations.push(await started);
    }
    expect(
      invocations.map(({ address }) => [address.guild !== undefined, address.parent !== undefined]),
    ).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, false],
      [false, false],
      [true, false],
      [true, false],
    ]);
    expectNoRejections(discord);
  });
});

describe('a thread that was archived in the meantime', () => {
  async function showInArchived(options: { locked: boolean }) {
    const { discord, bot, media, platform } = await start();
    const thread = discord.world.addChannel('aside', {
      type: 11,
      guildId: discord.guild.id,
      parentId: discord.channel.id,
    });
    const started = accept(bot);
    const command = discord.command({ name: 'song', options: { prompt: 'rain' }, channel: thread });
    const { address } = await started;
    const post = new StoredPost('j');
    await platform.show(address, { title: 'Composing' }, post);
    discord.advance(QUARTER);
    Object.assign(thread, { archived: true, ...options });
    return { discord, command, shown: platform.show(address, song(media), post) };
  }

  it('is reopened to show the result', async () => {
    const { discord, command, shown } = await showInArchived({ locked: false });
    await shown;
    expect(command.original?.attachments).toHaveLength(2);
    expect(discord.refused.map(({ code }) => code)).toEqual([50_083]);
  });

  it('and locked is named as the reason', async () => {
    const { shown } = await showInArchived({ locked: true });
    await expect(shown).rejects.toMatchObject({
      code: 'gone',
      advice: 'That thread is archived and locked. Ask a moderator to unlock it, or use the channel.',
    });
  });
});

it('where the bot is not a member, progress mentions that the result may arrive by direct message', async () => {
  const { discord, bot, platform } = await start();
  const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
  const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
  const started = accept(bot);
  const command = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
  const { address } = await started;
  const post = new StoredPost('j');
  const showsNote = () =>
    JSON.stringify(command.original?.embeds).includes("I'll send you the result as a direct message");
  await platform.show(address, { title: 'Composing', progress: { stage: 'Waiting', startedAt: 1 } }, post);
  expect(showsNote()).toBe(true);
  await platform.show(address, { title: 'Rain', text: 'Here' }, post);
  expect(showsNote()).toBe(false);
  expectNoRejections(discord);
});

describe('a follow-up without a response', () => {
  const LONG = Array.from({ length: 500 }, (_, n) => `word${n}`).join(' ');
  const wordsOf = (messages: readonly StoredMessage[]) =>
    new Set(
      messages
        .flatMap(({ content, attachments }) => [
          content,
          ...attachments.map(({ bytes }) => Buffer.from(bytes).toString()),
        ])
        .join(' ')
        .match(/word\d+/g),
    );

  async function askInChannel() {
    const harness = await start();
    const { discord, bot } = harness;
    const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
    const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
    const started = accept(bot);
    const command = discord.command({ name: 'ask', options: { question: 'why?' }, channel });
    return { ...harness, command, address: (await started).address };
  }

  it.each([
    ['arrived', true, 2],
    ['did not arrive', false, 1],
  ])(
    'that %s: moves the whole text to the first message, and sends nothing twice',
    async (_name, afterTaking, expected) => {
      const { discord, platform, command, address } = await askInChannel();
      discord.faults.fail(502, { path: /^POST \/webhooks/, afterTaking });
      const post = new StoredPost('j');
      await platform.show(address, { text: LONG }, post);
      await platform.show(address, { text: LONG }, post);
      expect(command.messages).toHaveLength(expected);
      expect(command.original?.attachments.map(({ filename }) => filename)).toEqual(['answer.md']);
      expect(wordsOf([command.original as StoredMessage]).size).toBe(500);
      expect(discord.requests.filter((request) => /^POST \/webhooks/.test(request))).toHaveLength(1);
      expectNoRejections(discord);
    },
  );

  it('is not sent again after a crash', async () => {
    const { discord, platform, command, address, another } = await askInChannel();
    let posted: StoredPost['posted'];
    let times = 0;
    const crashing = {
      key: 'j',
      remember: async (latest: NonNullable<typeof posted>) => {
        times += 1;
        // The third call comes after the follow-up.
        if (times === 3) throw new Error('killed');
        posted = latest;
      },
    };
    await expect(platform.show(address, { text: LONG }, crashing)).rejects.toThrow('killed');
    expect(command.messages).toHaveLength(2);
    const next = await another();
    await next.show(address, { text: LONG }, { key: 'j', posted, remember: async () => {} });
    expect(command.messages).toHaveLength(2);
    expect(wordsOf([command.original as StoredMessage]).size).toBe(500);
    expectNoRejections(discord);
  });

  it('does not cause a second mention', async () => {
    const { discord, platform, command, address } = await askInChannel();
    const post = new StoredPost('j');
    await platform.show(address, { text: 'short' }, post);
    discord.faults.fail(502, { path: /^POST \/webhooks/, afterTaking: true });
    for (let time = 0; time < 3; time += 1)
      await platform.show(address, { text: 'short', notify: 'ready' }, post);
    expect(command.messages.flatMap(({ pinged }) => pinged)).toEqual([discord.user.id]);
    expectNoRejections(discord);
  });
});

describe('missing permissions', () => {
  it('are named exactly', async () => {
    const { discord, bot, platform } = await start();
    discord.channel.denied.add('SendMessages');
    const started = accept(bot);
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    const { address } = await started;
    discord.advance(QUARTER);
    await expect(platform.show(address, { text: 'x' }, new StoredPost('j'))).rejects.toMatchObject({
      code: 'gone',
      advice: "I can't answer properly in that channel. Ask a moderator to grant me Send Messages.",
    });
  });

  it.each([
    [['AttachFiles'], 'Attach Files', { embeds: 1, files: 0 }],
    [['EmbedLinks'], 'Embed Links', { embeds: 0, files: 2 }],
    [['EmbedLinks', 'AttachFiles'], 'Embed Links and Attach Files', { embeds: 0, files: 0 }],
  ] as const)(
    'without %s, the bot sends a plainer message immediately',
    async (denied, permissions, expected) => {
      const { discord, media, platform } = await start({
        prepare: (server) => {
          for (const name of denied) server.channel.denied.add(name);
        },
      });
      const address = {
        platform: 'discord',
        guild: discord.guild.id,
        channel: discord.channel.id,
        person: discord.user.id,
      };
      const { notify: _, ...quiet } = song(media);
      await platform.show(address, quiet, new StoredPost('j'));
      const [message] = discord.botMessages();
      expect([message?.embeds.length, message?.attachments.length]).toEqual([
        expected.embeds,
        expected.files,
      ]);
      const text = [message?.content, message?.embeds[0]?.description].join('\n');
      expect(text).toContain(`I can't show this properly here. Ask a moderator to grant me ${permissions}.`);
      expectNoRejections(discord);
    },
  );

  it('to write are named without sending a request', async () => {
    const { discord, platform } = await start({
      prepare: (server) => server.channel.denied.add('SendMessages').add('ViewChannel'),
    });
    const address = {
      platform: 'discord',
      guild: discord.guild.id,
      channel: discord.channel.id,
      person: discord.user.id,
    };
    await expect(platform.show(address, { text: 'x' }, new StoredPost('j'))).rejects.toMatchObject({
      code: 'gone',
      advice: expect.stringContaining('View Channel and Send Messages'),
    });
    expectNoRejections(discord);
  });

  it('for commands also apply to mentions', async () => {
    const { discord, bot } = await start({
      prepare: (server) => server.channel.deniedToPeople.add('UseApplicationCommands'),
    });
    discord.mention({ text: 'sing' });
    const thread = discord.world.addChannel('aside', {
      type: 11,
      guildId: discord.guild.id,
      parentId: discord.channel.id,
    });
    discord.mention({ text: 'sing', channel: thread });
    const other = discord.world.addChannel('bots', { guildId: discord.guild.id });
    const started = accept(bot);
    discord.mention({ text: 'sing here', channel: other });
    expect((await started).address.channel).toBe(other.id);
    expect(bot.invocations).toHaveLength(1);
    expectNoRejections(discord);
  });
});

describe('autocomplete', () => {
  it('tolerates suggestions that Discord rejects', async () => {
    const { discord, bot, log } = await start();
    bot.choices = async () => [{ name: 'V5', value: 'V5' }];
    discord.faults.fail(503, { times: 4, path: /callback$/ });
    discord.autocomplete({ name: 'song', option: 'model', typed: 'V' }).catch(() => {});
    await expect
      .poll(() => log.filter(({ sentence }) => sentence === 'Could not send autocomplete suggestions'))
      .toHaveLength(1);
    expect(log.filter(({ level }) => level === 'error')).toEqual([]);
  });
});
