import { afterEach, describe, expect, it } from 'vitest';
import type { DiscordServer } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, startHarness } from '../harness.ts';

const MESSAGE_CONTENT = 1 << 15;
let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness({
    privilegedIntents: MESSAGE_CONTENT,
    adapter: () => ({ messageContent: true }),
    ...options,
  });
  harness.bot.talkative.add(harness.discord.channel.id);
  return harness;
}

afterEach(async () => {
  expect(harness?.discord.refused).toEqual([]);
  await harness?.close();
  harness = undefined;
});

const questions = ({ bot }: Harness) => bot.invocations.map(({ options }) => options.question);
/** Waits until all earlier messages are processed, and returns the questions. */
async function processed(harness: Harness): Promise<unknown[]> {
  const started = accept(harness.bot);
  harness.discord.say({ text: 'and now?', channel: harness.discord.directChannel() });
  await started;
  await harness.platform.stop();
  return questions(harness).filter((question) => question !== 'and now?');
}

async function ask(harness: Harness, text: string, by: Partial<Parameters<DiscordServer['say']>[0]> = {}) {
  const started = accept(harness.bot);
  const message = harness.discord.say({ text, ...by });
  return { message, invocation: await started };
}

describe('in a channel where talk is on', () => {
  it('answers each message in a new thread', async () => {
    const harness = await start();
    const { discord } = harness;
    const { message, invocation } = await ask(harness, 'what is a **mode**?\nplease');
    expect(discord.world.channels.get(message.id)).toMatchObject({
      type: 11,
      name: 'what is a mode?',
      parentId: discord.channel.id,
      ownerId: discord.world.bot.id,
    });
    expect(invocation).toMatchObject({
      command: 'ask',
      options: { question: 'what is a **mode**?\nplease' },
      address: { channel: message.id, parent: discord.channel.id, guild: discord.guild.id },
      conversation: [],
    });
    expect(invocation.address.platformData).toBeUndefined();
    // The conversation continues in the thread. Messages between people are ignored.
    const thread = discord.world.channels.get(message.id);
    if (!thread) throw new Error('there is no thread');
    const bob = discord.world.addUser('Bob');
    discord.say({ text: `<@${bob.id}> did you know?`, channel: thread });
    discord.say({ text: 'I did', channel: thread, user: bob, replyTo: message });
    const next = await ask(harness, 'which ones are there?', { channel: thread });
    expect(next.invocation.address).toMatchObject({ channel: thread.id, parent: discord.channel.id });
    expect(questions(harness)).toEqual(['what is a **mode**?\nplease', 'which ones are there?']);
  });

  it('ignores replies, mentions of people, other bots and their commands, and messages without text', async () => {
    const harness = await start();
    const { discord } = harness;
    const bob = discord.world.addUser('Bob');
    const robot = discord.world.addUser('robot', { bot: true });
    const { message } = await ask(harness, 'what is a mode?', { user: bob });
    discord.say({ text: 'a scale, I think', replyTo: message });
    discord.say({ text: `<@${bob.id}> hi` });
    discord.say({ text: '@everyone lunch' });
    discord.say({ text: 'I am a machine', user: robot });
    discord.say({ text: 'so am I', webhook: true });
    discord.say({ text: '!play rain' });
    discord.say({ text: '   ' });
    expect(await processed(harness)).toEqual(['what is a mode?']);
    expect([...discord.world.channels.values()].filter(({ type }) => type === 11)).toHaveLength(1);
  });

  it('explains how to use a command that was sent as a message', async () => {
    const harness = await start();
    const { discord } = harness;
    discord.say({ text: '/song about rain' });
    const reply = await discord.until(() =>
      discord.botMessages().find(({ content }) => content.includes('Type / in the message box')),
    );
    expect(reply.channelId).toBe(discord.channel.id);
    expect(await processed(harness)).toEqual([]);
  });

  it('answers several quick messages of a person in one thread', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    bot.answer = async () => ({ type: 'accepted', job: 'job1', begin: () => {} });
    const first = discord.say({ text: 'hello' });
    discord.say({ text: 'a question about modes' });
    discord.say({ text: 'which one is sad?' });
    await discord.until(() => bot.invocations.length === 3, 'three questions');
    expect(bot.invocations.map(({ address }) => address.channel)).toEqual([first.id, first.id, first.id]);
    expect(bot.invocations[2]?.conversation).toMatchObject([
      { text: 'hello' },
      { text: 'a question about modes' },
    ]);
  });

  it('explains a refusal once, in one thread', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    bot.answer = async () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'The limit is reached.' },
      refusedUntil: discord.now() + 60_000,
    });
    const message = discord.say({ text: 'one' });
    const thread = await discord.until(() => discord.world.channels.get(message.id), 'a thread');
    await discord.until(
      () => discord.botMessages(thread).some(({ content }) => content.includes('limit')),
      'a refusal',
    );
    discord.say({ text: 'two' });
    const started = accept(bot);
    discord.say({ text: 'mine', user: discord.world.addUser('Bob') });
    await started;
    expect(questions(harness)).toEqual(['one', 'mine']);
    discord.advance(61_000);
    await ask(harness, 'three');
    expect(questions(harness), 'the limit frees').toEqual(['one', 'mine', 'three']);
  });

  it('accepts a new question immediately after a failed one', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    bot.answer = async () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'Something broke on our side. Please try again.' },
    });
    const message = discord.say({ text: 'one' });
    const thread = await discord.until(() => discord.world.channels.get(message.id), 'a thread');
    await discord.until(() => discord.botMessages(thread).length > 0, 'an error message');
    await ask(harness, 'two');
    expect(questions(harness)).toEqual(['one', 'two']);
  });

  it('answers with a reply if it cannot open threads', async () => {
    const harness = await start();
    const { discord } = harness;
    discord.faults.fail(403, { times: 1, path: /threads$/ });
    const { message, invocation } = await ask(harness, 'what is a mode?');
    expect(invocation.address).toMatchObject({
      channel: discord.channel.id,
      platformData: { replyTo: message.id },
    });
  });
});

