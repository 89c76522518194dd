import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, type HarnessOptions, startHarness } from './harness.ts';

let harness: Harness;

const EVENTS = ['app_mention', 'message.im', 'message.channels', 'message.groups', 'message.mpim'];
const SCOPES = [
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
/** Everything before it was heard when the bot answers this. */
async function settle() {
  const { server, bot } = harness;
  await server.directMessage('and now?');
  await server.until(() => questions().includes('and now?'));
  return bot.invocations.filter(({ options }) => options.question !== 'and now?');
}

describe('a thread that the bot takes part in', () => {
  it('goes on without its name, with all that was said', async () => {
    const { server, show, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.begun === 1);
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('nothing was asked');
    await show({ text: 'Hello Ada.' }, { address });
    await server.say('what is the time?', { threadTs: message.ts, user: 'U0BOB' });
    await server.until(() => bot.begun === 2);
    expect(bot.invocations[1]).toMatchObject({
      options: { question: 'what is the time?' },
      address: { thread: message.ts, person: 'U0BOB' },
      conversation: [
        { author: 'person', text: 'hello' },
        { author: 'bot', text: 'Hello Ada.' },
      ],
    });
  });

  it.each([
    ['a private channel', { id: 'G0BAND', name: 'band', kind: 'group' as const }],
    ['a group message', { id: 'G0TALK', name: 'talk', kind: 'mpim' as const }],
  ])('is one that began under a message of its own, in %s', async (_name, channel) => {
    const { server, show, bot } = harness;
    server.workspace.addChannel(channel);
    await show(
      { text: 'A song' },
      { address: { platform: 'slack', guild: 'T0MINSTREL', channel: channel.id, person: 'U0ADA' } },
    );
    const [own] = server.botMessages(channel.id);
    await server.say('nice!', { threadTs: own?.ts ?? '', channel: channel.id });
    await server.until(() => bot.begun === 1);
    expect(questions()).toEqual(['nice!']);
  });

  it('hears a message with its name once, though Slack tells of it twice', async () => {
    const { server, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.begun === 1);
    const { eventIds } = await server.mention('again', { threadTs: message.ts });
    expect(eventIds).toHaveLength(2);
    expect((await settle()).map(({ options }) => options.question)).toEqual(['hello', 'again']);
  });

  it('reads pictures that are sent into it', async () => {
    const { server, bot } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => bot.begun === 1);
    const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
    await server.say('what is this?', { threadTs: message.ts, files: [picture] });
    await server.until(() => bot.begun === 2);
    expect(bot.invocations[1]?.options).toMatchObject({
      question: 'what is this?',
      image: { name: 'sky.png' },
    });
  });
});

describe('other people’s talk', () => {
  it('is left alone: in channels, in threads without the bot, to somebody by name', async () => {
    const { server, bot } = harness;
    const { message: theirs } = await server.say('hi all');
    for (const words of ['one', 'two', 'three']) await server.say(words, { threadTs: theirs.ts });
    // Looked at once, and not for every word.
    await settle();
    expect(server.callsOf('conversations.replies')).toHaveLength(1);
    const { message: ours } = await server.mention('hello');
    await server.until(() => questions().includes('hello'));
    await server.say('<@U0BOB> do you agree?', { threadTs: ours.ts });
    expect((await settle()).map(({ options }) => options.question)).toEqual(['hello']);
    expect(bot.invocations.every(({ address }) => address.thread !== theirs.ts)).toBe(true);
  });

  it('is not even looked at where the operator did not switch this on', async () => {
    await harness.stop();
    await start({ threads: false });
    const { server } = harness;
    const { message } = await server.mention('hello');
    await server.until(() => harness.bot.begun === 1);
    await server.say('go on', { threadTs: message.ts });
    expect((await settle()).map(({ options }) => options.question)).toEqual(['hello']);
    expect(server.callsOf('conversations.replies')).toEqual([]);
  });

  it('becomes the bot’s when somebody brings it in', async () => {
    const { server, bot } = harness;
    const { message } = await server.say('hi all');
    await server.say('one', { threadTs: message.ts });
    await server.mention('join us', { threadTs: message.ts });
    await server.until(() => bot.begun === 1);
    await server.say('go on', { threadTs: message.ts });
    await server.until(() => bot.begun === 2);
    expect(questions()).toEqual(['join us', 'go on']);
  });
});
