import { setTimeout } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Outcome } from '../../../src/core/bot/outcome.ts';
import type { Address } from '../../../src/core/invocation.ts';
import { LINKED_FILES_SENTENCE } from '../../../src/core/message.ts';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { passIdentifyPause } from '../../servers/discord/identify-pause.ts';
import { buttonsOf, type DiscordServer } from '../../servers/discord/index.ts';
import { accept, COMMANDS, type Harness, type HarnessOptions, StoredPost, startHarness } from './harness.ts';

/** Sleeps briefly, so that other work can run in between. */
const shortSleep = (milliseconds: number, signal: AbortSignal): Promise<void> =>
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

const expectNoRejections = (discord: DiscordServer) => expect(discord.refused).toEqual([]);
const addressIn = (discord: DiscordServer): Address => ({
  platform: 'discord',
  channel: discord.channel.id,
  guild: discord.guild.id,
  person: discord.user.id,
});

/** Delays the bot's answer. Call the returned function to send it. */
function delayAnswer(bot: Harness['bot']): (outcome: Outcome) => void {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  bot.answer = () => promise;
  return resolve;
}

describe('a slow bot', () => {
  it('acknowledges a command only after its job is stored', async () => {
    const { discord, bot, platform } = await start({ sleep: shortSleep });
    const answer = delayAnswer(bot);
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    await discord.until(() => bot.invocations[0]);
    await setTimeout(50);
    expect(song.record.callback).toBeNull();
    answer({ type: 'accepted', job: 'j', begin: () => {} });
    expect(await song.acknowledged()).toBe(5);
    expect(song.ephemeral).toBe(false);
    await platform.show(
      bot.invocations[0]?.address ?? addressIn(discord),
      { text: 'Here' },
      new StoredPost('j'),
    );
    expect((await song.response()).content).toBe('Here');
    expectNoRejections(discord);
  });

  it('defers privately for commands with private answers', async () => {
    const { discord, bot } = await start({ sleep: shortSleep });
    const answer = delayAnswer(bot);
    const models = discord.command({ name: 'models show', moderator: true });
    expect(await models.acknowledged()).toBe(5);
    expect(models.ephemeral).toBe(true);
    answer({ type: 'message', visibility: 'person', message: { text: 'V5' } });
    expect((await models.response()).content).toBe('V5');
    expectNoRejections(discord);
  });

  it('offers a button for a form that was ready too late', async () => {
    const { discord, bot } = await start({ sleep: shortSleep });
    const options = COMMANDS[0]?.options ?? {};
    const form = { id: 'song', title: 'A song', submitLabel: 'Sing', options, initial: {} };
    const answer = delayAnswer(bot);
    const models = discord.command({ name: 'models show', moderator: true });
    await models.acknowledged();
    answer({ type: 'form', form });
    const offer = await models.message((message) => buttonsOf(message).length === 1);
    expect(offer.onlyFor).toBe(discord.user.id);
    bot.answer = async () => ({ type: 'form', form });
    expect((await discord.press('A song', offer).modal()).title).toBe('A song');
    expect(bot.invocations.at(-1)).toMatchObject({ command: 'song', options: {} });
    expectNoRejections(discord);
  });

  it.each([
    ['after 3 seconds of work', 3_001, 0],
    ['after arriving 3 seconds late', 0, 3_001],
  ])('declines a job that Discord reports as unanswered: %s', async (_name, workMs, delayMs) => {
    const { discord, bot } = await start(delayMs > 0 ? { sleep: shortSleep } : {});
    const outcomes: string[] = [];
    bot.answer = async () => {
      discord.advance(workMs);
      return {
        type: 'accepted',
        job: 'j',
        begin: () => void outcomes.push('started'),
        decline: async () => void outcomes.push('declined'),
      };
    };
    if (delayMs > 0) discord.gateway.hold(() => discord.advance(delayMs));
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    await discord.until(() => outcomes.length > 0 && outcomes, 'the job to be declined');
    expect(outcomes).toEqual(['declined']);
    expect(discord.refused.map((refused) => refused.code)).toEqual([10_062]);
  });

  it('answers only once when a resumed session repeats an interaction', async () => {
    const { discord, bot } = await start({ sleep: shortSleep });
    bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'Not now.' } });
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    await song.response();
    discord.gateway.repeatInteraction();
    await discord.until(() => bot.invocations.length === 2);
    await discord.command({ name: 'song', options: { prompt: 'snow' } }).response();
    expect(song.messages).toHaveLength(1);
    expect(discord.botMessages(discord.directChannel())).toEqual([]);
  });
});

