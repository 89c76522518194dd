import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Address } from '../../../src/core/invocation.ts';
import { LINKED_FILES_SENTENCE } from '../../../src/core/message.ts';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { passIdentifyPause } from '../../servers/discord/identify-pause.ts';
import { buttonsOf, type DiscordServer } from '../../servers/discord/index.ts';
import { accept, COMMANDS, type Harness, type HarnessOptions, Remembered, startHarness } from './harness.ts';

/** Timers that are over at once, but still let everything else run in between. */
const impatient = (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = globalThis.setTimeout(resolve, Math.min(milliseconds, 15));
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      resolve();
    });
  });

let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness(options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const nothingRefused = (discord: DiscordServer) => expect(discord.refused).toEqual([]);
const inChannel = (discord: DiscordServer): Address => ({
  platform: 'discord',
  channel: discord.channel.id,
  guild: discord.guild.id,
  person: discord.user.id,
});

/** The bot answers what it is asked next when this is called with the answer. */
function answersLater(bot: Harness['bot']): (outcome: Outcome) => void {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  bot.answer = () => promise;
  return resolve;
}

describe('a slow bot', () => {
  it('is acknowledged for when its work is stored, and not before', async () => {
    const { discord, bot, platform } = await start({ sleep: impatient });
    const answer = answersLater(bot);
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    await discord.until(() => bot.invocations[0]);
    await setTimeout(50);
    expect(song.record.callback).toBeNull();
    answer({ type: 'accepted', job: 'j', begin: () => {} });
    expect(await song.acknowledged()).toBe(5);
    expect(song.ephemeral).toBe(false);
    await platform.show(
      bot.invocations[0]?.address ?? inChannel(discord),
      { text: 'Here' },
      new Remembered('j'),
    );
    expect((await song.response()).content).toBe('Here');
    nothingRefused(discord);
  });

  it('thinks privately about a command whose answers are private, and costs nothing', async () => {
    const { discord, bot } = await start({ sleep: impatient });
    const answer = answersLater(bot);
    const models = discord.command({ name: 'models show', moderator: true });
    expect(await models.acknowledged()).toBe(5);
    expect(models.ephemeral).toBe(true);
    answer({ type: 'message', visibility: 'person', message: { text: 'V5' } });
    expect((await models.response()).content).toBe('V5');
    nothingRefused(discord);
  });

  it('offers a form that came too late behind a button', async () => {
    const { discord, bot } = await start({ sleep: impatient });
    const options = COMMANDS[0]?.options ?? {};
    const form = { id: 'song', title: 'A song', submitLabel: 'Sing', options, initial: {} };
    const answer = answersLater(bot);
    const models = discord.command({ name: 'models show', moderator: true });
    await models.acknowledged();
    answer({ type: 'form', form });
    const offer = await models.message((message) => buttonsOf(message).length === 1);
    expect(offer.onlyFor).toBe(discord.user.id);
    bot.answer = async () => ({ type: 'form', form });
    expect((await discord.press('A song', offer).modal()).title).toBe('A song');
    expect(bot.invocations.at(-1)).toMatchObject({ command: 'song', options: {} });
    nothingRefused(discord);
  });

  it.each([
    ['after 3 seconds of work', 3_001, 0],
    ['3 seconds late', 0, 3_001],
  ])('starts nothing of what Discord says it did not answer: %s', async (_name, worked, late) => {
    const { discord, bot } = await start(late > 0 ? { sleep: impatient } : {});
    const ends: string[] = [];
    bot.answer = async () => {
      discord.advance(worked);
      return {
        type: 'accepted',
        job: 'j',
        begin: () => void ends.push('begun'),
        decline: async () => void ends.push('declined'),
      };
    };
    if (late > 0) discord.gateway.hold(() => discord.advance(late));
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    await discord.until(() => ends.length > 0 && ends, 'an end of the job');
    expect(ends).toEqual(['declined']);
    expect(discord.refused.map((refused) => refused.code)).toEqual([10_062]);
  });

  it('that answered is not heard a second time when a resumed session repeats what was asked', async () => {
    const { discord, bot } = await start({ sleep: impatient });
    bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'Not now.' } });
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    await song.response();
    discord.gateway.repeatInteraction();
    await discord.until(() => bot.invocations.length === 2);
    await discord.command({ name: 'song', options: { prompt: 'snow' } }).response();
    expect(song.messages).toHaveLength(1);
    expect(discord.said(discord.directChannel())).toEqual([]);
  });
});

