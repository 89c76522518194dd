import { afterEach, describe, expect, it } from 'vitest';
import type { Invocation } from '../../../../src/core/invocation.ts';
import { buttonsOf, type DiscordServer, type StoredMessage } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, Remembered, startHarness } from '../harness.ts';

const MESSAGE_CONTENT = 1 << 15;
let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness(options);
  return harness;
}

/** With the privileged intent switched on, at Discord and here. */
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

async function answered({ discord, bot, platform }: Harness): Promise<StoredMessage> {
  const begun = accept(bot);
  const ask = discord.command({ name: 'ask', options: { question: 'Why is the sea loud?' } });
  const { address } = await begun;
  await platform.show(address, ANSWER, new Remembered('j'));
  return await ask.response();
}

/** The thread at a message. */
function threadAt(discord: DiscordServer, message: StoredMessage) {
  const thread = discord.world.channels.get(message.id);
  if (!thread) throw new Error('There is no thread');
  return thread;
}

async function opened(some: Harness) {
  const { discord } = some;
  const answer = await answered(some);
  const told = await discord.press(BUTTON, answer).response();
  return { answer, told, thread: threadAt(discord, answer) };
}

describe('a thread at an answer', () => {
  it('is opened by its button, named after the question, and tells once to mention the bot', async () => {
    const some = await start();
    const { discord } = some;
    const { answer, told, thread } = await opened(some);
    expect(thread).toMatchObject({ type: 11, name: '“Why is the sea loud?”', parentId: discord.channel.id });
    expect(told).toMatchObject({ onlyFor: discord.user.id, content: `Continued in <#${thread.id}>` });
    expect(discord.said(thread).map(({ content }) => content)).toEqual([
      '',
      "-# Mention me here when you want an answer. Discord doesn't show me other messages.",
    ]);
    const again = await discord.press(BUTTON, answer).response();
    expect(again.content).toBe(`Thread already open: <#${thread.id}>`);
    expect(discord.said(thread)).toHaveLength(2);
  });

  it('goes on with what was said, when the bot is mentioned', async () => {
    const some = await start();
    const { discord, bot } = some;
    const { thread } = await opened(some);
    const begun = accept(bot);
    discord.say({ text: 'not for the bot', channel: thread });
    discord.mention({ text: 'and at night?', channel: thread });
    const asked = await begun;
    expect(asked.options).toMatchObject({ question: 'and at night?' });
    expect(asked.address).toMatchObject({ channel: thread.id, parent: discord.channel.id });
    expect(asked.conversation?.[0]).toMatchObject({
      author: 'bot',
      text: expect.stringContaining('Because of **waves**.'),
    });
    expect(bot.invocations).toHaveLength(2);
  });

  it('goes on with what was said, when somebody uses the command in it', async () => {
    const some = await start();
    const { discord, bot } = some;
    const { thread } = await opened(some);
    const asking = async (channel: typeof thread) => {
      const begun = accept(bot);
      discord.command({ name: 'ask', options: { question: 'and at night?' }, channel });
      return (await begun).conversation;
    };
    expect((await asking(thread))?.[0]).toMatchObject({
      author: 'bot',
      text: expect.stringContaining('Because of **waves**.'),
    });
    expect(await asking(discord.channel)).toEqual([]);
  });

  it('needs no mention where the bot may read: it says so, and answers plain talk', async () => {
    const some = await start(withMessageContent);
    const { discord, bot } = some;
    const { thread } = await opened(some);
    expect(discord.said(thread).at(-1)?.content).toBe("-# Write here and I'll answer.");
    bot.answer = async () => ({ type: 'message', visibility: 'channel', message: { text: 'Quieter.' } });
    const said = discord.say({ text: 'and at night?', channel: thread });
    const answer = await discord.until(() =>
      discord.said(thread).find(({ content }) => content === 'Quieter.'),
    );
    expect(answer.replyTo).toBe(said.id);
    expect(bot.invocations.at(-1)).toMatchObject({ options: { question: 'and at night?' } });
  });

  it('leaves alone what people say to each other, and everything in other threads', async () => {
    const some = await start(withMessageContent);
    const { discord, bot } = some;
    const { thread } = await opened(some);
    const bob = discord.world.addUser('Bob');
    const others = discord.world.addChannel('plans', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
      ownerId: bob.id,
    });
    const first = discord.say({ text: 'not for you', channel: others });
    discord.say({ text: 'nor this', channel: discord.channel });
    discord.say({ text: `<@${bob.id}> what do you think?`, channel: thread });
    discord.say({ text: 'I think so', channel: others, user: bob, replyTo: first });
    discord.say({ text: 'a machine', channel: thread, user: discord.world.addUser('robot', { bot: true }) });
    const begun = accept(bot);
    discord.say({ text: 'and you?', channel: thread });
    await begun;
    expect(bot.invocations.slice(1).map(({ options }) => options.question)).toEqual(['and you?']);
  });

  it('is known again after a restart, also when it comes out of the archive', async () => {
    const some = await start(withMessageContent);
    const { discord, bot } = some;
    // Discord does not tell of archived threads when the bot connects.
    const thread = discord.world.addChannel('old', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
      ownerId: discord.world.bot.id,
    });
    for (const question of ['still there?', 'and now?']) {
      const begun: Promise<Invocation> = accept(bot);
      discord.say({ text: question, channel: thread });
      expect((await begun).options).toMatchObject({ question });
    }
    expect(discord.requests.filter((request) => request === `GET /channels/${thread.id}`)).toHaveLength(1);
  });
});