describe('missing permissions', () => {
  it('to send: names the permission', async () => {
    const { discord, platform } = await start();
    discord.channel.denied.add('SendMessages');
    const shown = platform.show(addressIn(discord), { text: 'x' }, new StoredPost('j'));
    await expect(shown).rejects.toThrow(PlatformError);
    await expect(shown).rejects.toMatchObject({
      code: 'gone',
      advice: expect.stringContaining('Send Messages'),
    });
  });

  it('to view the channel: explains how to grant access', async () => {
    const { discord, platform } = await start();
    discord.channel.denied.add('ViewChannel');
    await expect(platform.show(addressIn(discord), { text: 'x' }, new StoredPost('j'))).rejects.toMatchObject(
      {
        code: 'not-invited',
        advice: expect.stringContaining('View Channel'),
      },
    );
  });

  it('to attach files or embed links: sends links and text instead', async () => {
    const { discord, platform, media } = await start();
    discord.channel.denied.add('AttachFiles').add('EmbedLinks');
    const file = media.keep('one', new Uint8Array([1, 2, 3]));
    const message = {
      title: 'Rain',
      fields: [{ name: 'Style', value: 'lofi' }],
      media: [{ kind: 'audio' as const, name: 'rain.mp3', source: { type: 'stored' as const, file } }],
    };
    await platform.show(addressIn(discord), message, new StoredPost('j'));
    const [posted] = discord.botMessages();
    expect(posted?.content).toBe(
      `**Rain**\nStyle: lofi\n[Listen: rain.mp3](<https://bot.example/files/one?signature=s>)\n\n-# ${LINKED_FILES_SENTENCE}\n\n-# I can't show this properly here. Ask a moderator to grant me Embed Links and Attach Files.`,
    );
  });

  it('to attach files: sends a long text as several messages', async () => {
    const { discord, platform } = await start();
    discord.channel.denied.add('AttachFiles');
    const text = Array.from({ length: 2_000 }, (_, n) => `word${n}`).join(' ');
    await platform.show(addressIn(discord), { text }, new StoredPost('j'));
    expect(
      discord
        .botMessages()
        .map((message) => message.content)
        .join(' ')
        .replace(/\s+/g, ' '),
    ).toBe(`${text} -# I can't show this properly here. Ask a moderator to grant me Attach Files.`);
  });

  it("in the channel: uses the interaction's token for further messages", async () => {
    const { discord, bot, platform } = await start();
    const started = accept(bot);
    discord.channel.denied.add('SendMessages');
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await started;
    await platform.show(address, { text: 'word '.repeat(700) }, new StoredPost('j'));
    expect(ask.messages).toHaveLength(2);
  });

  it('reports a deleted channel as gone', async () => {
    const { discord, platform } = await start();
    const address = { ...addressIn(discord), channel: '123456789012345678' };
    await expect(platform.show(address, { text: 'x' }, new StoredPost('j'))).rejects.toMatchObject({
      code: 'gone',
    });
  });
});