describe('a question whose message is deleted', () => {
  it('cancels its work, with and without a mention', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const { message } = await ask(harness, 'what is a mode?');
    const { message: mention } = await ask(harness, `<@${discord.world.bot.id}> and a key?`);
    const removed = [message, mention];
    for (const message of removed) discord.remove(message);
    await discord.until(() => bot.withdrawn.length === 2, 'both to be withdrawn');
    expect(bot.withdrawn).toEqual(removed.map(({ id }) => id));
  });

  it('is ignored and gets no thread if it was deleted early', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const { promise: chosen, resolve: choose } = Promise.withResolvers<void>();
    bot.answersEveryMessage = async () => {
      await chosen;
      return true;
    };
    const message = discord.say({ text: 'what is a mode?' });
    discord.remove(message);
    await discord.until(() => bot.withdrawn.length === 1, 'the deletion to be processed');
    choose();
    expect(await processed(harness)).toEqual([]);
    expect(discord.world.channels.has(message.id)).toBe(false);
  });

  it('is withdrawn once its job is stored, if it was deleted just before', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    let started = 0;
    const begin = () => {
      started += 1;
    };
    bot.answer = async () => {
      await stored;
      return { type: 'accepted', job: 'job1', begin };
    };
    const message = discord.mention({ text: 'what is a mode?' });
    await discord.until(() => bot.invocations.length === 1, 'the question');
    discord.remove(message);
    await discord.until(() => bot.withdrawn.length === 1, 'the deletion to be processed');
    store();
    await discord.until(() => bot.withdrawn.length === 2 && started === 1, 'the job to end');
  });

  it('is not looked up if it is older than any job', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const { message } = await ask(harness, 'what is a mode?');
    discord.advance(2 * 60 * 60_000);
    discord.remove(message);
    await processed(harness);
    expect(bot.withdrawn).toEqual([]);
  });
});

describe('other messages', () => {
  it("are ignored in other channels and in people's threads", async () => {
    const harness = await start();
    const { discord } = harness;
    const plans = discord.world.addChannel('plans', { guildId: discord.guild.id });
    const thread = discord.world.addChannel('ours', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
    });
    discord.say({ text: 'who brings cake?', channel: plans });
    discord.say({ text: 'me', channel: thread });
    expect(await processed(harness)).toEqual([]);
  });

  it('are ignored without the intent, and moderators see the reason', async () => {
    const harness = await start({ privilegedIntents: 0, adapter: () => ({}) });
    expect(harness.platform.mentionsOnlyNotice).toContain('DISCORD_MESSAGE_CONTENT=1');
    harness.discord.say({ text: 'what is a mode?' });
    expect(await processed(harness)).toEqual([]);
  });
});
