import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/message.ts';
import { present } from '../../../../src/core/util/present.ts';
import type { StoredMessage } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, startHarness } from '../harness.ts';

let harness: Harness | undefined;

async function start(options: HarnessOptions = {}): Promise<Harness> {
  harness = await startHarness(options);
  return harness;
}

afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const withMessageContent: HarnessOptions = {
  privilegedIntents: 1 << 15,
  adapter: () => ({ messageContent: true }),
};
const createAnswer = (text: string, job = 'j1'): Message => ({
  text,
  actions: [{ type: 'action', id: `ask.again:${job}:0`, label: 'Again' }],
});
const LONG = Array.from({ length: 700 }, (_, n) => `word${n}`).join(' ');

type Mention = Parameters<Harness['discord']['mention']>[0];

/** Mentions the bot and resolves with the messages of its answer. */
async function talk({ discord, bot }: Harness, mention: Mention, answer: Message): Promise<StoredMessage[]> {
  bot.answer = async () => ({ type: 'message', visibility: 'channel', message: answer });
  const before = discord.botMessages(mention.channel).length;
  discord.mention(mention);
  await discord.until(() => discord.botMessages(mention.channel).at(-1)?.components.length, 'an answer');
  return await discord.until(() => {
    const messages = discord.botMessages(mention.channel).slice(before);
    return messages.at(-1)?.components.length ? messages : undefined;
  }, 'an answer');
}

async function conversationOf({ discord, bot }: Harness, mention: Mention) {
  const started = accept(bot);
  discord.mention(mention);
  return (await started).conversation?.map(({ author, text, job }) => present({ author, text, job }));
}

describe('a chain of replies', () => {
  it('keeps the readable part when one of its messages was deleted', async () => {
    const harness = await start();
    const [first] = await talk(harness, { text: 'one?' }, createAnswer('1', 'j1'));
    const [second] = await talk(
      harness,
      { text: 'two?', ...(first && { replyTo: first }) },
      createAnswer('2', 'j2'),
    );
    if (!first || !second) throw new Error('There is no answer');
    harness.discord.remove(first);
    expect(await conversationOf(harness, { text: 'three?', replyTo: second })).toEqual([
      { author: 'person', text: 'two?' },
      { author: 'bot', text: '2', job: 'j2' },
    ]);
  });

  it('uses the edited text of a message', async () => {
    const harness = await start();
    const [answer] = await talk(harness, { text: 'one?' }, createAnswer('1'));
    const question = [...harness.discord.world.messages.values()].find(({ id }) => id === answer?.replyTo);
    if (!answer || !question) throw new Error('There is no answer');
    harness.discord.correct(question, `<@${harness.discord.world.bot.id}> won?`);
    expect(await conversationOf(harness, { text: 'two?', replyTo: answer })).toEqual([
      { author: 'person', text: 'won?' },
      { author: 'bot', text: '1', job: 'j1' },
    ]);
  });

  it('includes the question when any message of a long answer is replied to', async () => {
    const harness = await start();
    const pages = await talk(harness, { text: 'words?' }, createAnswer(LONG));
    expect(pages.length).toBeGreaterThan(2);
    for (const page of pages) {
      const started = accept(harness.bot);
      harness.discord.mention({ text: 'and?', replyTo: page });
      const [question, answer, ...rest] = (await started).conversation ?? [];
      expect(question).toMatchObject({ author: 'person', text: 'words?' });
      expect(answer).toMatchObject({ author: 'bot', answers: page.replyTo });
      expect(rest).toEqual([]);
    }
    expect(harness.discord.refused).toEqual([]);
  });

  it('is read only once for several questions', async () => {
    const harness = await start();
    const [first] = await talk(harness, { text: 'one?' }, createAnswer('1', 'j1'));
    const [second] = await talk(
      harness,
      { text: 'two?', ...(first && { replyTo: first }) },
      createAnswer('2', 'j2'),
    );
    if (!second) throw new Error('There is no answer');
    const reads = () => harness.discord.requests.filter((request) => /^GET .*messages/.test(request)).length;
    const before = reads();
    expect(await conversationOf(harness, { text: 'three?', replyTo: second })).toHaveLength(4);
    expect(reads() - before).toBe(0);
  });
});