describe('a user install', () => {
  it('sends everything with the interaction token until it expires', async () => {
    const { discord, bot, platform } = await start();
    const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
    const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' }, channel });
    const { address } = await started;
    const post = new StoredPost('j');
    await platform.show(address, { text: 'word '.repeat(1_000), notify: 'ready' }, post);
    expect(ask.messages).toHaveLength(4);
    expect(ask.messages.at(-1)?.pinged).toEqual([discord.user.id]);
    expectNoRejections(discord);
    discord.advance(16 * 60_000);
    await expect(platform.show(address, { text: 'later' }, post)).rejects.toMatchObject({
      code: 'gone',
      advice: expect.stringContaining("I'm not a member of"),
    });
    expectNoRejections(discord);
  });
});

describe('failures of Discord', () => {
  it('429 on every fifth request: sends everything once and respects Retry-After', async () => {
    const { discord, bot, platform } = await start();
    discord.faults.limitEvery(5);
    for (let round = 0; round < 6; round += 1) {
      const started = accept(bot);
      const ask = discord.command({ name: 'ask', options: { question: `${round}` } });
      const { address } = await started;
      const post = new StoredPost(`j${round}`);
      await platform.show(address, { text: 'Working' }, post);
      await platform.show(address, { text: `${'word '.repeat(700)}end${round}` }, post);
      expect(ask.original?.content).toMatch(/^word/);
    }
    expect(discord.botMessages()).toHaveLength(12);
    expect(discord.faults.limited.length).toBeGreaterThan(3);
    expectNoRejections(discord);
  });

  it('5xx after a message was accepted: shows it once', async () => {
    const { discord, platform } = await start();
    discord.faults.fail(502, { times: 2, path: /^POST \/channels/, afterTaking: true });
    await platform.show(addressIn(discord), { text: 'once' }, new StoredPost('j'));
    expect(discord.botMessages().map((message) => message.content)).toEqual(['once']);
    expectNoRejections(discord);
  });

  it('a crash between two messages of an answer: stores each id before the next post', async () => {
    const { discord, platform } = await start();
    const stored: number[] = [];
    const remember = async () => void stored.push(discord.botMessages().length);
    const text = Array.from({ length: 900 }, (_, n) => `word${n}`).join(' ');
    await platform.show(addressIn(discord), { text }, { key: 'j', remember });
    expect(discord.botMessages().length).toBeGreaterThan(2);
    expect(stored.slice(0, 2)).toEqual([1, 2]);
    expectNoRejections(discord);
  });

  it('5xx after an acknowledgement or reply was accepted: treats it as accepted', async () => {
    const { discord, bot } = await start();
    const started = accept(bot);
    discord.faults.fail(502, { path: /^POST \/interactions/, afterTaking: true });
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    await started;
    bot.answer = async () => ({ type: 'message', visibility: 'person', message: { text: 'No.' } });
    discord.faults.fail(502, { path: /^POST \/interactions/, afterTaking: true });
    const answer = await discord.command({ name: 'song', options: { prompt: 'rain' } }).response();
    expect(answer.content).toBe('No.');
    await discord.until(() => discord.refused.length === 2);
    expect(discord.refused.map((refused) => refused.code)).toEqual([40_060, 40_060]);
    expect(discord.botMessages(discord.directChannel())).toEqual([]);
  });

  it('a broken connection before or after an acknowledgement: retries it', async () => {
    const { discord, bot } = await start();
    const broken = ['dropped', 'answer lost'] as const;
    let calls = 0;
    discord.faults.decide = (request) => (request.includes('interactions') ? broken[calls++] : undefined);
    const started = accept(bot);
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    await started;
    expect(await song.acknowledged()).toBe(5);
    expect(calls).toBe(3);
  });

  it('5xx for a mention: mentions the person once, on the next attempt', async () => {
    const { discord, platform } = await start();
    const post = new StoredPost('j');
    const result = { text: 'Here it is', notify: 'ready' as const };
    await platform.show(addressIn(discord), { text: 'Working' }, post);
    discord.faults.fail(503, { times: 4, path: /^POST .channels/ });
    await expect(platform.show(addressIn(discord), result, post)).rejects.toMatchObject({
      code: 'unavailable',
    });
    discord.faults.fail(503, { path: /^POST .channels/, afterTaking: true });
    for (let time = 0; time < 3; time += 1) await platform.show(addressIn(discord), result, post);
    expect(discord.botMessages().flatMap(({ pinged }) => pinged)).toEqual([discord.user.id]);
    expect(discord.botMessages()).toHaveLength(2);
    expectNoRejections(discord);
  });

  it('5xx after every accepted mention: mentions the person only once', async () => {
    const { discord, platform } = await start();
    const post = new StoredPost('j');
    const result = { text: 'Here it is', notify: 'ready' as const };
    await platform.show(addressIn(discord), { text: 'Working' }, post);
    discord.faults.fail(503, { times: 4, path: /^POST .channels/, afterTaking: true });
    await expect(platform.show(addressIn(discord), result, post)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await platform.show(addressIn(discord), result, post);
    // By then, Discord has forgotten the nonce.
    discord.advance(60 * 60_000);
    await platform.show(addressIn(discord), result, post);
    expect(discord.botMessages().flatMap(({ pinged }) => pinged)).toEqual([discord.user.id]);
    expectNoRejections(discord);
  });

  it('a message blocked by AutoMod: names AutoMod', async () => {
    const { discord, platform } = await start();
    // https://docs.discord.com/developers/topics/opcodes-and-status-codes#json
    const body = { message: 'Message was blocked by automatic moderation', code: 200_000 };
    discord.faults.fail(400, { path: /^POST .channels/, body });
    await expect(platform.show(addressIn(discord), { text: 'x' }, new StoredPost('j'))).rejects.toMatchObject(
      { code: 'refused', advice: expect.stringContaining('AutoMod') },
    );
  });

  it("a proxy's error page: reports a temporary failure", async () => {
    const { discord, platform } = await start();
    discord.faults.fail(403, { path: /^POST .channels/, body: '<html>Attention Required!</html>' });
    const post = new StoredPost('j');
    await expect(platform.show(addressIn(discord), { text: 'x' }, post)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await platform.show(addressIn(discord), { text: 'x' }, post);
    expect(discord.botMessages()).toHaveLength(1);
  });

  it('repeated 5xx: reports a temporary failure, and succeeds later', async () => {
    const { discord, platform } = await start();
    discord.faults.fail(503, { times: 4 });
    const post = new StoredPost('j');
    await expect(platform.show(addressIn(discord), { text: 'x' }, post)).rejects.toMatchObject({
      code: 'unavailable',
    });
    await platform.show(addressIn(discord), { text: 'x' }, post);
    expect(discord.botMessages()).toHaveLength(1);
    expectNoRejections(discord);
  });

  it('a dropped connection: receives the commands sent in the meantime', async () => {
    const { discord } = await start();
    discord.gateway.drop();
    const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
    expect((await song.response()).content).toBe('Done.');
    expect(discord.gateway.resumes).toBe(1);
    expectNoRejections(discord);
  });

  it('a dropped connection of a closed bot: does not reconnect', async () => {
    const { discord, platform } = await start();
    discord.gateway.drop();
    await expect.poll(() => platform.status().ready).toBe(false);
    await platform.close();
    // discord.js reconnects after half a second.
    await setTimeout(1_000);
    expect(discord.gateway).toMatchObject({ connected: 0, resumes: 0, identifies: 1 });
  });

  it('an invalidated session: identifies again', async () => {
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
    expectNoRejections(discord);
  });

  it('Discord unavailable at startup: reports it and keeps trying until it connects', async () => {
    const { discord, bot, platform } = await start({ idle: true, sleep: shortSleep });
    discord.faults.fail(503, { times: 12, path: /gateway/ });
    expect(platform.status()).toEqual({ ready: false, reason: 'not started' });
    await platform.start(bot);
    expect(platform.status()).toMatchObject({ ready: false });
    await expect.poll(() => platform.status()).toEqual({ ready: true });
    expectNoRejections(discord);
  });

  it('a revoked token: reports it, and reconnects when the token is valid again', async () => {
    const { discord, platform } = await start({ sleep: shortSleep });
    expect(platform.status()).toEqual({ ready: true });
    discord.gateway.revoke();
    await expect
      .poll(() => platform.status())
      .toMatchObject({
        ready: false,
        reason: expect.stringContaining('Discord rejected the token'),
      });
    await expect(platform.show(addressIn(discord), { text: 'x' }, new StoredPost('j'))).rejects.toMatchObject(
      { code: 'unavailable' },
    );
    discord.gateway.token = discord.token;
    await expect.poll(() => platform.status()).toEqual({ ready: true });
    await platform.show(addressIn(discord), { text: 'x' }, new StoredPost('j'));
    expect(discord.botMessages()).toHaveLength(1);
  });
});

describe('a crash after a response, before its id was stored', () => {
  it('finds the message by its buttons after the interaction expired', async () => {
    const { discord, bot, platform, another } = await start();
    const started = accept(bot);
    discord.command({ name: 'song', options: { prompt: 'rain' } });
    const { address } = await started;
    const cancel = { type: 'action', id: 'song.cancel:0123456789abcdef0123:0', label: 'Cancel' } as const;
    const key = '0123456789abcdef0123';
    await platform.show(address, { title: 'Composing', actions: [cancel] }, new StoredPost(key));
    discord.say({ text: 'How long does it take?' });
    discord.advance(20 * 60_000);
    const options = Object.assign(new StoredPost(key), { mayHavePosted: true });
    await (await another()).show(address, { title: 'Rain' }, options);
    expect(discord.botMessages().map(({ embeds }) => embeds[0]?.title)).toEqual(['Rain']);
    expectNoRejections(discord);
  });
});

describe('streaming', () => {
  it('shows the latest text with few edits, and always the final text', async () => {
    const { discord, bot, platform } = await start({ sleep: shortSleep });
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await started;
    const stream = platform.stream(address, new StoredPost('j'));
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
    expect(discord.botMessages()).toHaveLength(1);
    expectNoRejections(discord);
  });

  it('respects rate limits for edits', async () => {
    const { discord, bot, platform } = await start({ sleep: shortSleep });
    discord.faults.limitEdits(3, 250);
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await started;
    const stream = platform.stream(address, new StoredPost('j'));
    for (let step = 0; step < 10; step += 1) {
      stream.update(() => ({ text: `step ${step}` }));
      await discord.until(() => ask.original?.content === `step ${step}`);
    }
    await stream.close({ text: 'the end' });
    expect(ask.original?.content).toBe('the end');
    expectNoRejections(discord);
  });

  it('spaces out edits by the rate-limit headers', async () => {
    const pauses: number[] = [];
    const sleep = (milliseconds: number, signal: AbortSignal) => {
      pauses.push(milliseconds);
      return shortSleep(milliseconds, signal);
    };
    const { discord, bot, platform } = await start({ sleep });
    discord.faults.limitEdits(5, 60_000);
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const stream = platform.stream((await started).address, new StoredPost('j'));
    stream.update(() => ({ text: 'one' }));
    await discord.until(() => ask.original?.content === 'one');
    stream.update(() => ({ text: 'two' }));
    const longPause = () => pauses.find((milliseconds) => milliseconds > 10_000);
    await expect.poll(longPause).toBeDefined();
    // At most a fifth of a minute, because five edits share it.
    expect(longPause()).toBeLessThanOrEqual(12_000);
    expectNoRejections(discord);
  });

  it('continues code blocks in further messages, then becomes a file', async () => {
    const { discord, bot, platform } = await start({ sleep: shortSleep });
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'code?' } });
    const { address } = await started;
    const post = new StoredPost('j');
    const stream = platform.stream(address, post);
    const code = (lines: number) =>
      `\`\`\`ts\n${Array.from({ length: lines }, (_, n) => `const line${n} = ${n};`).join('\n')}\n\`\`\``;
    stream.update(() => ({ text: code(120) }));
    await discord.until(() => discord.botMessages().length === 2);
    for (const message of discord.botMessages()) expect(message.content).toMatch(/^```ts\n[\s\S]*\n```$/);
    stream.update(() => ({ text: code(800) }));
    await discord.until(() =>
      discord.botMessages().at(-1)?.content.endsWith('The full text will be attached.'),
    );
    await stream.close({ text: code(800) });
    expect(discord.botMessages()).toEqual([ask.original]);
    expect(
      ask.original?.attachments.map(({ filename, bytes }) => [filename, Buffer.from(bytes).toString()]),
    ).toEqual([['answer.md', code(800)]]);
    expectNoRejections(discord);
  });

  it('survives a dropped connection, several errors and an expired token', async () => {
    const { discord, bot, platform } = await start({ sleep: shortSleep });
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await started;
    const stream = platform.stream(address, new StoredPost('j'));
    stream.update(() => ({ text: 'one' }));
    await discord.until(() => ask.original?.content === 'one');
    discord.gateway.drop();
    discord.faults.fail(500, { times: 6 });
    stream.update(() => ({ text: 'two' }));
    await discord.until(() => ask.original?.content === 'two');
    discord.advance(16 * 60_000);
    await stream.close({ text: 'three' });
    expect(ask.original?.content).toBe('three');
    expect(discord.botMessages()).toHaveLength(1);
    expectNoRejections(discord);
  });
});

