import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readableText } from '../../../servers/slack/mentions.ts';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

let harness: Harness;

const EVENTS = ['app_mention', 'message.im', 'message.channels', 'message.groups', 'message.mpim'];
const SCOPES = [
  'files:read',
  'app_mentions:read',
  'channels:history',
  'chat:write',
  'groups:history',
  'im:history',
  'mpim:history',
  'users:read',
];

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ events: EVENTS, scopes: SCOPES, threads: true, ...options });
};

beforeEach(() => start());

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const questions = () => harness.bot.invocations.map(({ options }) => options.question);
/** When the bot answers this, it has handled every earlier event. */
async function allInvocations() {
  const { server, bot } = harness;
  await server.directMessage('and now?');
  await server.until(() => questions().includes('and now?'));
  return bot.invocations.filter(({ options }) => options.question !== 'and now?');
}

describe('a thread that the bot joined', () => {
  it('continues without a mention, with the full history', async () => {
    const { server, show, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.started === 1);
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('no invocation');
    await show({ text: 'Hello Ada.' }, { address });
    await server.say('what is the time?', { threadTs: message.ts, user: 'U0BOB' });
    await server.until(() => bot.started === 2);
    expect(bot.invocations[1]).toMatchObject({
      options: { question: 'what is the time?' },
      address: { thread: message.ts, person: 'U0BOB' },
      conversation: [
        { author: 'person', text: 'hello' },
        { author: 'bot', text: 'Hello Ada.' },
      ],
    });
  });

  it('continues without deleted messages', async () => {
    const { server, show, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.started === 1);
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('no invocation');
    await show({ text: 'Hello Ada.' }, { address });
    await server.remove(message);
    await server.say('what is the time?', { threadTs: message.ts, user: 'U0BOB' });
    await server.until(() => bot.started === 2);
    expect(bot.invocations[1]?.conversation).toMatchObject([{ author: 'bot', text: 'Hello Ada.' }]);
  });

  it.each([
    ['a private channel', { id: 'G0BAND', name: 'band', kind: 'group' as const }],
    ['a group message', { id: 'G0TALK', name: 'talk', kind: 'mpim' as const }],
  ])('can start below a message of the bot, in %s', async (_name, channel) => {
    const { server, show, bot } = harness;
    server.workspace.addChannel(channel);
    await show(
      { text: 'A song' },
      { address: { platform: 'slack', guild: 'T0MINSTREL', channel: channel.id, person: 'U0ADA' } },
    );
    const [own] = server.botMessages(channel.id);
    await server.say('nice!', { threadTs: own?.ts ?? '', channel: channel.id });
    await server.until(() => bot.started === 1);
    expect(questions()).toEqual(['nice!']);
  });

  it('answers a mention once, although Slack sends two events', async () => {
    const { server, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.started === 1);
    const { eventIds } = await server.mention('again', { threadTs: message.ts });
    expect(eventIds).toHaveLength(2);
    await server.say(`what about <@${server.workspace.botUser}> now`, { threadTs: message.ts });
    const heard = (await allInvocations()).map(({ options }) => options.question);
    expect(heard).toEqual(['hello', 'again', 'what about now']);
  });

  it('reads images that are sent in it', async () => {
    const { server, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.started === 1);
    const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
    await server.say('what is this?', { threadTs: message.ts, files: [picture] });
    await server.until(() => bot.started === 2);
    expect(bot.invocations[1]?.options).toMatchObject({
      question: 'what is this?',
      image: { name: 'sky.png' },
    });
  });
});