describe('a thread', () => {
  const threadOf = ({ discord }: Harness) =>
    discord.world.addChannel('talk', {
      guildId: discord.guild.id,
      type: 11,
      parentId: discord.channel.id,
      ownerId: discord.user.id,
    });

  it("opened by a person is part of /ask's conversation", async () => {
    const harness = await start();
    const channel = threadOf(harness);
    await talk(harness, { text: 'one?', channel }, createAnswer('1'));
    const started = accept(harness.bot);
    harness.discord.command({ name: 'ask', options: { question: 'two?' }, channel });
    expect((await started).conversation).toMatchObject([
      { author: 'person', text: 'one?' },
      { author: 'bot', text: '1', job: 'j1' },
    ]);
  });

  it('keeps the readable part when its first message was deleted', async () => {
    const harness = await start();
    const { discord } = harness;
    const [answer] = await talk(harness, { text: 'one?' }, { ...createAnswer('1'), conversation: true });
    if (!answer) throw new Error('There is no answer');
    discord.press('Continue in a thread', answer);
    const channel = await discord.until(() => discord.world.channels.get(answer.id), 'a thread');
    await talk(harness, { text: 'two?', channel }, createAnswer('2', 'j2'));
    discord.remove(answer);
    expect(await conversationOf(harness, { text: 'three?', channel })).toEqual([
      { author: 'person', text: 'two?' },
      { author: 'bot', text: '2', job: 'j2' },
    ]);
  });

  it.each([
    ['one message', 'Because.'],
    ['several messages', LONG],
  ])('opened on an answer of %s is named after the question', async (_name, text) => {
    const harness = await start();
    const pages = await talk(
      harness,
      { text: 'Why is it so?' },
      { ...createAnswer(text), conversation: true },
    );
    const last = pages.at(-1);
    if (!last) throw new Error('There is no answer');
    await harness.discord.press('Continue in a thread', last).response();
    expect(harness.discord.world.channels.get(last.id)?.name).toBe('Why is it so?');
  });

  it('opened on a long answer to a command is named after the question', async () => {
    const harness = await start();
    const { discord, bot } = harness;
    const message = { ...createAnswer(LONG), title: '“Why is it so?”', conversation: true };
    const started = accept(bot);
    const command = discord.command({ name: 'ask', options: { question: 'Why is it so?' } });
    const { address } = await started;
    await harness.platform.show(address, message, { key: 'j', remember: async () => {} });
    const last = discord.botMessages().at(-1);
    if (!last || last === command.original) throw new Error('The answer is one message');
    await discord.press('Continue in a thread', last).response();
    expect(discord.world.channels.get(last.id)?.name).toBe('“Why is it so?”');
  });
});

describe('a mention without text', () => {
  it('shows what the bot can do', async () => {
    const harness = await start();
    const question = harness.discord.mention({ text: '' });
    const answer = await harness.discord.until(() => harness.discord.botMessages()[0], 'a greeting');
    expect(answer.replyTo).toBe(question.id);
    expect(harness.bot.invocations).toMatchObject([{ command: 'minstrel', options: {} }]);
  });

  it('as a reply to the bot shows what the bot can do', async () => {
    const harness = await start();
    const [answer] = await talk(harness, { text: 'one?' }, createAnswer('1'));
    const started = accept(harness.bot);
    harness.discord.mention({ text: '', ...(answer && { replyTo: answer }) });
    expect((await started).command).toBe('minstrel');
  });

  it("as a reply to a person asks about that person's message, with its files", async () => {
    const harness = await start(withMessageContent);
    const bob = harness.discord.world.addUser('Bob');
    const files = [{ filename: 'sea.png', contentType: 'image/png', bytes: new Uint8Array([1]) }];
    const message = harness.discord.say({ text: 'Why is the sea loud?', user: bob, files });
    const started = accept(harness.bot);
    harness.discord.mention({ text: '', replyTo: message });
    expect(await started).toMatchObject({
      command: 'ask',
      options: { question: 'Why is the sea loud?', image: { name: 'sea.png' } },
      person: { displayName: 'Ada' },
      conversation: [],
    });
  });

  it('as a reply to a hidden message explains what to do', async () => {
    const harness = await start();
    const message = harness.discord.say({
      text: 'Why is the sea loud?',
      user: harness.discord.world.addUser('Bob'),
    });
    harness.discord.mention({ text: '', replyTo: message });
    const reply = await harness.discord.until(() => harness.discord.botMessages()[0], 'an answer');
    expect(reply.content).toContain('“Ask about this”');
    expect(harness.bot.invocations).toEqual([]);
  });
});

it('a mention of its role without readable text explains what to do', async () => {
  const { discord, bot } = await start();
  discord.say({ text: `<@&${discord.guild.botRoleId}> what is a mode?` });
  const answer = await discord.until(() => discord.botMessages().at(-1), 'an answer');
  expect(answer.content).toContain('Mention me by name instead');
  expect(bot.invocations).toEqual([]);
});
