import { afterEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../../../src/core/invocation.ts';
import { buttonsOf, type DiscordServer, type StoredMessage } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, StoredPost, startHarness } from '../harness.ts';

const MESSAGE_CONTENT = 1 << 15;
let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness(options);
  return harness;
}

/** With the Message Content Intent on, at Discord and in the settings. */
const withMessageContent: HarnessOptions = {
  privilegedIntents: MESSAGE_CONTENT,
  adapter: () => ({ messageContent: true }),
};

afterEach(async () => {
  expect(harness?.discord.refused).toEqual([]);
  await harness?.close();
  harness = undefined;
});

const BUTTON = 'Continue in a thread';
const ANSWER = { title: '“Why is the sea loud?”', text: 'Because of **waves**.', conversation: true };

async function showAnswer({ discord, bot, platform }: Harness): Promise<StoredMessage> {
  const started = accept(bot);
  const ask = discord.command({ name: 'ask', options: { question: 'Why is the sea loud?' } });
  const { address } = await started;
  await platform.show(address, ANSWER, new StoredPost('j'));
  return await ask.response();
}

/** Returns the thread of a message. */
function threadAt(discord: DiscordServer, message: StoredMessage) {
  const thread = discord.world.channels.get(message.id);
  if (!thread) throw new Error('There is no thread');
  return thread;
}

async function openThread(harness: Harness) {
  const { discord } = harness;
  const answer = await showAnswer(harness);
  const reply = await discord.press(BUTTON, answer).response();
  return { answer, reply, thread: threadAt(discord, answer) };
}

describe('a thread on an answer', () => {
  it('is opened by the button, named after the question, and explains once to mention the bot', async () => {
    const harness = await start();
    const { discord } = harness;
    const { answer, reply, thread } = await openThread(harness);
    expect(thread).toMatchObject({ type: 11, name: '“Why is the sea loud?”', parentId: discord.channel.id });
    expect(reply).toMatchObject({ onlyFor: discord.user.id, content: `Continued in <#${thread.id}>` });
    expect(discord.botMessages(thread).map(({ content }) => content)).toEqual([
      '',
      "-# Mention me here when you want an answer. Discord doesn't show me other messages.",
    ]);
    const again = await discord.press(BUTTON, answer).response();
    expect(again.content).toBe(`Thread already open: <#${thread.id}>`);
    expect(discord.botMessages(thread)).toHaveLength(2);
  });

  it('includes the conversation when the bot is mentioned', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const { thread } = await openThread(harness);
    const started = accept(bot);
    discord.say({ text: 'not for the bot', channel: thread });
    discord.mention({ text: 'and at night?', channel: thread });
    const invocation = await started;
    expect(invocation.options).toMatchObject({ question: 'and at night?' });
    expect(invocation.address).toMatchObject({ channel: thread.id, parent: discord.channel.id });
    expect(invocation.conversation?.[0]).toMatchObject({
      author: 'bot',
      text: expect.stringContaining('Because of **waves**.'),
    });
    expect(bot.invocations).toHaveLength(2);
  });

  it('includes the conversation when someone uses /ask', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const { thread } = await openThread(harness);
    const conversationIn = async (channel: typeof thread) => {
      const started = accept(bot);
      discord.command({ name: 'ask', options: { question: 'and at night?' }, channel });
      return (await started).conversation;
    };
    expect((await conversationIn(thread))?.[0]).toMatchObject({
      author: 'bot',
      text: expect.stringContaining('Because of **waves**.'),
    });
    expect(await conversationIn(discord.channel)).toEqual([]);
  });

  it('does not need mentions with the Message Content Intent, and explains that', async () => {
    const harness = await start(withMessageContent);
    const { discord, bot } = harness;
    const { thread } = await openThread(harness);
    expect(discord.botMessages(thread).at(-1)?.content).toBe("-# Write here and I'll answer.");
    bot.answer = async () => ({ type: 'message', visibility: 'channel', message: { text: 'Quieter.' } });
    const message = discord.say({ text: 'and at night?', channel: thread });
    const answer = await discord.until(() =>
      discord.botMessages(thread).find(({ content }) => content === 'Quieter.'),
    );
    expect(answer.replyTo).toBe(message.id);
    expect(bot.invocations.at(-1)).toMatchObject({ options: { question: 'and at night?' } });
  });

  it('ignores messages between people, and other threads', async () => {
    const harness = await start(withMessageContent);
    const { discord, bot } = harness;
    const { thread } = await openThread(harness);
    const bob = discord.world.addUser('Bob');
    const plans = discord.world.addChannel('plans', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
      ownerId: bob.id,
    });
    const first = discord.say({ text: 'not for you', channel: plans });
    discord.say({ text: 'nor this', channel: discord.channel });
    discord.say({ text: `<@${bob.id}> what do you think?`, channel: thread });
    discord.say({ text: 'I think so', channel: plans, user: bob, replyTo: first });
    discord.say({ text: 'a machine', channel: thread, user: discord.world.addUser('robot', { bot: true }) });
    const started = accept(bot);
    discord.say({ text: 'and you?', channel: thread });
    await started;
    expect(bot.invocations.slice(1).map(({ options }) => options.question)).toEqual(['and you?']);
  });

  it('is recognised after a restart, even if it was archived', async () => {
    const harness = await start(withMessageContent);
    const { discord, bot } = harness;
    // Discord does not list archived threads when the bot connects.
    const thread = discord.world.addChannel('old', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
      ownerId: discord.world.bot.id,
    });
    for (const question of ['still there?', 'and now?']) {
      const started: Promise<Invocation> = accept(bot);
      discord.say({ text: question, channel: thread });
      expect((await started).options).toMatchObject({ question });
    }
    expect(discord.requests.filter((request) => request === `GET /channels/${thread.id}`)).toHaveLength(1);
  });
});