describe('a message to the bot', () => {
  it('without text refers to the message before it, or is answered with help', async () => {
    const { server, bot } = harness;
    const { message } = await server.say('what is a mode?', { user: 'U0BOB' });
    await server.mention('', { threadTs: message.ts });
    await server.until(() => bot.started === 1);
    await server.mention('');
    await server.until(() => bot.started === 2);
    expect(bot.invocations).toMatchObject([
      { command: 'ask', options: { question: 'what is a mode?' }, conversation: [], person: { id: 'U0ADA' } },
      { command: 'minstrel', options: {} },
    ]);
  });

  it('with only an image asks what the image shows', async () => {
    const { server, bot } = harness;
    const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
    await server.mention('', { files: [picture] });
    await server.until(() => bot.started === 1);
    expect(bot.invocations[0]?.options).toMatchObject({
      question: 'What is in this image?',
      image: { name: 'sky.png' },
    });
  });

  it('includes files of another workspace, or reports that they could not be opened', async () => {
    const { server, bot } = harness;
    const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
    picture.isIdOnly = true;
    await server.mention('what is this?', { files: [picture] });
    await server.until(() => bot.started === 1);
    expect(bot.invocations[0]?.options).toMatchObject({ image: { name: 'sky.png' } });
    server.faults.next('files.info', { type: 'error', error: 'file_not_found' });
    await server.mention('and now?', { files: [picture] });
    await server.until(() => bot.started === 2);
    expect(server.ephemeralsOf().map(readableText)).toEqual([expect.stringContaining('another workspace')]);
  });

  it('of another bot is not answered, even if that bot has a user', async () => {
    const { server, bot } = harness;
    const event = { channel: 'C0MUSIC', user: 'U0BOB', bot_id: 'B0OTHER', ts: '1.000001' };
    await server.sendEvent({ ...event, type: 'app_mention', text: '<@U0MINSTREL> hello' });
    await allInvocations();
    expect(bot.invocations.map(({ options }) => options.question)).toEqual(['and now?']);
  });

  it("contains people's names, even in the history and for unknown people", async () => {
    const { server, bot } = harness;
    const { message } = await server.say('<@U0BOB> sings', { user: 'U0ADA' });
    await server.mention('a song for <@U0BOB> and <@U0NOBODY>', { threadTs: message.ts });
    await server.until(() => bot.started === 1);
    expect(bot.invocations[0]).toMatchObject({
      options: { question: 'a song for @bob and @somebody' },
      conversation: [{ text: '@bob sings' }],
    });
    expect(server.refused.splice(0).map(({ error }) => error)).toEqual(['user_not_found']);
  });

  it('has the first and the newest messages of a long thread as history', async () => {
    await harness.stop();
    await start({ pageMessages: 15 });
    const { server, bot } = harness;
    const { message } = await server.say('about modes');
    for (let index = 1; index <= 120; index += 1) await server.say(`word ${index}`, { threadTs: message.ts });
    await server.mention('and now?', { threadTs: message.ts });
    await server.until(() => bot.invocations.some(({ options }) => options.question === 'and now?'));
    const texts = bot.invocations.at(-1)?.conversation?.map(({ text }) => text) ?? [];
    expect([texts[0], texts[1], texts.at(-1), texts.length]).toEqual([
      'about modes',
      'word 71',
      'word 120',
      51,
    ]);
  });
});

describe('messages between people', () => {
  it('are ignored in channels, in threads without the bot, and if they address someone', async () => {
    const { server, bot } = harness;
    const { message: conversation } = await server.say('hi all');
    for (const words of ['one', 'two', 'three']) await server.say(words, { threadTs: conversation.ts });
    // Read once, not for every message.
    await allInvocations();
    expect(server.callsOf('conversations.replies')).toHaveLength(1);
    const { message: ours } = await server.mention('hello');
    await server.until(() => questions().includes('hello'));
    await server.say('<@U0BOB> do you agree?', { threadTs: ours.ts });
    expect((await allInvocations()).map(({ options }) => options.question)).toEqual(['hello']);
    expect(bot.invocations.every(({ address }) => address.thread !== conversation.ts)).toBe(true);
  });

  it('are not read if the operator did not enable it', async () => {
    await harness.stop();
    await start({ threads: false });
    const { server } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => harness.bot.started === 1);
    await server.say('go on', { threadTs: message.ts });
    expect((await allInvocations()).map(({ options }) => options.question)).toEqual(['hello']);
    expect(server.callsOf('conversations.replies')).toEqual([]);
  });

  it('are answered once somebody mentions the bot', async () => {
    const { server, bot } = harness;
    const { message } = await server.say('hi all');
    await server.say('one', { threadTs: message.ts });
    await server.mention('join us', { threadTs: message.ts });
    await server.until(() => bot.started === 1);
    await server.say('go on', { threadTs: message.ts });
    await server.until(() => bot.started === 2);
    expect(questions()).toEqual(['join us', 'go on']);
  });
});
