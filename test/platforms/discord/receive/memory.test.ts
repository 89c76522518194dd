import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../../src/core/message.ts';
import { present } from '../../../../src/core/util/present.ts';
import type { StoredMessage } from '../../../servers/discord/index.ts';
import { accept, type Harness, type HarnessOptions, startHarness } from '../harness.ts';

/** What the bot reads back of what was said before it was asked. */
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
const answerOf = (text: string, job = 'j1'): Message => ({
  text,
  actions: [{ type: 'action', id: `ask.again:${job}:0`, label: 'Again' }],
});
const LONG = Array.from({ length: 700 }, (_, n) => `word${n}`).join(' ');

type Saying = Parameters<Harness['discord']['mention']>[0];

/** Mentions the bot and resolves with the messages of its answer. */
async function talk({ discord, bot }: Harness, saying: Saying, answer: Message): Promise<StoredMessage[]> {
  bot.answer = async () => ({ type: 'message', visibility: 'channel', message: answer });
  const before = discord.said(saying.channel).length;
  discord.mention(saying);
  await discord.until(() => discord.said(saying.channel).at(-1)?.components.length, 'an answer');
  return await discord.until(() => {
    const said = discord.said(saying.channel).slice(before);
    return said.at(-1)?.components.length ? said : undefined;
  }, 'an answer');
}

async function remembered({ discord, bot }: Harness, saying: Saying) {
  const begun = accept(bot);
  discord.mention(saying);
  return (await begun).conversation?.map(({ author, text, job }) => present({ author, text, job }));
}

