import { afterEach, describe, expect, it } from 'vitest';
import type { DiscordServer } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** Channels in which each message is a question. */
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
/** Everything before it was heard when the bot answers this, and done when the platform has stopped. */
async function settled(some: Harness): Promise<unknown[]> {
  const begun = accept(some.bot);
  some.discord.say({ text: 'and now?', channel: some.discord.directChannel() });
  await begun;
  await some.platform.stop();
  return questions(some).filter((question) => question !== 'and now?');
}

async function asked(some: Harness, text: string, by: Partial<Parameters<DiscordServer['say']>[0]> = {}) {
  const begun = accept(some.bot);
  const message = some.discord.say({ text, ...by });
  return { message, invocation: await begun };
}

describe('in a channel that moderators chose', () => {
  it('each message is a question, answered in a thread of its own that the bot opens', async () => {
    const some = await start();
    const { discord } = some;
    const { message, invocation } = await asked(some, 'what is a **mode**?\nplease');
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
    // It goes on there, and what people say to each other stays theirs.
    const thread = discord.world.channels.get(message.id);
    if (!thread) throw new Error('there is no thread');
    const bob = discord.world.addUser('Bob');
    discord.say({ text: `<@${bob.id}> did you know?`, channel: thread });
    discord.say({ text: 'I did', channel: thread, user: bob, replyTo: message });
    const next = await asked(some, 'which ones are there?', { channel: thread });
    expect(next.invocation.address).toMatchObject({ channel: thread.id, parent: discord.channel.id });
    expect(questions(some)).toEqual(['what is a **mode**?\nplease', 'which ones are there?']);
  });

  it('replies, names, other bots and their commands, and files without a word are no questions', async () => {
    const some = await start();
    const { discord } = some;
    const bob = discord.world.addUser('Bob');
    const robot = discord.world.addUser('robot', { bot: true });
    const { message } = await asked(some, 'what is a mode?', { user: bob });
    discord.say({ text: 'a scale, I think', replyTo: message });
    discord.say({ text: `<@${bob.id}> hi` });
    discord.say({ text: '@everyone lunch' });
    discord.say({ text: 'I am a machine', user: robot });
    discord.say({ text: 'so am I', webhook: true });
    discord.say({ text: '!play rain' });
    discord.say({ text: '   ' });
    expect(await settled(some)).toEqual(['what is a mode?']);
    expect([...discord.world.channels.values()].filter(({ type }) => type === 11)).toHaveLength(1);
  });

  it('a command that came as a message is told to be typed as one', async () => {
    const some = await start();
    const { discord } = some;
    discord.say({ text: '/song about rain' });
    const told = await discord.until(() =>
      discord.said().find(({ content }) => content.includes('Start the message with the slash')),
    );
    expect(told.channelId).toBe(discord.channel.id);
    expect(await settled(some)).toEqual([]);
  });

  it('what a person writes in one go is one talk in one thread', async () => {
    const some = await start();
    const { discord, bot } = some;
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

  it('a person who is refused reads why once, in one thread', async () => {
    const some = await start();
    const { discord, bot } = some;
    bot.answer = async () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'The limit is reached.' },
      refusedUntil: discord.now() + 60_000,
    });
    const message = discord.say({ text: 'one' });
    const thread = await discord.until(() => discord.world.channels.get(message.id), 'a thread');
    await discord.until(
      () => discord.said(thread).some(({ content }) => content.includes('limit')),
      'a refusal',
    );
    discord.say({ text: 'two' });
    const begun = accept(bot);
    discord.say({ text: 'mine', user: discord.world.addUser('Bob') });
    await begun;
    expect(questions(some)).toEqual(['one', 'mine']);
    discord.advance(61_000);
    await asked(some, 'three');
    expect(questions(some), 'the limit frees').toEqual(['one', 'mine', 'three']);
  });

  it('a person whose question failed may ask again at once', async () => {
    const some = await start();
    const { discord, bot } = some;
    bot.answer = async () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'Something broke on our side. Please try again.' },
    });
    const message = discord.say({ text: 'one' });
    const thread = await discord.until(() => discord.world.channels.get(message.id), 'a thread');
    await discord.until(() => discord.said(thread).length > 0, 'a sentence');
    await asked(some, 'two');
    expect(questions(some)).toEqual(['one', 'two']);
  });

  it('is answered by a reply where the bot may open no thread', async () => {
    const some = await start();
    const { discord } = some;
    discord.faults.fail(403, { times: 1, path: /threads$/ });
    const { message, invocation } = await asked(some, 'what is a mode?');
    expect(invocation.address).toMatchObject({
      channel: discord.channel.id,
      platformData: { replyTo: message.id },
    });
  });
});

