import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Progress } from '../../../../src/core/message.ts';
import { statusOf } from '../../../../src/platforms/slack/connection/agent-sessions.ts';
import { readableText } from '../../../servers/slack/mentions.ts';
import { type Harness, type HarnessOptions, startHarness } from '../harness.ts';

let harness: Harness;

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ agents: true, ...options });
};

beforeEach(() => start());
afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const PROMPTS = ['one', 'two', 'three', 'four', 'five'].map((word) => ({
  title: word,
  message: `Say ${word}.`,
}));
const questions = () => harness.bot.invocations.map(({ options }) => options.question);
const waitForQuestion = (question: string) => harness.server.until(() => questions().includes(question));
const session = (ts: string) => harness.server.workspace.session('D0ADA', ts);
const lastStatus = (ts: string) => session(ts)?.statuses.at(-1);

describe('the agent view', () => {
  it('suggests at most four prompts, and belongs to the workspace', async () => {
    const { server, bot } = harness;
    bot.suggested = PROMPTS;
    await server.openMessages();
    const { title, prompts } = await server.until(() => server.workspace.suggested.get('D0ADA'));
    expect(title).not.toBe('');
    expect(prompts).toEqual(PROMPTS.slice(0, 4));
    expect(bot.promptRequests[0]).toMatchObject({
      address: { guild: 'T0MINSTREL', channel: 'D0ADA', person: 'U0ADA' },
      person: { id: 'U0ADA' },
    });
    expect(bot.promptRequests[0]?.address.direct).toBeUndefined();
    expect(server.botMessages('D0ADA')).toEqual([]);
  });

  it('shows nothing if there are no suggestions', async () => {
    const { server, bot } = harness;
    await server.openMessages();
    await server.until(() => bot.promptRequests.length === 1);
    await server.directMessage('hello');
    await waitForQuestion('hello');
    expect(server.callsOf('assistant.threads.setSuggestedPrompts')).toEqual([]);
  });

  it('starts a titled thread with separate history for each message', async () => {
    const { server, bot, show } = harness;
    const { message: first } = await server.directMessage('what is a mode?\nplease');
    await waitForQuestion('what is a mode?\nplease');
    expect(session(first.ts)).toMatchObject({ title: 'what is a mode?', initiator: 'U0ADA' });
    expect(lastStatus(first.ts)).toBe('processing');
    const [invocation] = bot.invocations;
    if (invocation === undefined) throw new Error('no invocation');
    expect(invocation.address).toMatchObject({ channel: 'D0ADA', thread: first.ts, guild: 'T0MINSTREL' });
    expect(invocation.address.direct).toBeUndefined();
    await show({ text: 'A scale.' }, { address: invocation.address });
    expect(lastStatus(first.ts)).toBe('active');
    const { message: second } = await server.directMessage(`about ${'rain '.repeat(60)}`);
    await server.until(() => bot.invocations.length === 2);
    expect(bot.invocations[1]?.conversation).toEqual([]);
    expect(session(second.ts)?.title.length).toBeLessThanOrEqual(80);
    await server.directMessage('and a key?', { threadTs: first.ts });
    await waitForQuestion('and a key?');
    expect(bot.invocations[2]).toMatchObject({
      address: { thread: first.ts },
      conversation: [
        { author: 'person', text: 'what is a mode?\nplease' },
        { author: 'bot', text: 'A scale.' },
      ],
    });
    expect(session(first.ts)?.title).toBe('what is a mode?');
  });

  it('shows progress whenever it is updated, and the end', async () => {
    await harness.stop();
    await start({ realTime: true });
    const { server, slack, bot, show, now } = harness;
    const { message } = await server.directMessage('a song');
    await waitForQuestion('a song');
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('no invocation');
    const progress: Progress = { stage: 'Composing', startedAt: now(), estimateMs: 90_000 };
    await show({ title: 'Rain', progress }, { address });
    expect(lastStatus(message.ts)).toMatch(/^Composing, \d s of about 90 s$/);
    harness.passTime(40_000);
    const again = await slack.showProgress?.(address, progress);
    expect(again).toBeLessThan(120_000);
    expect(lastStatus(message.ts)).toMatch(/^Composing, 4\d s of about 90 s$/);
    await show({ title: 'Rain', text: 'La la' }, { address });
    expect(lastStatus(message.ts)).toBe('active');
    expect(await slack.showProgress?.({ ...address, channel: 'C0MUSIC' }, progress)).toBeUndefined();
  });

  it('is idle again after an answer without a job', async () => {
    const { server, bot } = harness;
    bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: 'Not today.' } });
    const { message } = await server.directMessage('a song');
    await server.until(() => lastStatus(message.ts) === 'active');
    expect(server.ephemeralsOf().map(readableText)).toEqual([expect.stringContaining('Not today')]);
  });

  it('streams answers into the thread', async () => {
    const { server, slack, bot, update } = harness;
    const { message } = await server.directMessage('tell me');
    await waitForQuestion('tell me');
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('no invocation');
    const stream = slack.stream(address, { key: 'job-1', remember: async () => {} });
    await update(stream, { text: 'Once upon a time\n' });
    await update(stream, { text: 'Once upon a time\nthere was a king\n' });
    await stream.close({ text: 'Once upon a time\nthere was a king\nand a queen' });
    expect(server.callsOf('chat.startStream')).toHaveLength(1);
    expect(server.thread(message).map(readableText).join(' ')).toContain('and a queen');
    expect(lastStatus(message.ts)).toBe('active');
  });

  it("has a stop button that cancels the person's jobs in the thread", async () => {
    const { server, bot } = harness;
    const { message } = await server.directMessage('a song');
    await waitForQuestion('a song');
    await server.stopSession(message);
    await server.until(() => lastStatus(message.ts) === 'active');
    expect(bot.cancelled).toMatchObject([
      { address: { channel: 'D0ADA', thread: message.ts, guild: 'T0MINSTREL' }, person: { id: 'U0ADA' } },
    ]);
  });

  it('attributes its buttons to the workspace, and other direct messages to the person', async () => {
    const { server, bot, show } = harness;
    await server.directMessage('a song');
    await waitForQuestion('a song');
    const address = bot.invocations[0]?.address;
    if (address === undefined) throw new Error('no invocation');
    await show(
      { text: 'Here', actions: [{ type: 'action', id: 'song.again:j1:0', label: 'Again' }] },
      { address },
    );
    const answer = server.botMessages('D0ADA').at(-1);
    if (answer === undefined) throw new Error('no answer');
    await server.press(answer, 'Again');
    await server.slash('/song', 'rain', { channel: 'D0ADA' });
    expect(bot.invocations.slice(1).map(({ address: { direct } }) => direct)).toEqual([undefined, true]);
  });
});

