import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { json, startUpstream, type Upstream } from '../jobs/ask/upstream.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import type { PostedMessage } from '../servers/slack/workspace.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The agent view, from prompts to the song, through the real Bolt, the whole bot and a workspace with agents. */
const TOOLS = '/v1beta/models/facet-tools:generateContent';
let slack: SlackServer;
let upstream: Upstream;
let running: RunningMinstrel;

const ADA = 'U0ADA';
const BOB = 'U0BOB';

beforeAll(async () => {
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS, agents: true });
  upstream = await startUpstream();
  // Replaced when the emulator's URL is known.
  upstream.gateway = 'http://127.0.0.1:9';
  running = await startMinstrel({
    ...slack.environment,
    GATEWAY_BASE_URL: upstream.url,
    TOOL_MODEL: 'facet-tools',
    ADMIN_PORT: '0',
  });
  upstream.gateway = running.emulator.url;
});
afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await slack?.close();
});

async function privately(user: string, command: string, text: string): Promise<string> {
  const before = slack.ephemeralsOf(user).length;
  await slack.slash(command, text, { user });
  await slack.until(() => slack.ephemeralsOf(user).length > before);
  return slack.ephemeralsOf(user).slice(before).map(readableText).join('\n');
}

/** Returns the prompts suggested when a person opens the agent view. */
async function suggestions(user = ADA): Promise<string[]> {
  const { id } = slack.workspace.directChannel(user);
  slack.workspace.suggested.delete(id);
  await slack.openMessages({ user });
  const { prompts } = await slack.until(() => slack.workspace.suggested.get(id));
  return prompts.map(({ title }) => title);
}

const replies = (root: PostedMessage) =>
  slack.thread(root).filter(({ user }) => user === slack.workspace.botUser);
const answerTo = (root: PostedMessage) =>
  slack.until(() => replies(root).find(({ blocks }) => JSON.stringify(blocks).includes('ask.again')));
const lastStatus = ({ channel, ts }: PostedMessage) => slack.workspace.session(channel, ts)?.statuses.at(-1);

describe('the agent view', () => {
  it('suggests allowed requests, and commands only after moderators turn them on', async () => {
    expect(await suggestions()).toEqual(['Ask a question']);
    expect(await privately(BOB, '/models', 'answers --assistant --where server')).toContain('on');
    expect(await suggestions()).toEqual(['Make a song', 'Write lyrics', 'Make an image', 'Make a video']);
    await privately(BOB, '/limits', 'deny video workspace');
    expect(await suggestions()).toEqual(['Make a song', 'Write lyrics', 'Make an image', 'Ask a question']);
  });

  it('creates a song from plain words in the thread, with a status until it is ready', async () => {
    upstream.next(
      TOOLS,
      json({
        candidates: [
          {
            content: {
              role: 'model',
              parts: [
                { functionCall: { name: 'song', args: { prompt: 'rain', instrumental: true }, id: '1' } },
              ],
            },
            finishReason: 'STOP',
          },
        ],
      }),
      json({
        candidates: [
          { content: { role: 'model', parts: [{ text: 'It is on its way.' }] }, finishReason: 'STOP' },
        ],
      }),
    );
    const { message } = await slack.directMessage('make me a tune about rain');
    const song = await slack.until(() =>
      replies(message).find(({ blocks }) => JSON.stringify(blocks).includes('song.stems')),
    );
    expect(song.threadTs).toBe(message.ts);
    await answerTo(message);
    await slack.until(() => lastStatus(message) === 'active');
    const session = slack.workspace.session(message.channel, message.ts);
    expect(session?.title).toBe('make me a tune about rain');
    expect(session?.statuses).toContain('processing');
    expect(session?.statuses.some((status) => status.startsWith('Recording take 1'))).toBe(true);
    expect(slack.botMessages(message.channel).every(({ threadTs }) => threadTs === message.ts)).toBe(true);
  });

  it('ends the answer and the status if the question is deleted', async () => {
    const requested = Promise.withResolvers<void>();
    const { abandoned } = upstream;
    upstream.next(TOOLS, () => requested.resolve());
    const { message } = await slack.directMessage('a question that I take back');
    await requested.promise;
    await slack.remove(message);
    await slack.until(() => upstream.abandoned > abandoned && lastStatus(message) === 'active');
    const botReplies = slack
      .botMessages(message.channel)
      .filter(({ threadTs }) => threadTs === message.ts)
      .map(readableText);
    expect(botReplies).toEqual([expect.stringMatching(/cancelled|stopped/i)]);
  });

  it('enforces moderators’ rules for requests in plain words', async () => {
    const call = { functionCall: { name: 'video', args: { prompt: 'waves' }, id: '1' } };
    const content = (part: object) =>
      json({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] });
    upstream.next(TOOLS, content(call), content({ text: 'I may not.' }));
    const { message } = await slack.directMessage('film the sea');
    const answer = await answerTo(message);
    expect(readableText(answer)).toContain('/video: refused');
    expect(readableText(answer)).toContain('turned off /video');
  });
});

describe('feedback on an answer', () => {
  let answer: PostedMessage;

  it('is given with Slack’s buttons, once per person, and can be changed', async () => {
    await privately(BOB, '/models', 'answers --assistant --where server');
    const content = { role: 'model', parts: [{ text: 'Because.' }] };
    upstream.next(TOOLS, json({ candidates: [{ content, finishReason: 'STOP' }] }));
    const { message } = await slack.directMessage('why?');
    answer = await answerTo(message);
    for (const judgement of ['good', 'good', 'bad'] as const) {
      const before = slack.ephemeralsOf(ADA).length;
      await slack.judge(answer, judgement);
      const botReplies = await slack.until(() => slack.ephemeralsOf(ADA)[before]);
      expect(readableText(botReplies)).toContain(`this answer as ${judgement}`);
    }
    const report = await privately(BOB, '/limits', 'report 7');
    expect(report).toMatch(/Votes on answers[\s\S]*facet-tools\n0\n1/);
    const metrics = await (await fetch(running.minstrel.metricsUrl ?? '')).text();
    const counted = (judgement: string) =>
      `minstrel_feedback_total{platform="slack",model="facet-tools",judgement="${judgement}"} 1`;
    expect(metrics).toContain(counted('good'));
    expect(metrics).toContain(counted('bad'));
  });

  it('is erased with the person', async () => {
    await privately(ADA, '/minstrel', 'forget --confirm');
    expect(await privately(BOB, '/limits', 'report 7')).not.toContain('Votes on answers');
  });

  it('has no buttons under other messages', () => {
    const songs = slack.workspace.messages.filter(({ blocks }) =>
      JSON.stringify(blocks).includes('song.stems'),
    );
    expect(songs.length).toBeGreaterThan(0);
    expect(JSON.stringify(songs.map(({ blocks }) => blocks))).not.toContain('feedback_buttons');
  });
});