describe('a question whose message is deleted', () => {
  it('ends what it began, be it a mention or said where each message is a question', async () => {
    const some = await start();
    const { discord, bot } = some;
    const { message } = await asked(some, 'what is a mode?');
    const { message: mention } = await asked(some, `<@${discord.world.bot.id}> and a key?`);
    const removed = [message, mention];
    for (const one of removed) discord.remove(one);
    await discord.until(() => bot.withdrawn.length === 2, 'both to be withdrawn');
    expect(bot.withdrawn).toEqual(removed.map(({ id }) => id));
  });

  it('gets no thread, and is not asked, if it is gone before', async () => {
    const some = await start();
    const { discord, bot } = some;
    const { promise: chosen, resolve: choose } = Promise.withResolvers<void>();
    bot.talks = async () => {
      await chosen;
      return true;
    };
    const message = discord.say({ text: 'what is a mode?' });
    discord.remove(message);
    await discord.until(() => bot.withdrawn.length === 1, 'the deletion to be heard');
    choose();
    expect(await settled(some)).toEqual([]);
    expect(discord.world.channels.has(message.id)).toBe(false);
  });

  it('is withdrawn once it is stored, if it was deleted a moment earlier', async () => {
    const some = await start();
    const { discord, bot } = some;
    const { promise: stored, resolve: store } = Promise.withResolvers<void>();
    let begun = 0;
    const begin = () => {
      begun += 1;
    };
    bot.answer = async () => {
      await stored;
      return { type: 'accepted', job: 'job1', begin };
    };
    const message = discord.mention({ text: 'what is a mode?' });
    await discord.until(() => bot.invocations.length === 1, 'the question');
    discord.remove(message);
    await discord.until(() => bot.withdrawn.length === 1, 'the deletion to be heard');
    store();
    await discord.until(() => bot.withdrawn.length === 2 && begun === 1, 'the job to end');
  });

  it('is not looked for when it is older than any work', async () => {
    const some = await start();
    const { discord, bot } = some;
    const { message } = await asked(some, 'what is a mode?');
    discord.advance(2 * 60 * 60_000);
    discord.remove(message);
    await settled(some);
    expect(bot.withdrawn).toEqual([]);
  });
});

describe('elsewhere', () => {
  it('in channels that nobody chose, and in other people’s threads, messages are left alone', async () => {
    const some = await start();
    const { discord } = some;
    const plans = discord.world.addChannel('plans', { guildId: discord.guild.id });
    const thread = discord.world.addChannel('ours', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
    });
    discord.say({ text: 'who brings cake?', channel: plans });
    discord.say({ text: 'me', channel: thread });
    expect(await settled(some)).toEqual([]);
  });

  it('without the intent nothing is heard, and moderators read why', async () => {
    const some = await start({ privilegedIntents: 0, adapter: () => ({}) });
    expect(some.platform.hearsOnlyItsName).toContain('DISCORD_MESSAGE_CONTENT=1');
    some.discord.say({ text: 'what is a mode?' });
    expect(await settled(some)).toEqual([]);
  });
});
