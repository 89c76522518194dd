import { afterEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../../../src/core/invocation.ts';
import type { DiscordServer, StoredMessage } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, Remembered, startHarness } from '../harness.ts';

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
const nothingRefused = (discord: DiscordServer) => expect(discord.refused).toEqual([]);
const song = (media: Harness['media']) => ({
  title: 'Rain',
  fields: [{ name: 'Style', value: 'lofi' }],
  media: [1, 2].map((take) => ({
    kind: 'audio' as const,
    name: `rain-${take}.mp3`,
    source: { type: 'kept' as const, file: media.keep(`take ${take}`, new Uint8Array([take, 2, 3])) },
  })),
  notify: 'ready' as const,
});

/** Every kind of channel in which people may ask, and whether the bot's own token reaches it. */
const CHANNELS = [
  ['a channel', (d: DiscordServer) => d.channel, true],
  [
    'a thread',
    (d: DiscordServer) =>
      d.world.addChannel('aside', { type: 11, guildId: d.guild.id, parentId: d.channel.id }),
    true,
  ],
  [
    'a post of a forum',
    (d: DiscordServer) => {
      const forum = d.world.addChannel('help', { type: 15, guildId: d.guild.id });
      return d.world.addChannel('my post', { type: 11, guildId: d.guild.id, parentId: forum.id });
    },
    true,
  ],
  ['a direct message', (d: DiscordServer) => d.directChannel(), true],
  ['a group message', (d: DiscordServer) => d.world.addChannel('friends', { type: 3 }), false],
  [
    'a server where only the person installed it',
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

describe.each(CHANNELS)('%s', (_name, channelIn, isReached) => {
  it('gets a result with its files and the mention, early', async () => {
    const { discord, bot, media, platform } = await start();
    const channel = channelIn(discord);
    const begun = accept(bot);
    const asked = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
    const { address } = await begun;
    const remembered = new Remembered('j');
    await platform.show(
      address,
      { title: 'Composing', progress: { stage: 'Waiting', startedAt: 1 } },
      remembered,
    );
    await platform.show(address, song(media), remembered);
    const card = await asked.response();
    expect(card.attachments.map(({ filename }) => filename)).toEqual(['rain-1.mp3', 'rain-2.mp3']);
    expect(discord.said(channel).map(({ pinged }) => pinged)).toEqual([[], [discord.user.id]]);
    nothingRefused(discord);
  });

  it(
    isReached ? 'gets it in the same message, late' : 'is told what to do when it takes too long',
    async () => {
      const { discord, bot, media, platform } = await start();
      const channel = channelIn(discord);
      const begun = accept(bot);
      const asked = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
      const { address } = await begun;
      const remembered = new Remembered('j');
      await platform.show(address, { title: 'Composing' }, remembered);
      discord.advance(QUARTER);
      if (isReached) {
        await platform.show(address, song(media), remembered);
        expect(asked.original?.attachments).toHaveLength(2);
        expect(discord.said(channel)[0]).toBe(asked.original);
      } else {
        await expect(platform.show(address, song(media), remembered)).rejects.toMatchObject({
          code: 'gone',
          advice: expect.stringContaining("I'm not a member of this server"),
        });
        await platform.sendPrivately(address, song(media));
        expect(discord.said(discord.directChannel()).at(-1)?.attachments).toHaveLength(2);
      }
      nothingRefused(discord);
    },
  );
});

describe('the address', () => {
  it('tells the channel of a thread, and whether a guild was there', async () => {
    const { discord, bot } = await start();
    const seen: Invocation[] = [];
    for (const [, channelIn] of CHANNELS) {
      const begun = accept(bot);
      discord.command({ name: 'song', options: { prompt: 'rain' }, channel: channelIn(discord) });
      seen.push(await begun);
    }
    expect(seen.map(({ address }) => [address.guild !== undefined, address.parent !== undefined])).toEqual([
      [true, false],
      [true, true],
      [true, true],
      [false, false],
      [false, false],
      [true, false],
      [true, false],
    ]);
    nothingRefused(discord);
  });
});

describe('a thread that was archived meanwhile', () => {
  async function archived(options: { locked: boolean }) {
    const some = await start();
    const { discord, bot, media, platform } = some;
    const thread = discord.world.addChannel('aside', {
      type: 11,
      guildId: discord.guild.id,
      parentId: discord.channel.id,
    });
    const begun = accept(bot);
    const asked = discord.command({ name: 'song', options: { prompt: 'rain' }, channel: thread });
    const { address } = await begun;
    const remembered = new Remembered('j');
    await platform.show(address, { title: 'Composing' }, remembered);
    discord.advance(QUARTER);
    Object.assign(thread, { archived: true, ...options });
    return { discord, asked, shown: platform.show(address, song(media), remembered) };
  }

  it('is opened again, and what was begun there is finished there', async () => {
    const { discord, asked, shown } = await archived({ locked: false });
    await shown;
    expect(asked.original?.attachments).toHaveLength(2);
    expect(discord.refused.map(({ code }) => code)).toEqual([50_083]);
  });

  it('and locked says why the result comes elsewhere', async () => {
    const { shown } = await archived({ locked: true });
    await expect(shown).rejects.toMatchObject({
      code: 'gone',
      advice: "I couldn't finish this in the thread because it's archived and locked.",
    });
  });
});

it('where the bot is no member, what is being made tells that it may come elsewhere', async () => {
  const { discord, bot, platform } = await start();
  const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
  const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
  const begun = accept(bot);
  const asked = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
  const { address } = await begun;
  const remembered = new Remembered('j');
  const told = () =>
    JSON.stringify(asked.original?.embeds).includes("I'll send you the result as a direct message");
  await platform.show(
    address,
    { title: 'Composing', progress: { stage: 'Waiting', startedAt: 1 } },
    remembered,
  );
  expect(told()).toBe(true);
  await platform.show(address, { title: 'Rain', text: 'Here' }, remembered);
  expect(told()).toBe(false);
  nothingRefused(discord);
});

describe('a follow-up without an answer', () => {
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

  async function asking() {
    const some = await start();
    const { discord, bot } = some;
    const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
    const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
    const begun = accept(bot);
    const asked = discord.command({ name: 'ask', options: { question: 'why?' }, channel });
    return { ...some, asked, address: (await begun).address };
  }

  it.each([
    ['arrived', true, 2],
    ['did not arrive', false, 1],
  ])(
    'that %s: all the words are in the first message, and none is sent twice',
    async (_name, afterTaking, expected) => {
      const { discord, platform, asked, address } = await asking();
      discord.faults.fail(502, { path: /^POST \/webhooks/, afterTaking });
      const remembered = new Remembered('j');
      await platform.show(address, { text: LONG }, remembered);
      await platform.show(address, { text: LONG }, remembered);
      expect(asked.messages).toHaveLength(expected);
      expect(asked.original?.attachments.map(({ filename }) => filename)).toEqual(['answer.md']);
      expect(wordsOf([asked.original as StoredMessage]).size).toBe(500);
      expect(discord.requests.filter((request) => /^POST \/webhooks/.test(request))).toHaveLength(1);
      nothingRefused(discord);
    },
  );

  it('because the process died: the next one does not send it again', async () => {
    const { discord, platform, asked, address, another } = await asking();
    let posted: Remembered['posted'];
    let times = 0;
    const dies = {
      key: 'j',
      remember: async (latest: NonNullable<typeof posted>) => {
        times += 1;
        // The third time is after the follow-up went out.
        if (times === 3) throw new Error('killed');
        posted = latest;
      },
    };
    await expect(platform.show(address, { text: LONG }, dies)).rejects.toThrow('killed');
    expect(asked.messages).toHaveLength(2);
    const next = await another();
    await next.show(address, { text: LONG }, { key: 'j', posted, remember: async () => {} });
    expect(asked.messages).toHaveLength(2);
    expect(wordsOf([asked.original as StoredMessage]).size).toBe(500);
    nothingRefused(discord);
  });

  it('is no reason to mention somebody twice', async () => {
    const { discord, platform, asked, address } = await asking();
    const remembered = new Remembered('j');
    await platform.show(address, { text: 'short' }, remembered);
    discord.faults.fail(502, { path: /^POST \/webhooks/, afterTaking: true });
    for (let time = 0; time < 3; time += 1)
      await platform.show(address, { text: 'short', notify: 'ready' }, remembered);
    expect(asked.messages.flatMap(({ pinged }) => pinged)).toEqual([discord.user.id]);
    nothingRefused(discord);
  });
});

describe('permissions', () => {
  it('that are missing are named, and no others', async () => {
    const { discord, bot, platform } = await start();
    discord.channel.denied.add('SendMessages');
    const begun = accept(bot);
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    const { address } = await begun;
    discord.advance(QUARTER);
    await expect(platform.show(address, { text: 'x' }, new Remembered('j'))).rejects.toMatchObject({
      code: 'gone',
      advice: "I can't answer properly in that channel. Ask a moderator to grant me Send Messages.",
    });
  });

  it.each([
    [['AttachFiles'], 'Attach Files', { embeds: 1, files: 0 }],
    [['EmbedLinks'], 'Embed Links', { embeds: 0, files: 2 }],
    [['EmbedLinks', 'AttachFiles'], 'Embed Links and Attach Files', { embeds: 0, files: 0 }],
  ] as const)(
    '%s that were never given are known, and nothing is tried in vain',
    async (denied, named, shown) => {
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
      await platform.show(address, quiet, new Remembered('j'));
      const [said] = discord.said();
      expect([said?.embeds.length, said?.attachments.length]).toEqual([shown.embeds, shown.files]);
      const words = [said?.content, said?.embeds[0]?.description].join('\n');
      expect(words).toContain(`I need ${named} here to show this properly.`);
      nothingRefused(discord);
    },
  );

  it('to write that were never given make no request, and a sentence that names them', async () => {
    const { discord, platform } = await start({
      prepare: (server) => server.channel.denied.add('SendMessages').add('ViewChannel'),
    });
    const address = {
      platform: 'discord',
      guild: discord.guild.id,
      channel: discord.channel.id,
      person: discord.user.id,
    };
    await expect(platform.show(address, { text: 'x' }, new Remembered('j'))).rejects.toMatchObject({
      code: 'gone',
      advice: expect.stringContaining('View Channel and Send Messages'),
    });
    nothingRefused(discord);
  });

  it('for a mention are those for commands: who may use none there is not answered', async () => {
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
    const begun = accept(bot);
    discord.mention({ text: 'sing here', channel: other });
    expect((await begun).address.channel).toBe(other.id);
    expect(bot.invocations).toHaveLength(1);
    nothingRefused(discord);
  });
});

describe('completions', () => {
  it('that Discord does not take do no harm', async () => {
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
