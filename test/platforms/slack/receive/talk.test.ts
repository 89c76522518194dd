import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readableText } from '../../../servers/slack/mentions.ts';
import { type Harness, startHarness } from '../harness.ts';

/** Channels where every message is a question. */
const EVENTS = ['app_mention', 'message.im', 'message.channels'];
let harness: Harness;

const start = async (threads: boolean) => {
  harness = await startHarness({ events: EVENTS, threads, realTime: true });
  harness.bot.talkative.add('C0MUSIC');
};
beforeEach(() => start(true));
afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const questions = () => harness.bot.invocations.map(({ options }) => options.question);
/** When the bot answers this, it has handled every earlier event. */
async function allQuestions() {
  const { server } = harness;
  await server.directMessage('and now?');
  await server.until(() => questions().includes('and now?'));
  return questions().filter((question) => question !== 'and now?');
}

describe('in a channel where every message is a question', () => {
  it('answers each message in its own thread', async () => {
    const { server, bot } = harness;
    const { message: first } = await server.say('what is a mode?');
    const { message: second } = await server.say('and a key?', { user: 'U0BOB' });
    await server.until(() => bot.started === 2);
    expect(bot.invocations).toMatchObject([
      { command: 'ask', options: { question: 'what is a mode?' }, address: { thread: first.ts } },
      { options: { question: 'and a key?' }, address: { thread: second.ts, person: 'U0BOB' } },
    ]);
    expect(bot.invocations.map(({ conversation }) => conversation)).toEqual([[], []]);
  });

  it('continues in the thread, and ignores messages between people there', async () => {
    const { server, bot, show } = harness;
    const { message } = await server.say('what is a mode?');
    await server.until(() => bot.started === 1);
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('no invocation');
    await show({ text: 'A scale.' }, { address });
    await server.say('<@U0BOB> did you know?', { threadTs: message.ts });
    await server.say('I think <@U0ADA> is right', { threadTs: message.ts, user: 'U0BOB' });
    await server.say('which ones are there?', { threadTs: message.ts, user: 'U0BOB' });
    expect(await allQuestions()).toEqual(['what is a mode?', 'which ones are there?']);
  });

  it('ignores messages that mention people, groups or everyone, and answers a mention once', async () => {
    const { server } = harness;
    for (const text of [
      '<@U0BOB> hi',
      'ask <@U0BOB> about it',
      '<!here> lunch',
      '<!subteam^S0BAND> rehearsal',
    ])
      await server.say(text);
    await server.mention('hello');
    expect(await allQuestions()).toEqual(['hello']);
  });

  it('ignores bots, joins, topics, edits and files without text', async () => {
    const { server } = harness;
    const event = {
      type: 'message',
      channel: 'C0MUSIC',
      channel_type: 'channel',
      user: 'U0BOB',
      text: 'hm?',
    };
    await server.sendEvent({ ...event, ts: '1.000001', bot_id: 'B0OTHER' });
    for (const subtype of ['bot_message', 'channel_join', 'channel_topic', 'me_message'])
      await server.sendEvent({ ...event, ts: '1.000002', subtype });
    const message = { ...event, ts: '1.000003' };
    await server.sendEvent({ ...event, ts: '1.000004', subtype: 'message_changed', message });
    await server.say('', {
      files: [server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' })],
    });
    expect(await allQuestions()).toEqual([]);
  });

  it('answers text with a file as a question about it', async () => {
    const { server, bot } = harness;
    const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
    await server.say('what is this?', { files: [picture] });
    await server.until(() => bot.started === 1);
    expect(bot.invocations[0]?.options).toMatchObject({
      question: 'what is this?',
      image: { name: 'sky.png' },
    });
  });

  it('explains privately how to type a command', async () => {
    const { server } = harness;
    await server.say(' /song about rain');
    const notice = await server.until(() => server.ephemeralsOf()[0]);
    expect(readableText(notice)).toContain('Type / in the message box');
    await server.say('/giphy rain');
    await server.say('!play rain');
    expect(await allQuestions()).toEqual([]);
    expect(server.ephemeralsOf()).toHaveLength(1);
  });

  it('explains a refusal once', async () => {
    const { server, bot } = harness;
    bot.answer = async () => ({
      type: 'message',
      visibility: 'person',
      message: { text: 'The limit is reached.' },
      refusedUntil: Date.now() + 60_000,
    });
    await server.say('one');
    await server.until(() => server.ephemeralsOf().length === 1);
    await server.say('two');
    await server.say('mine', { user: 'U0BOB' });
    await server.until(() => questions().includes('mine'));
    expect(questions()).toEqual(['one', 'mine']);
  });

  it('treats messages in quick succession as one conversation, in the thread of the first', async () => {
    const { server, bot } = harness;
    const { message } = await server.say('hello');
    await server.say('a question about modes');
    await server.say('which one is sad?');
    await server.say('mine is another', { user: 'U0BOB' });
    await server.until(() => bot.started === 4);
    expect(bot.invocations.slice(0, 3).every(({ address }) => address.thread === message.ts)).toBe(true);
    expect(bot.invocations[2]?.conversation).toMatchObject([
      { author: 'person', person: 'U0ADA', text: 'hello' },
      { author: 'person', person: 'U0ADA', text: 'a question about modes' },
    ]);
    expect(bot.invocations[3]).toMatchObject({ conversation: [], address: { person: 'U0BOB' } });
    harness.passTime(6_000);
    await server.say('something else');
    await server.until(() => bot.started === 5);
    expect(bot.invocations[4]?.address.thread).not.toBe(message.ts);
  });
});

describe('elsewhere', () => {
  it('ignores messages in other channels', async () => {
    const { server } = harness;
    server.workspace.addChannel({ id: 'C0PLANS', name: 'plans' });
    await server.say('who brings cake?', { channel: 'C0PLANS' });
    expect(await allQuestions()).toEqual([]);
  });

  it("ignores all messages without the operator's setting, and tells moderators why", async () => {
    expect(harness.slack.mentionsOnlyNotice).toBeUndefined();
    await harness.stop();
    await start(false);
    await harness.server.say('what is a mode?');
    expect(await allQuestions()).toEqual([]);
    expect(harness.slack.mentionsOnlyNotice).toContain('SLACK_THREADS=1');
  });
});