describe('a workspace without agents', () => {
  it.each(['not_allowed', 'unknown_method', 'missing_scope'])(
    'that answers %s gets plain direct messages, and is asked once',
    async (error) => {
      await harness.stop();
      await start({ agents: error !== 'not_allowed' });
      const { server, bot } = harness;
      if (error !== 'not_allowed')
        server.faults.every(1, 'agents.sessions.setStatus', { type: 'error', error });
      const { message } = await server.directMessage('hello');
      await waitForQuestion('hello');
      await server.directMessage('and now?');
      await waitForQuestion('and now?');
      expect(bot.invocations.map(({ address }) => [address.thread, address.direct])).toEqual([
        [undefined, true],
        [undefined, true],
      ]);
      expect(bot.invocations[1]?.conversation).toMatchObject([{ text: 'hello' }]);
      bot.suggested = PROMPTS;
      await server.openMessages();
      await server.stopSession(message);
      expect(server.callsOf('agents.sessions.setStatus')).toHaveLength(1);
      expect(server.callsOf('assistant.threads.setSuggestedPrompts')).toEqual([]);
      expect(harness.warnings).toEqual([]);
    },
  );

  it('is not asked if the app was installed before it was an agent', async () => {
    await harness.stop();
    await start({ scopes: ['chat:write', 'im:history', 'users:read'] });
    const { server } = harness;
    await server.directMessage('hello');
    await waitForQuestion('hello');
    expect(server.callsOf('agents.sessions.setStatus')).toEqual([]);
  });

  it('that does not answer in time gets a plain answer', async () => {
    const { server, bot } = harness;
    server.hold('agents.sessions.setStatus');
    await server.directMessage('hello');
    await waitForQuestion('hello');
    expect(bot.invocations[0]?.address).toMatchObject({ direct: true });
  });
});

describe('the status text', () => {
  const at = { stage: 'Composing', startedAt: 1_000_000 };
  it.each([
    [{ ...at }, 1_000, 'Composing, for 1 s'],
    [{ ...at }, 20_000, 'Composing, for 20 s'],
    [{ ...at, estimateMs: 90_000 }, 1_000, 'Composing, 1 s of about 90 s'],
    [{ ...at, estimateMs: 80_000 }, 40_000, 'Composing, 40 s of about 80 s'],
    [{ ...at, estimateMs: 80_000 }, 95_000, 'Composing, for 95 s'],
    [{ ...at, queuePosition: 3 }, 40_000, 'Composing, position 3 in the queue'],
    [{ ...at, until: 1_100_000 }, 40_000, 'Composing, up to 60 s more'],
  ])('%j after %d ms: %s', (progress, elapsed, expected) => {
    expect(statusOf(progress, progress.startedAt + elapsed)).toBe(expected);
  });

  it("fits Slack's limit", () => {
    const stage = 'Listening to when each line of a very long song is sung';
    const status = statusOf({ stage, startedAt: 0, estimateMs: 80_000 }, 40_000);
    expect(status.length).toBeLessThanOrEqual(50);
    expect(status).toContain('40 s of about 80 s');
  });
});
