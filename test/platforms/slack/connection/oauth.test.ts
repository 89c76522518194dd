import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { HttpServer } from '../../../../src/http/server.ts';
import { type Platform, PlatformError } from '../../../../src/platforms/platform.ts';
import { BOT_SCOPES } from '../../../../src/platforms/slack/manifest.ts';
import { type SlackServer, startSlackServer } from '../../../servers/slack/server.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';
import { ADDRESS, FakeBot, SONG } from '../harness.ts';
import { listenForSlack, oauthReplica } from './oauth-app.ts';

const HOUR = 3_600_000;

let server: SlackServer;
let listener: HttpServer;
let bot: FakeBot;
let log: RecordingLog;
/** What every replica shares. */
let stored: Map<string, unknown>;
let replicas: Platform[];

/** One replica of the bot; {@link oneAtATime} holds for all of them. */
async function startReplica({
  secret = server.clientSecret,
  previous,
}: {
  secret?: string;
  previous?: string;
} = {}): Promise<Platform> {
  const slack = oauthReplica({
    server,
    stored,
    log,
    secret,
    ...(previous === undefined ? {} : { previousSecret: previous }),
    withLock: oneAtATime,
  });
  await slack.start(bot);
  replicas.push(slack);
  return slack;
}

let lastWork: Promise<void>;
function oneAtATime(_task: string, work: () => Promise<void>): Promise<void> {
  const mine = lastWork.then(work);
  lastWork = mine.catch(() => undefined);
  return mine;
}

/** For the bot, the SDK and Slack. */
const passTime = (ms: number) => vi.setSystemTime(Date.now() + ms);

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  server = await startSlackServer();
  bot = new FakeBot();
  log = new RecordingLog();
  stored = new Map();
  replicas = [];
  lastWork = Promise.resolve();
  await startReplica();
  listener = await listenForSlack(server, () => replicas[0], log);
});

afterEach(async () => {
  for (const slack of replicas) await slack.close();
  await listener.close();
  await server.close();
  vi.useRealTimers();
});

const install = (...how: [Parameters<SlackServer['install']>[1]?, Parameters<SlackServer['install']>[2]?]) =>
  server.install(`${listener.url}/slack/install`, ...how);
const show = (slack: Platform | undefined, text: string, guild = 'T0MINSTREL') =>
  slack?.show({ ...ADDRESS, guild }, { text, media: [SONG] }, { key: text, remember: async () => {} });