describe('missing permissions', () => {
  it('to send: says which', async () => {
    const { discord, platform } = await start();
    discord.channel.denied.add('SendMessages');
    const shown = platform.show(inChannel(discord), { text: 'x' }, new Remembered('j'));
    await expect(shown).rejects.toThrow(PlatformError);
    await expect(shown).rejects.toMatchObject({
      code: 'gone',
      advice: expect.stringContaining('Send Messages'),
    });
  });

  it('to see the channel: says how to be let in', async () => {
    const { discord, platform } = await start();
    discord.channel.denied.add('ViewChannel');
    await expect(platform.show(inChannel(discord), { text: 'x' }, new Remembered('j'))).rejects.toMatchObject(
      {
        code: 'not-invited',
        advice: expect.stringContaining('View Channel'),
      },
    );
  });

  it('to attach files or embed: links and text instead', async () => {
    const { discord, platform, media } = await start();
    discord.channel.denied.add('AttachFiles').add('EmbedLinks');
    const file = media.keep('one', new Uint8Array([1, 2, 3]));
    const message = {
      title: 'Rain',
      fields: [{ name: 'Style', value: 'lofi' }],
      media: [{ kind: 'audio' as const, name: 'rain.mp3', source: { type: 'kept' as const, file } }],
    };
    await platform.show(inChannel(discord), message, new Remembered('j'));
    const [said] = discord.said();
    expect(said?.content).toBe(
      `**Rain**\nStyle: lofi\n[Listen: rain.mp3](<https://bot.example/files/one?signature=s>)\n\n-# ${LINKED_FILES_SENTENCE}\n\n-# I need Embed Links and Attach Files here to show this properly.`,
    );
  });

  it('to attach files: a text that would become one takes as many messages as it needs', async () => {
    const { discord, platform } = await start();
    discord.channel.denied.add('AttachFiles');
    const text = Array.from({ length: 2_000 }, (_, n) => `word${n}`).join(' ');
    await platform.show(inChannel(discord), { text }, new Remembered('j'));
    expect(
      discord
        .said()
        .map((message) => message.content)
        .join(' ')
        .replace(/\s+/g, ' '),
    ).toBe(`${text} -# I need Attach Files here to show this properly.`);
  });

  it('in the channel, while the interaction lives: its token carries the further messages', async () => {
    const { discord, bot, platform } = await start();
    const begun = accept(bot);
    discord.channel.denied.add('SendMessages');
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await begun;
    await platform.show(address, { text: 'word '.repeat(700) }, new Remembered('j'));
    expect(ask.messages).toHaveLength(2);
  });

  it('a deleted channel is gone', async () => {
    const { discord, platform } = await start();
    const address = { ...inChannel(discord), channel: '123456789012345678' };
    await expect(platform.show(address, { text: 'x' }, new Remembered('j'))).rejects.toMatchObject({
      code: 'gone',
    });
  });
});

describe('where only the person installed the bot', () => {
  it('everything goes by the interaction, and ends with it', async () => {
    const { discord, bot, platform } = await start();
    const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
    const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' }, channel });
    const { address } = await begun;
    const remembered = new Remembered('j');
    await platform.show(address, { text: 'word '.repeat(1_000), notify: 'ready' }, remembered);
    expect(ask.messages).toHaveLength(4);
    expect(ask.messages.at(-1)?.pinged).toEqual([discord.user.id]);
    nothingRefused(discord);
    discord.advance(16 * 60_000);
    await expect(platform.show(address, { text: 'later' }, remembered)).rejects.toMatchObject({
      code: 'gone',
      advice: expect.stringContaining("I'm not a member of this server"),
    });
    nothingRefused(discord);
  });
});