describe('conversations', () => {
  it('start with a mention and continue with replies', async () => {
    const { discord, bot, platform } = await start();
    bot.answer = async () => ({
      type: 'message',
      visibility: 'channel',
      message: { text: 'Because of **waves**.' },
    });
    const first = discord.mention({ text: 'why is the sea loud?' });
    const answer = await discord.until(() => discord.botMessages()[0]);
    expect(answer).toMatchObject({ content: 'Because of **waves**.', replyTo: first.id, pinged: [] });
    discord.mention({
      text: 'and at night?',
      replyTo: answer,
      files: [{ filename: 'sea.png', contentType: 'image/png', bytes: new Uint8Array([1]) }],
    });
    await discord.until(() => discord.botMessages().length === 2);
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
    expectNoRejections(discord);
  });

  it('do not need a mention in direct messages, and ignore bots and other messages', async () => {
    const { discord, bot } = await start();
    const started = accept(bot);
    discord.say({ text: 'not for the bot' });
    discord.mention({ text: 'from a bot', user: discord.world.addUser('other', { bot: true }) });
    discord.mention({ text: 'from a webhook', webhook: true });
    discord.say({ text: 'hello', channel: discord.directChannel() });
    expect(await started).toMatchObject({
      options: { question: 'hello' },
      address: { channel: discord.directChannel().id, person: discord.user.id },
    });
    expect(bot.invocations).toHaveLength(1);
    expectNoRejections(discord);
  });

  it('show the answer once, as a reply', async () => {
    const { discord, bot, platform } = await start();
    const started = accept(bot);
    const question = discord.mention({ text: 'sing' });
    const { address } = await started;
    await platform.show(address, { text: 'la' }, { key: 'j', remember: async () => {} });
    await platform.show(address, { text: 'la la' }, { key: 'j', remember: async () => {} });
    expect(discord.botMessages()).toMatchObject([{ content: 'la la', replyTo: question.id, pinged: [] }]);
    expectNoRejections(discord);
  });
});

it('accepts no commands after stop, but still shows results of earlier ones', async () => {
  const { discord, bot, platform } = await start();
  const started = accept(bot);
  const song = discord.command({ name: 'song', options: { prompt: 'rain' } });
  const { address } = await started;
  await platform.stop();
  expect(discord.gateway.connected).toBe(0);
  await platform.show(address, { text: 'Here' }, new StoredPost('j'));
  expect((await song.response()).content).toBe('Here');
  expect(platform.status()).toEqual({ ready: false, reason: 'stopped' });
  expectNoRejections(discord);
});