describe('installing', () => {
  it('asks for the least scopes and says where to go on', async () => {
    const { status, page, scopes } = await install();
    expect(scopes.toSorted()).toEqual([...BOT_SCOPES].toSorted());
    expect(status).toBe(200);
    expect(page).toContain('Minstrel is ready in Minstrel');
    await show(replicas[0], 'hello');
    expect(server.botMessages()).not.toEqual([]);
    expect(server.refused).toEqual([]);
  });

  it('keeps no token readable in storage or in the log', async () => {
    await install();
    const [token] = server.calls.filter(({ method }) => method === 'auth.test');
    expect(token).toBeDefined();
    expect(JSON.stringify([...stored])).not.toMatch(/xoxb-|Minstrel"/);
    expect(JSON.stringify(log)).not.toMatch(/xoxb-|xoxe-|aaaabbbb/);
  });

  it.each([
    ['the person did not agree', { deny: true }],
    ['another browser comes back', { otherBrowser: true }],
  ])('installs nothing when %s', async (_why, how) => {
    const { status, page } = await install(server.workspace, how);
    expect(status).toBe(400);
    expect(page).toContain('Try again');
    expect(stored.size).toBe(0);
    expect(server.refused).toEqual([]);
  });

  it('takes an address that somebody made up for what it is', async () => {
    const response = await fetch(`${listener.url}/slack/oauth_redirect?code=x&state=y`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('Minstrel was not installed');
    expect((await fetch(`${listener.url}/slack/other`)).status).toBe(404);
  });

  it('tells no other site where the browser came from, since its address is a key', async () => {
    const { headers } = await fetch(`${listener.url}/slack/oauth_redirect?code=x&state=y`);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('writes a workspace’s name as it is', async () => {
    const evil = server.addWorkspace('T0EVIL', '<script>alert(1)</script>');
    const { page } = await install(evil.workspace);
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
  });
});

describe('many workspaces', () => {
  it('acts in each with its own token: messages, files, private messages, files that people attached', async () => {
    const other = server.addWorkspace('T0OTHER', 'Other');
    await install();
    await install(other.workspace);
    await show(replicas[0], 'for the first');
    await show(replicas[0], 'for the other', 'T0OTHER');
    await replicas[0]?.sendPrivately({ ...ADDRESS, guild: 'T0OTHER' }, { text: 'to you alone' });
    const words = (messages: readonly { text: string }[]) => messages.map(({ text }) => text).join('\n');
    expect(words(server.workspace.messages)).toContain('for the first');
    expect(words(server.workspace.messages)).not.toContain('for the other');
    expect(words(other.workspace.messages)).toContain('for the other');
    expect(words(other.workspace.ephemerals)).toContain('to you alone');
    const headers = async (guild: string) =>
      (await replicas[0]?.attachmentHeaders('https://files.slack.com/x', { ...ADDRESS, guild })) ?? {};
    expect(await headers('T0OTHER')).not.toEqual(await headers('T0MINSTREL'));
    expect(server.refused).toEqual([]);
  });

  it('answers in the workspace that asked', async () => {
    const other = server.addWorkspace('T0OTHER', 'Other');
    await install(other.workspace);
    bot.answer = () => ({ type: 'message', visibility: 'channel', message: { text: 'here' } });
    expect((await other.slash('/song', 'rain')).acknowledged).toBe(true);
    await server.until(() => other.workspace.messages.find(({ text }) => text.includes('here')));
    expect(bot.invocations[0]?.address.guild).toBe('T0OTHER');
    expect(server.workspace.messages).toEqual([]);
    expect(server.refused).toEqual([]);
  });

  it('tells people of a workspace where it was never installed to install it', async () => {
    const { ack } = await server.slash('/song', 'rain');
    expect(JSON.stringify(ack)).toContain('install me again');
    expect(bot.invocations).toEqual([]);
    await expect(show(replicas[0], 'lost')).rejects.toMatchObject({ code: 'gone' });
  });

  it('lets Slack send an event again that could not be handled, and answers it once', async () => {
    await install();
    server.faults.next('auth.test', { type: 'status', status: 503 });
    const { deliveries } = await server.mention('are you there?');
    expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 2 }]);
    await server.until(() => bot.begun === 1);
    expect(bot.invocations).toHaveLength(1);
    expect(server.refused.map(({ error }) => error)).toEqual(['http_503']);
  });

  it('knows what another replica installed', async () => {
    const second = await startReplica();
    await install();
    await show(second, 'from the second');
    expect(server.botMessages()).not.toEqual([]);
  });
});

describe('removal', () => {
  it('forgets the token, and ends what was on its way with “gone”', async () => {
    await install();
    await show(replicas[0], 'before');
    server.tokens.revoke(server.workspace);
    await server.uninstall();
    expect(stored.size).toBe(0);
    const lost = await show(replicas[0], 'after')?.catch((error: unknown) => error);
    expect(lost).toBeInstanceOf(PlatformError);
    expect(lost).toMatchObject({ code: 'gone' });
    expect(server.refused).toEqual([]);
  });

  it('that is told late takes nothing from a workspace that installed it anew', async () => {
    await install();
    const removedAt = Math.floor(Date.now() / 1000);
    passTime(10_000);
    await install();
    await server.sendEvent({ type: 'app_uninstalled' }, 'EvLate', removedAt);
    expect(stored.size).toBe(1);
    await show(replicas[0], 'still here');
    expect(server.botMessages()).not.toEqual([]);
  });

  it('of a person’s token is not a removal', async () => {
    await install();
    await server.sendEvent({ type: 'tokens_revoked', tokens: { oauth: ['U0ADA'], bot: [] } });
    expect(stored.size).toBe(1);
  });
});

describe('tokens that expire', () => {
  beforeEach(async () => {
    server.tokens.rotating = true;
    await install();
  });

  it('are replaced two hours before, while the old one serves on', async () => {
    await show(replicas[0], 'fresh');
    passTime(10.5 * HOUR);
    await show(replicas[0], 'due');
    await expect.poll(() => server.tokens.rotations).toBe(1);
    passTime(3 * HOUR);
    await show(replicas[0], 'with the new one');
    expect(server.botMessages().length).toBeGreaterThanOrEqual(3);
    expect(server.tokens.rotations).toBe(1);
    expect(server.refused).toEqual([]);
  });

  it('are replaced before anything else when they have expired', async () => {
    passTime(100 * HOUR);
    await show(replicas[0], 'after a long sleep');
    expect(server.tokens.rotations).toBe(1);
    expect(server.refused).toEqual([]);
  });

  it('are replaced once by all replicas, however many calls are running', async () => {
    const second = await startReplica();
    passTime(100 * HOUR);
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => show(index % 2 ? second : replicas[0], `call ${index}`)),
    );
    expect(server.tokens.rotations).toBe(1);
    expect(server.refused).toEqual([]);
  });

  it('serve on while Slack does not replace them, and are tried again', async () => {
    passTime(11 * HOUR);
    server.faults.next('oauth.v2.access', { type: 'status', status: 503 });
    await show(replicas[0], 'one');
    await expect
      .poll(() => server.callsOf('oauth.v2.access').filter(({ outcome }) => outcome === 'fault').length)
      .toBe(1);
    await expect
      .poll(async () => {
        await show(replicas[0], 'two');
        return server.tokens.rotations;
      })
      .toBe(1);
    passTime(3 * HOUR);
    await show(replicas[0], 'with the new one');
    expect(server.refused).toEqual([]);
  });
});

describe('the client secret', () => {
  it('can be replaced: the one before still opens what it sealed', async () => {
    await install();
    const next = 'a-new-client-secret-of-slack-000';
    // A wrong secret is trouble of the operator: what is on its way waits.
    await expect(show(await startReplica({ secret: next }), 'without')).rejects.toMatchObject({
      code: 'unavailable',
    });
    const both = await startReplica({ secret: next, previous: server.clientSecret });
    await show(both, 'with both');
    expect(server.botMessages()).not.toEqual([]);
  });
});