describe('bad days of Discord', () => {
  it('429 on every fifth request: everything arrives once, and no Retry-After is ignored', async () => {
    const { discord, bot, platform } = await start();
    discord.faults.limitEvery(5);
    for (let round = 0; round < 6; round += 1) {
      const begun = accept(bot);
      const ask = discord.command({ name: 'ask', options: { question: `${round}` } });
      const { address } = await begun;
      const remembered = new Remembered(`j${round}`);
      await platform.show(address, { text: 'Working' }, remembered);
      await platform.show(address, { text: `${'word '.repeat(700)}end${round}` }, remembered);
      expect(ask.original?.content).toMatch(/^word/);
    }
    expect(discord.said()).toHaveLength(12);
    expect(discord.faults.limited.length).toBeGreaterThan(3);
    nothingRefused(discord);
  });

  it('5xx after the message was taken: it is shown once', async () => {
    const { discord, platform } = await start();
    discord.faults.fail(502, { times: 2, path: /^POST \/channels/, afterTaking: true });
    await platform.show(inChannel(discord), { text: 'once' }, new Remembered('j'));
    expect(discord.said().map((message) => message.content)).toEqual(['once']);
    nothingRefused(discord);
  });

  it('a process that dies between two messages of one answer: the id of each is stored before the next is posted', async () => {
    const { discord, platform } = await start();
    const stored: number[] = [];
    const remember = async () => void stored.push(discord.said().length);
    const text = Array.from({ length: 900 }, (_, n) => `word${n}`).join(' ');
    await platform.show(inChannel(discord), { text }, { key: 'j', remember });
    expect(discord.said().length).toBeGreaterThan(2);
    expect(stored.slice(0, 2)).toEqual([1, 2]);
    nothingRefused(discord);
  });

  it('5xx after an acknowledgement or a reply was taken: it counts as taken', async () => {
    const { discord, bot } = await start();
    const begun = accept(bot);
    discord.faults.fail(502, { path: /^POST \/interactions/, afterTaking: true });
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    await begun;
    bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'No.' } });
    discord.faults.fail(502, { path: /^POST \/interactions/, afterTaking: true });
    const answer = await discord.command({ name: 'song', options: { prompt: 'rain' } }).response();
    expect(answer.content).toBe('No.');
    await discord.until(() => discord.refused.length === 2);
    expect(discord.refused.map((refused) => refused.code)).toEqual([40_060, 40_060]);
    expect(discord.said(discord.directChannel())).toEqual([]);
  });

  it('a connection that breaks before or after an acknowledgement was taken: it is asked again', async () => {
    const { discord, bot } = await start();
    const broken = ['dropped', 'answer lost'] as const;
    let calls = 0;
    discord.faults.decide = (request) => (request.includes('interactions') ? broken[calls++] : undefined);
    const begun = accept(bot);
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    await begun;
    expect(await song.acknowledged()).toBe(5);
    expect(calls).toBe(3);
  });

  it('5xx when the person is mentioned: they are mentioned once, with the next try', async () => {
    const { discord, platform } = await start();
    const remembered = new Remembered('j');
    const done = { text: 'Here it is', notify: 'ready' as const };
    await platform.show(inChannel(discord), { text: 'Working' }, remembered);
    discord.faults.fail(503, { times: 4, path: /^POST .channels/ });
    await expect(platform.show(inChannel(discord), done, remembered)).rejects.toMatchObject({
      code: 'unavailable',
    });
    discord.faults.fail(503, { path: /^POST .channels/, afterTaking: true });
    for (let time = 0; time < 3; time += 1) await platform.show(inChannel(discord), done, remembered);
    expect(discord.said().flatMap(({ pinged }) => pinged)).toEqual([discord.user.id]);
    expect(discord.said()).toHaveLength(2);
    nothingRefused(discord);
  });

  it('5xx after each try to mention the person was taken: they are mentioned once, however often it is shown', async () => {
    const { discord, platform } = await start();
    const remembered = new Remembered('j');
    const done = { text: 'Here it is', notify: 'ready' as const };
    await platform.show(inChannel(discord), { text: 'Working' }, remembered);
    discord.faults.fail(503, { times: 4, path: /^POST .channels/, afterTaking: true });
    await expect(platform.show(inChannel(discord), done, remembered)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await platform.show(inChannel(discord), done, remembered);
    // Discord has forgotten the nonce by then.
    discord.advance(60 * 60_000);
    await platform.show(inChannel(discord), done, remembered);
    expect(discord.said().flatMap(({ pinged }) => pinged)).toEqual([discord.user.id]);
    nothingRefused(discord);
  });

  it('AutoMod blocks a message: the sentence names AutoMod', async () => {
    const { discord, platform } = await start();
    // https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
    const body = { message: 'Message was blocked by automatic moderation', code: 200_000 };
    discord.faults.fail(400, { path: /^POST .channels/, body });
    await expect(platform.show(inChannel(discord), { text: 'x' }, new Remembered('j'))).rejects.toMatchObject(
      { code: 'refused', advice: expect.stringContaining('AutoMod') },
    );
  });

  it('a proxy answers with a page: the port reports that it may work later', async () => {
    const { discord, platform } = await start();
    discord.faults.fail(403, { path: /^POST .channels/, body: '<html>Attention Required!</html>' });
    const remembered = new Remembered('j');
    await expect(platform.show(inChannel(discord), { text: 'x' }, remembered)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await platform.show(inChannel(discord), { text: 'x' }, remembered);
    expect(discord.said()).toHaveLength(1);
  });

  it('5xx that do not end: the port hears that it may work later, and then it does', async () => {
    const { discord, platform } = await start();
    discord.faults.fail(503, { times: 4 });
    const remembered = new Remembered('j');
    await expect(platform.show(inChannel(discord), { text: 'x' }, remembered)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await platform.show(inChannel(discord), { text: 'x' }, remembered);
    expect(discord.said()).toHaveLength(1);
    nothingRefused(discord);
  });

  it('a dropped connection: what was asked meanwhile arrives', async () => {
    const { discord } = await start();
    discord.gateway.drop();
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    expect((await song.response()).content).toBe('Done.');
    expect(discord.gateway.resumes).toBe(1);
    nothingRefused(discord);
  });

  it('a dropped connection of a bot that is closed: it connects no more', async () => {
    const { discord, platform } = await start();
    discord.gateway.drop();
    await expect.poll(() => platform.status().ready).toBe(false);
    await platform.close();
    // discord.js connects again after half a second.
    await setTimeout(1_000);
    expect(discord.gateway).toMatchObject({ connected: 0, resumes: 0, identifies: 1 });
  });

  it('an invalidated session: it identifies again', async () => {
    const { discord, platform } = await start();
    passIdentifyPause();
    discord.gateway.invalidate();
    await discord.until(
      () => discord.gateway.identifies === 2 && discord.gateway.connected === 1,
      'a second session',
    );
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    expect((await song.response()).content).toBe('Done.');
    expect(platform.status()).toEqual({ ready: true });
    nothingRefused(discord);
  });

  it('Discord away at the start: the bot says so, keeps trying, and comes', async () => {
    const { discord, bot, platform } = await start({ idle: true, sleep: impatient });
    discord.faults.fail(503, { times: 12, path: /gateway/ });
    expect(platform.status()).toEqual({ ready: false, reason: 'not started' });
    await platform.start(bot);
    expect(platform.status()).toMatchObject({ ready: false });
    await expect.poll(() => platform.status()).toEqual({ ready: true });
    nothingRefused(discord);
  });

  it('a revoked token: the bot stays up and says so, and comes back with the token', async () => {
    const { discord, platform } = await start({ sleep: impatient });
    expect(platform.status()).toEqual({ ready: true });
    discord.gateway.revoke();
    await expect
      .poll(() => platform.status())
      .toMatchObject({
        ready: false,
        reason: expect.stringContaining('Discord rejected the token'),
      });
    await expect(platform.show(inChannel(discord), { text: 'x' }, new Remembered('j'))).rejects.toMatchObject(
      { code: 'unavailable' },
    );
    discord.gateway.token = discord.token;
    await expect.poll(() => platform.status()).toEqual({ ready: true });
    await platform.show(inChannel(discord), { text: 'x' }, new Remembered('j'));
    expect(discord.said()).toHaveLength(1);
  });
});

describe('a process that dies after it answered, before it stored which message that is', () => {
  it('leaves a message that the next one finds by its buttons, when the interaction is over', async () => {
    const { discord, bot, platform, another } = await start();
    const begun = accept(bot);
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    const { address } = await begun;
    const cancel = { type: 'action', id: 'song.cancel:0123456789abcdef0123:0', label: 'Cancel' } as const;
    const key = '0123456789abcdef0123';
    await platform.show(address, { title: 'Composing', actions: [cancel] }, new Remembered(key));
    discord.say({ text: 'How long does it take?' });
    discord.advance(20 * 60_000);
    const options = Object.assign(new Remembered(key), { mayHavePosted: true });
    await (await another()).show(address, { title: 'Rain' }, options);
    expect(discord.said().map(({ embeds }) => embeds[0]?.title)).toEqual(['Rain']);
    nothingRefused(discord);
  });
});

describe('streaming', () => {
  it('shows the newest text with few edits, and always the last', async () => {
    const { discord, bot, platform } = await start({ sleep: impatient });
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await begun;
    const stream = platform.stream(address, new Remembered('j'));
    let text = '';
    for (let word = 0; word < 200; word += 1) {
      text += `word${word} `;
      stream.update(() => ({ text }));
      if (word % 40 === 0) await discord.until(() => ask.original?.content.includes(`word${word}`));
    }
    await stream.close({
      text: `${text}end`,
      actions: [{ type: 'action', id: 'ask.again:j:0', label: 'Again' }],
    });
    expect(ask.original?.content).toBe(`${text}end`);
    expect(buttonsOf(ask.messages[0] ?? discord.say({ text: '' }))).toHaveLength(1);
    expect(ask.original?.history.length).toBeLessThan(20);
    expect(discord.said()).toHaveLength(1);
    nothingRefused(discord);
  });

  it('obeys the limits of edits, whatever comes', async () => {
    const { discord, bot, platform } = await start({ sleep: impatient });
    discord.faults.limitEdits(3, 250);
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await begun;
    const stream = platform.stream(address, new Remembered('j'));
    for (let step = 0; step < 10; step += 1) {
      stream.update(() => ({ text: `step ${step}` }));
      await discord.until(() => ask.original?.content === `step ${step}`);
    }
    await stream.close({ text: 'the end' });
    expect(ask.original?.content).toBe('the end');
    nothingRefused(discord);
  });

  it('spreads edits as the headers of the interaction tell, not by a fixed pause', async () => {
    const asked: number[] = [];
    const sleep = (milliseconds: number, signal: AbortSignal) => {
      asked.push(milliseconds);
      return impatient(milliseconds, signal);
    };
    const { discord, bot, platform } = await start({ sleep });
    discord.faults.limitEdits(5, 60_000);
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const stream = platform.stream((await begun).address, new Remembered('j'));
    stream.update(() => ({ text: 'one' }));
    await discord.until(() => ask.original?.content === 'one');
    stream.update(() => ({ text: 'two' }));
    const spread = () => asked.find((milliseconds) => milliseconds > 10_000);
    await expect.poll(spread).toBeDefined();
    // A fifth of the minute, at most: the first of five edits is made.
    expect(spread()).toBeLessThanOrEqual(12_000);
    nothingRefused(discord);
  });

  it('goes on in further messages with fences closed and reopened, and becomes a file past a few', async () => {
    const { discord, bot, platform } = await start({ sleep: impatient });
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'code?' } });
    const { address } = await begun;
    const remembered = new Remembered('j');
    const stream = platform.stream(address, remembered);
    const code = (lines: number) =>
      `\`\`\`ts\n${Array.from({ length: lines }, (_, n) => `const line${n} = ${n};`).join('\n')}\n\`\`\``;
    stream.update(() => ({ text: code(120) }));
    await discord.until(() => discord.said().length === 2);
    for (const message of discord.said()) expect(message.content).toMatch(/^```ts\n[\s\S]*\n```$/);
    stream.update(() => ({ text: code(800) }));
    await discord.until(() => discord.said().at(-1)?.content.endsWith('The full text will be attached.'));
    await stream.close({ text: code(800) });
    expect(discord.said()).toEqual([ask.original]);
    expect(
      ask.original?.attachments.map(({ filename, bytes }) => [filename, Buffer.from(bytes).toString()]),
    ).toEqual([['answer.md', code(800)]]);
    nothingRefused(discord);
  });

  it('survives a dropped connection, a burst of errors and a dead token', async () => {
    const { discord, bot, platform } = await start({ sleep: impatient });
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await begun;
    const stream = platform.stream(address, new Remembered('j'));
    stream.update(() => ({ text: 'one' }));
    await discord.until(() => ask.original?.content === 'one');
    discord.gateway.drop();
    discord.faults.fail(500, { times: 6 });
    stream.update(() => ({ text: 'two' }));
    await discord.until(() => ask.original?.content === 'two');
    discord.advance(16 * 60_000);
    await stream.close({ text: 'three' });
    expect(ask.original?.content).toBe('three');
    expect(discord.said()).toHaveLength(1);
    nothingRefused(discord);
  });
});