describe('a chain of replies', () => {
  it('keeps what can be read when a message of it was deleted', async () => {
    const some = await start();
    const [first] = await talk(some, { text: 'one?' }, answerOf('1', 'j1'));
    const [second] = await talk(
      some,
      { text: 'two?', ...(first && { replyTo: first }) },
      answerOf('2', 'j2'),
    );
    if (!first || !second) throw new Error('There is no answer');
    some.discord.remove(first);
    expect(await remembered(some, { text: 'three?', replyTo: second })).toEqual([
      { author: 'person', text: 'two?' },
      { author: 'bot', text: '2', job: 'j2' },
    ]);
  });

  it('has the words of a message that was corrected since', async () => {
    const some = await start();
    const [answer] = await talk(some, { text: 'one?' }, answerOf('1'));
    const asked = [...some.discord.world.messages.values()].find(({ id }) => id === answer?.replyTo);
    if (!answer || !asked) throw new Error('There is no answer');
    some.discord.correct(asked, `<@${some.discord.world.bot.id}> won?`);
    expect(await remembered(some, { text: 'two?', replyTo: answer })).toEqual([
      { author: 'person', text: 'won?' },
      { author: 'bot', text: '1', job: 'j1' },
    ]);
  });

  it('names the question of an answer of several messages, whichever of them is replied to', async () => {
    const some = await start();
    const pages = await talk(some, { text: 'words?' }, answerOf(LONG));
    expect(pages.length).toBeGreaterThan(2);
    for (const page of pages) {
      const begun = accept(some.bot);
      some.discord.mention({ text: 'and?', replyTo: page });
      const [question, answer, ...others] = (await begun).conversation ?? [];
      expect(question).toMatchObject({ author: 'person', text: 'words?' });
      expect(answer).toMatchObject({ author: 'bot', answers: page.replyTo });
      expect(others).toEqual([]);
    }
    expect(some.discord.refused).toEqual([]);
  });

  it('is read once, and not for each question in it', async () => {
    const some = await start();
    const [first] = await talk(some, { text: 'one?' }, answerOf('1', 'j1'));
    const [second] = await talk(
      some,
      { text: 'two?', ...(first && { replyTo: first }) },
      answerOf('2', 'j2'),
    );
    if (!second) throw new Error('There is no answer');
    const reads = () => some.discord.requests.filter((request) => /^GET .*messages/.test(request)).length;
    const before = reads();
    expect(await remembered(some, { text: 'three?', replyTo: second })).toHaveLength(4);
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

  it('that people opened is remembered by /ask too', async () => {
    const some = await start();
    const channel = threadOf(some);
    await talk(some, { text: 'one?', channel }, answerOf('1'));
    const begun = accept(some.bot);
    some.discord.command({ name: 'ask', options: { question: 'two?' }, channel });
    expect((await begun).conversation).toMatchObject([
      { author: 'person', text: 'one?' },
      { author: 'bot', text: '1', job: 'j1' },
    ]);
  });

  it('keeps what can be read when the message that it was opened at was deleted', async () => {
    const some = await start();
    const { discord } = some;
    const [answer] = await talk(some, { text: 'one?' }, { ...answerOf('1'), conversation: true });
    if (!answer) throw new Error('There is no answer');
    discord.press('Continue in a thread', answer);
    const channel = await discord.until(() => discord.world.channels.get(answer.id), 'a thread');
    await talk(some, { text: 'two?', channel }, answerOf('2', 'j2'));
    discord.remove(answer);
    expect(await remembered(some, { text: 'three?', channel })).toEqual([
      { author: 'person', text: 'two?' },
      { author: 'bot', text: '2', job: 'j2' },
    ]);
  });

  it.each([
    ['one message', 'Because.'],
    ['several messages', LONG],
  ])('opened at an answer of %s is named after its question', async (_name, text) => {
    const some = await start();
    const pages = await talk(some, { text: 'Why is it so?' }, { ...answerOf(text), conversation: true });
    const last = pages.at(-1);
    if (!last) throw new Error('There is no answer');
    await some.discord.press('Continue in a thread', last).response();
    expect(some.discord.world.channels.get(last.id)?.name).toBe('Why is it so?');
  });

  it('opened at a long answer to a command is named after its question too', async () => {
    const some = await start();
    const { discord, bot } = some;
    const message = { ...answerOf(LONG), title: '“Why is it so?”', conversation: true };
    const begun = accept(bot);
    const asked = discord.command({ name: 'ask', options: { question: 'Why is it so?' } });
    const { address } = await begun;
    await some.platform.show(address, message, { key: 'j', remember: async () => {} });
    const last = discord.said().at(-1);
    if (!last || last === asked.original) throw new Error('The answer is one message');
    await discord.press('Continue in a thread', last).response();
    expect(discord.world.channels.get(last.id)?.name).toBe('“Why is it so?”');
  });
});

describe('a mention without words', () => {
  it('is greeted with what the bot can do', async () => {
    const some = await start();
    const asked = some.discord.mention({ text: '' });
    const answer = await some.discord.until(() => some.discord.said()[0], 'a greeting');
    expect(answer.replyTo).toBe(asked.id);
    expect(some.bot.invocations).toMatchObject([{ command: 'minstrel', options: {} }]);
  });

  it('as a reply to the bot is greeted as well', async () => {
    const some = await start();
    const [answer] = await talk(some, { text: 'one?' }, answerOf('1'));
    const begun = accept(some.bot);
    some.discord.mention({ text: '', ...(answer && { replyTo: answer }) });
    expect((await begun).command).toBe('minstrel');
  });

  it("as a reply to another's message asks about that message, with its files", async () => {
    const some = await start(withMessageContent);
    const bob = some.discord.world.addUser('Bob');
    const files = [{ filename: 'sea.png', contentType: 'image/png', bytes: new Uint8Array([1]) }];
    const said = some.discord.say({ text: 'Why is the sea loud?', user: bob, files });
    const begun = accept(some.bot);
    some.discord.mention({ text: '', replyTo: said });
    expect(await begun).toMatchObject({
      command: 'ask',
      options: { question: 'Why is the sea loud?', image: { name: 'sea.png' } },
      person: { displayName: 'Ada' },
      conversation: [],
    });
  });

  it('as a reply to a message that Discord hides says what to do', async () => {
    const some = await start();
    const said = some.discord.say({ text: 'Why is the sea loud?', user: some.discord.world.addUser('Bob') });
    some.discord.mention({ text: '', replyTo: said });
    const told = await some.discord.until(() => some.discord.said()[0], 'an answer');
    expect(told.content).toContain('“Ask about this”');
    expect(some.bot.invocations).toEqual([]);
  });
});

it('a mention of its role, whose text it may not read, gets the way out', async () => {
  const { discord, bot } = await start();
  discord.say({ text: `<@&${discord.guild.botRoleId}> what is a mode?` });
  const answer = await discord.until(() => discord.said().at(-1), 'an answer');
  expect(answer.content).toContain('Mention me by name instead');
  expect(bot.invocations).toEqual([]);
});