describe('an archived thread that is not cached', () => {
  const archived = ({ world, guild, channel }: DiscordServer) =>
    world.addChannel('old', { guildId: guild.id, type: 11, parentId: channel.id });

  it('has its parent channel in the address', async () => {
    const { discord, bot } = await start();
    const channel = archived(discord);
    const started = accept(bot);
    discord.mention({ text: 'still there?', channel });
    expect((await started).address).toMatchObject({ channel: channel.id, parent: discord.channel.id });
  });

  it("has its parent's permissions, and gets no answer while they are unknown", async () => {
    const { discord, bot, log } = await start({
      prepare: (server) => server.channel.deniedToPeople.add('UseApplicationCommands'),
    });
    const channel = archived(discord);
    discord.mention({ text: 'still there?', channel });
    discord.faults.fail(503, { times: 4, path: /^GET .channels/ });
    discord.mention({ text: 'and here?', channel: archived(discord) });
    const unanswered = () =>
      log.filter(({ sentence }) =>
        sentence.startsWith('Ignored a message from a person who may not use commands there'),
      );
    await discord.until(() => unanswered().length === 2, 'two refusals');
    expect(bot.invocations).toEqual([]);
  });
});

describe('threads are not offered', () => {
  const labels = (message: StoredMessage) => buttonsOf(message).map(({ label }) => label);

  it('in threads, direct messages, groups and servers that the bot is not in', async () => {
    const { discord, bot, platform } = await start();
    const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
    const channels = [
      discord.directChannel(),
      discord.world.addChannel('group', { type: 3 }),
      discord.world.addChannel('post', { guildId: discord.guild.id, type: 11, parentId: discord.channel.id }),
      discord.world.addChannel('general', { guildId: elsewhere.id }),
    ];
    for (const [index, channel] of channels.entries()) {
      const started = accept(bot);
      const ask = discord.command({ name: 'ask', options: { question: 'why?' }, channel });
      await platform.show((await started).address, ANSWER, new StoredPost(`j${index}`));
      expect(labels(await ask.response())).toEqual([]);
    }
  });

  it('if the bot does not have the permission', async () => {
    const harness = await start({
      prepare: (discord) => discord.channel.denied.add('CreatePublicThreads'),
    });
    expect(labels(await showAnswer(harness))).toEqual([]);
  });

  it('while an answer is being written, or below other messages', async () => {
    const { discord, bot, platform } = await start();
    const started = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await started;
    const stream = platform.stream(address, new StoredPost('j'));
    stream.update(() => ANSWER);
    expect(labels(await ask.response())).toEqual([]);
    await stream.close(ANSWER);
    expect(labels(await ask.response())).toEqual([BUTTON]);
    await platform.show(address, { text: 'a song' }, new StoredPost('k'));
    expect(labels(discord.botMessages().at(-1) as StoredMessage)).toEqual([]);
  });
});

describe('a thread that cannot be opened', () => {
  it('names the missing permission', async () => {
    const harness = await start();
    const { discord } = harness;
    const answer = await showAnswer(harness);
    discord.channel.denied.add('CreatePublicThreads');
    const reply = await discord.press(BUTTON, answer).response();
    expect(reply).toMatchObject({
      onlyFor: discord.user.id,
      content: expect.stringContaining('Create Public Threads'),
    });
    expect(discord.refused.splice(0).map(({ code }) => code)).toEqual([50_013]);
  });

  it('is refused to people who may not open threads', async () => {
    const harness = await start();
    const { discord } = harness;
    const answer = await showAnswer(harness);
    const reply = await discord.press(BUTTON, answer, { lacks: ['CreatePublicThreads'] }).response();
    expect(reply.content).toBe(
      "You don't have permission to open threads in this channel. Ask a moderator to grant it to you.",
    );
    expect(discord.world.channels.has(answer.id)).toBe(false);
  });

  it('is refused to blocked people, as are forms', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const answer = await showAnswer(harness);
    bot.refused = { text: 'A moderator blocked you here.' };
    const reply = await discord.press(BUTTON, answer).response();
    expect(reply).toMatchObject({ content: 'A moderator blocked you here.', onlyFor: discord.user.id });
    expect(discord.world.channels.has(answer.id)).toBe(false);
    const message = discord.say({ text: 'The rain falls' });
    const invocation = discord.contextMenu({ name: 'Create a song from this', message });
    expect(await invocation.acknowledged()).toBe(4);
    expect((await invocation.response()).content).toBe('A moderator blocked you here.');
  });

  it('reports that Discord is unavailable', async () => {
    const harness = await start();
    const { discord } = harness;
    const answer = await showAnswer(harness);
    discord.faults.fail(503, { times: 4, path: /threads$/ });
    const reply = await discord.press(BUTTON, answer).response();
    expect(reply.content).toBe("Discord didn't open a thread. Try again in a minute.");
  });
});

describe('the Message Content Intent', () => {
  it('is named in the status if it is off', async () => {
    const { platform, bot } = await start({ idle: true, adapter: () => ({ messageContent: true }) });
    await platform.start(bot);
    expect(platform.status()).toMatchObject({
      ready: false,
      reason: expect.stringContaining('Message Content Intent is off'),
    });
  });
});