describe('an archived thread, which the bot does not know', () => {
  const archived = ({ world, guild, channel }: DiscordServer) =>
    world.addChannel('old', { guildId: guild.id, type: 11, parentId: channel.id });

  it('has the channel that it belongs to', async () => {
    const { discord, bot } = await start();
    const channel = archived(discord);
    const begun = accept(bot);
    discord.mention({ text: 'still there?', channel });
    expect((await begun).address).toMatchObject({ channel: channel.id, parent: discord.channel.id });
  });

  it('has the rules of that channel, and none answers there while Discord does not tell them', async () => {
    const { discord, bot, log } = await start({
      prepare: (server) => server.channel.deniedToPeople.add('UseApplicationCommands'),
    });
    const channel = archived(discord);
    discord.mention({ text: 'still there?', channel });
    discord.faults.fail(503, { times: 4, path: /^GET .channels/ });
    discord.mention({ text: 'and here?', channel: archived(discord) });
    const unanswered = () => log.filter(({ sentence }) => sentence.startsWith('Ignored a person'));
    await discord.until(() => unanswered().length === 2, 'two refusals');
    expect(bot.invocations).toEqual([]);
  });
});

describe('no thread is offered', () => {
  const labels = (message: StoredMessage) => buttonsOf(message).map(({ label }) => label);

  it('in threads, direct messages, groups, and where the bot is no member', async () => {
    const { discord, bot, platform } = await start();
    const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
    const channels = [
      discord.directChannel(),
      discord.world.addChannel('group', { type: 3 }),
      discord.world.addChannel('post', { guildId: discord.guild.id, type: 11, parentId: discord.channel.id }),
      discord.world.addChannel('general', { guildId: elsewhere.id }),
    ];
    for (const [index, channel] of channels.entries()) {
      const begun = accept(bot);
      const ask = discord.command({ name: 'ask', options: { question: 'why?' }, channel });
      await platform.show((await begun).address, ANSWER, new Remembered(`j${index}`));
      expect(labels(await ask.response())).toEqual([]);
    }
  });

  it('where the bot may not open one', async () => {
    const some = await start({
      prepare: (discord) => discord.channel.denied.add('CreatePublicThreads'),
    });
    expect(labels(await answered(some))).toEqual([]);
  });

  it('while the answer is being written, nor under anything that is no answer', async () => {
    const { discord, bot, platform } = await start();
    const begun = accept(bot);
    const ask = discord.command({ name: 'ask', options: { question: 'why?' } });
    const { address } = await begun;
    const stream = platform.stream(address, new Remembered('j'));
    stream.update(() => ANSWER);
    expect(labels(await ask.response())).toEqual([]);
    await stream.close(ANSWER);
    expect(labels(await ask.response())).toEqual([BUTTON]);
    await platform.show(address, { text: 'a song' }, new Remembered('k'));
    expect(labels(discord.said().at(-1) as StoredMessage)).toEqual([]);
  });
});

describe('a thread that cannot be opened', () => {
  it('names the permission that the bot lost', async () => {
    const some = await start();
    const { discord } = some;
    const answer = await answered(some);
    discord.channel.denied.add('CreatePublicThreads');
    const told = await discord.press(BUTTON, answer).response();
    expect(told).toMatchObject({
      onlyFor: discord.user.id,
      content: expect.stringContaining('Create Public Threads'),
    });
    expect(discord.refused.splice(0).map(({ code }) => code)).toEqual([50_013]);
  });

  it('is not opened for people who may not open threads', async () => {
    const some = await start();
    const { discord } = some;
    const answer = await answered(some);
    const told = await discord.press(BUTTON, answer, { lacks: ['CreatePublicThreads'] }).response();
    expect(told.content).toBe("You don't have permission to open threads in this channel.");
    expect(discord.world.channels.has(answer.id)).toBe(false);
  });

  it('is not opened for people who may not ask, and no form is opened for them', async () => {
    const some = await start();
    const { discord, bot } = some;
    const answer = await answered(some);
    bot.refused = { text: 'A moderator blocked you here.' };
    const told = await discord.press(BUTTON, answer).response();
    expect(told).toMatchObject({ content: 'A moderator blocked you here.', onlyFor: discord.user.id });
    expect(discord.world.channels.has(answer.id)).toBe(false);
    const message = discord.say({ text: 'The rain falls' });
    const asked = discord.contextMenu({ name: 'Create a song from this', message });
    expect(await asked.acknowledged()).toBe(4);
    expect((await asked.response()).content).toBe('A moderator blocked you here.');
  });

  it('says that Discord is away', async () => {
    const some = await start();
    const { discord } = some;
    const answer = await answered(some);
    discord.faults.fail(503, { times: 4, path: /threads$/ });
    const told = await discord.press(BUTTON, answer).response();
    expect(told.content).toBe("Discord didn't open a thread. Try again in a minute.");
  });
});

describe('the message content intent', () => {
  it('that is not switched on at Discord is named on the status, and the bot goes on trying', async () => {
    const { platform, bot } = await start({ idle: true, adapter: () => ({ messageContent: true }) });
    await platform.start(bot);
    expect(platform.status()).toMatchObject({
      ready: false,
      reason: expect.stringContaining('Message Content Intent is off'),
    });
  });
});
