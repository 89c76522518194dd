import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { type Front, startFront } from '../servers/front.ts';
import { pings, readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import type { PostedMessage } from '../servers/slack/workspace.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The whole bot while Slack fails: everything accepted ends in one result or one message. */
let directory: string;
let slack: SlackServer;
let front: Front;
let running: RunningMinstrel | undefined;
let environment: Record<string, string>;

/** Speeds up Slack's clock and the bot's waits. */
const PACE = 5;

async function begin(connection: 'socket' | 'http', { speed = 0 } = {}): Promise<void> {
  directory = await mkdtemp(join(tmpdir(), 'minstrel-hostile-'));
  const startedAt = Date.now();
  slack = await startSlackServer({
    now: () => startedAt + (Date.now() - startedAt) * PACE,
    writtenNow: Date.now,
  });
  front = await startFront();
  environment = {
    DATA_DIR: directory,
    PUBLIC_URL: front.url,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_API_URL: slack.apiUrl,
    MEDIA_ALLOWED_HOSTS: new URL(slack.apiUrl).host,
    ...(connection === 'http'
      ? { SLACK_SIGNING_SECRET: slack.signingSecret }
      : { SLACK_APP_TOKEN: slack.appToken }),
  };
  if (connection === 'http') slack.deliverTo(`${front.url}/slack/events`);
  await start({ speed });
}

async function start(options: Parameters<typeof startMinstrel>[1]): Promise<void> {
  running = await startMinstrel(environment, { pace: PACE, ...options });
  front.leadTo(running.minstrel.url);
}

afterEach(async () => {
  await running?.[Symbol.asyncDispose]();
  running = undefined;
  await slack.close();
  await front[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const CHANNEL = 'C0MUSIC';
const EVIL = '<!channel> <@U0BOB> & <https://evil.example|click>';
const buttons = (message: PostedMessage) => JSON.stringify(message.blocks);
const top = () => slack.botMessages(CHANNEL).filter(({ threadTs }) => threadTs === undefined);
const until: typeof slack.until = (condition) => slack.until(condition);
const isEnded = (message: PostedMessage) => buttons(message).includes('Again');

/** Waits until both connections are open again, because Slack loses events sent over a broken one. */
async function untilReconnected(breakConnection: () => void): Promise<void> {
  const before = slack.socketMode.connected;
  breakConnection();
  await until(() => slack.socketMode.connected >= before + 2 && slack.socketMode.connections === 2);
}

/** Expects no losses, duplicates, pings or refused requests. */
function expectNoFaults(results: number): void {
  expect(top().filter(isEnded)).toHaveLength(results);
  expect(top()).toHaveLength(results);
  for (const message of slack.workspace.messages.filter(({ user }) => user === slack.workspace.botUser))
    expect(pings(message).filter((id) => id !== 'U0ADA')).toEqual([]);
  const files = slack.workspace.messages.flatMap((message) => message.files.map(({ id }) => id));
  expect(new Set(files).size).toBe(files.length);
  expect(slack.workspace.messages.filter(({ streaming }) => streaming?.open)).toEqual([]);
  expect(slack.refused).toEqual([]);
}

describe.each(['socket', 'http'] as const)('Slack’s faults over %s', (connection) => {
  it('answers once despite retried events, dropped connections and ended streams', async () => {
    // Slow enough to stream.
    await begin(connection, { speed: 0.2 / PACE });
    const first = await slack.mention(`what is 6 times 7? ${EVIL}`);
    await Promise.all([slack.repeat(first), slack.repeat(first)]);
    const answers = () =>
      slack
        .thread(first.message)
        .filter((message) => message.user === slack.workspace.botUser && isEnded(message));
    await until(() => answers().length === 1);
    if (connection === 'socket') await untilReconnected(() => slack.socketMode.drop());
    const essay = slack.slash('/ask', 'Write an essay about the history of rain in music');
    const ending = setInterval(() => slack.endStreams(), 150 / PACE);
    await essay;
    if (connection === 'socket') await untilReconnected(() => slack.socketMode.refresh());
    await until(() => top().some(isEnded));
    clearInterval(ending);
    expect(slack.callsOf('chat.startStream').length).toBeGreaterThan(1);
    await slack.repeat(first);
    await slack.directMessage('thanks');
    await until(() => slack.botMessages('D0ADA').some(isEnded));
    expect(answers()).toHaveLength(1);
    expectNoFaults(1);
  });
});

describe('faults that are the same over both connections', () => {
  it('loses and duplicates nothing despite rate limits, timeouts and broken responses', async () => {
    await begin('socket');
    slack.limitPosts();
    slack.faults.every(5, '*', { type: 'ratelimited', retryAfter: 1 });
    slack.faults.every(7, 'chat.postMessage', { type: 'answer lost' });
    slack.faults.every(11, 'chat.update', { type: 'dropped' });
    slack.faults.next('upload', { type: 'status', status: 503 });
    slack.faults.next('files.completeUploadExternal', { type: 'answer lost' });
    slack.faults.every(4, 'chat.appendStream', { type: 'nonsense' });
    await slack.slash('/song', `a tune for ${EVIL}`);
    await slack.slash('/image', `a fox ${EVIL}`);
    await slack.slash('/ask', 'Write an essay about the history of rain in music');
    await until(() => top().filter(isEnded).length === 3);
    const song = top().find((message) => buttons(message).includes('Stems'));
    await until(() => song && slack.thread(song).flatMap(({ files }) => files).length >= 2);
    slack.faults.clear();
    expectNoFaults(3);
  });

  it('finishes a song and an answer after a restart', async () => {
    await begin('socket');
    const emulator = running?.emulator;
    if (running === undefined || emulator === undefined) throw new Error('not running');
    await slack.slash('/song', 'a tune for the restart');
    await slack.slash('/ask', 'Write an essay about the history of rain in music');
    await until(() => top().length === 2);
    await running.minstrel.stop();
    await start({ emulator });
    await until(() => top().filter(isEnded).length === 2);
    expectNoFaults(2);
    await emulator.close();
  });

  it('reports a revoked token where possible and accepts nothing afterwards', async () => {
    await begin('socket');
    await slack.slash('/song', 'a tune before the end');
    await until(() => top().some(isEnded));
    const before = running?.emulator.requests.length ?? 0;
    slack.revokeToken();
    const { acknowledged } = await slack.slash('/image', 'nobody will see this');
    expect(acknowledged).toBe(true);
    // Work that cannot be shown anywhere is not started.
    await expect.poll(() => slack.refused.some(({ error }) => error === 'token_revoked')).toBe(true);
    expect(running?.emulator.requests.length).toBe(before);
    expect(slack.refused.every(({ error }) => error === 'token_revoked')).toBe(true);
    slack.refused.length = 0;
  });

  it('tells the requester privately if a channel is closed, and spends nothing', async () => {
    await begin('socket');
    slack.workspace.addChannel({ id: 'C0OLD', name: 'old', archived: true });
    const before = running?.emulator.requests.length ?? 0;
    for (const channel of ['C0QUIET', 'C0OLD']) await slack.slash('/song', 'a tune for rain', { channel });
    // Slack refuses private replies in archived channels, so the bot sends a direct message.
    const direct = () => slack.botMessages('D0ADA');
    await until(() => slack.ephemeralsOf('U0ADA').length === 1 && direct().length === 1);
    expect(slack.ephemeralsOf('U0ADA').map(readableText).join()).toContain('/invite @minstrel');
    expect(running?.emulator.requests.length).toBe(before);
    // No other call failed.
    expect(new Set(slack.refused.map(({ method, error }) => `${method}: ${error}`))).toEqual(
      new Set([
        'chat.postMessage: not_in_channel',
        'chat.postMessage: is_archived',
        'response_url: channel_is_archived',
        'chat.postEphemeral: is_archived',
      ]),
    );
  });
});