describe('conversations', () => {
  it('begin with a mention and go on with replies', async () => {
    const { discord, bot, platform } = await start();
    bot.answer = async () => ({
      type: 'message',
      visibility: 'channel',
      message: { text: 'Because of **waves**.' },
    });
    const first = discord.mention({ text: 'why is the sea loud?' });
    const answer = await discord.until(() => discord.said()[0]);
    expect(answer).toMatchObject({ content: 'Because of **waves**.', replyTo: first.id, pinged: [] });
    discord.mention({
      text: 'and at night?',
      replyTo: answer,
      files: [{ filename: 'sea.png', contentType: 'image/png', bytes: new Uint8Array([1]) }],
    });
    await discord.until(() => discord.said().length === 2);
    expect(bot.invocations).toMatchObject([
      { id: first.id, command: 'ask', options: { question: 'why is the sea loud?' }, conversation: [] },
      {
        options: { question: 'and at night?', image: { name: 'sea.png', contentType: 'image/png' } },
        conversation: [
          { author: 'person', name: 'Ada', text: 'why is the sea loud?' },
          { author: 'bot', text: 'Because of **waves**.' },
        ],
      },
    ]);
    expect(platform.status()).toEqual({ ready: true });
    nothingRefused(discord);
  });

  it('need no mention in direct messages, and leave bots and other talk alone', async () => {
    const { discord, bot } = await start();
    const begun = accept(bot);
    discord.say({ text: 'not for the bot' });
    discord.mention({ text: 'from a bot', user: discord.world.addUser('other', { bot: true }) });
    discord.mention({ text: 'from a webhook', webhook: true });
    discord.say({ text: 'hello', channel: discord.directChannel() });
    expect(await begun).toMatchObject({
      options: { question: 'hello' },
      address: { channel: discord.directChannel().id, person: discord.user.id },
    });
    expect(bot.invocations).toHaveLength(1);
    nothingRefused(discord);
  });

  it('show their answer as a reply, once', async () => {
    const { discord, bot, platform } = await start();
    const begun = accept(bot);
    const asked = discord.mention({ text: 'sing' });
    const { address } = await begun;
    await platform.show(address, { text: 'la' }, { key: 'j', remember: async () => {} });
    await platform.show(address, { text: 'la la' }, { key: 'j', remember: async () => {} });
    expect(discord.said()).toMatchObject([{ content: 'la la', replyTo: asked.id, pinged: [] }]);
    nothingRefused(discord);
  });
});

it('takes nothing new after stop, and still shows what was taken', async () => {
  const { discord, bot, platform } = await start();
  const begun = accept(bot);
  const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
  const { address } = await begun;
  await platform.stop();
  expect(discord.gateway.connected).toBe(0);
  await platform.show(address, { text: 'Here' }, new Remembered('j'));
  expect((await song.response()).content).toBe('Here');
  expect(platform.status()).toEqual({ ready: false, reason: 'stopped' });
  nothingRefused(discord);
});
