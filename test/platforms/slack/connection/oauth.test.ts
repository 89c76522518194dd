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
/** Storage that all replicas share. */
let stored: Map<string, unknown>;
let replicas: Platform[];

/** Starts a replica. All of them share the lock {@link sharedLock}. */
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
    withLock: sharedLock,
  });
  await slack.start(bot);
  replicas.push(slack);
  return slack;
}

let lastWork: Promise<void>;
function sharedLock(_task: string, work: () => Promise<void>): Promise<void> {
  const result = lastWork.then(work);
  lastWork = result.catch(() => undefined);
  return result;
}

/** Moves the clock of the bot, the SDK and Slack. */
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

describe('installation', () => {
  it('requests the minimum scopes and explains the next step', async () => {
    const { status, page, scopes } = await install();
    expect(scopes.toSorted()).toEqual([...BOT_SCOPES].toSorted());
    expect(status).toBe(200);
    expect(page).toContain('Minstrel is ready in Minstrel');
    await show(replicas[0], 'hello');
    expect(server.botMessages()).not.toEqual([]);
    expect(server.refused).toEqual([]);
  });

  it('leaves no readable token in storage or in the log', async () => {
    await install();
    const [token] = server.calls.filter(({ method }) => method === 'auth.test');
    expect(token).toBeDefined();
    expect(JSON.stringify([...stored])).not.toMatch(/xoxb-|Minstrel"/);
    expect(JSON.stringify(log)).not.toMatch(/xoxb-|xoxe-|aaaabbbb/);
  });

  it.each([
    ['the person declines', { deny: true }],
    ['another browser returns', { otherBrowser: true }],
  ])('installs nothing if %s', async (_why, how) => {
    const { status, page } = await install(server.workspace, how);
    expect(status).toBe(400);
    expect(page).toContain('Try again');
    expect(stored.size).toBe(0);
    expect(server.refused).toEqual([]);
  });

  it('rejects a made-up redirect', async () => {
    const response = await fetch(`${listener.url}/slack/oauth_redirect?code=x&state=y`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('Minstrel was not installed');
    expect((await fetch(`${listener.url}/slack/other`)).status).toBe(404);
  });

  it('sends no referrer, because the URL contains a secret', async () => {
    const { headers } = await fetch(`${listener.url}/slack/oauth_redirect?code=x&state=y`);
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  });

  it('escapes the name of a workspace', async () => {
    const evil = server.addWorkspace('T0EVIL', '<script>alert(1)</script>');
    const { page } = await install(evil.workspace);
    expect(page).not.toContain('<script>');
    expect(page).toContain('&lt;script&gt;');
  });
});

describe('multiple workspaces', () => {
  it('use their own tokens for messages, files, private messages and attachments', async () => {
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

  it('get answers in the workspace of the question', async () => {
    const other = server.addWorkspace('T0OTHER', 'Other');
    await install(other.workspace);
    bot.answer = () => ({ type: 'message', visibility: 'channel', message: { text: 'here' } });
    expect((await other.slash('/song', 'rain')).acknowledged).toBe(true);
    await server.until(() => other.workspace.messages.find(({ text }) => text.includes('here')));
    expect(bot.invocations[0]?.address.guild).toBe('T0OTHER');
    expect(server.workspace.messages).toEqual([]);
    expect(server.refused).toEqual([]);
  });

  it('get a hint to install the app if it was never installed', async () => {
    const { ack } = await server.slash('/song', 'rain');
    expect(JSON.stringify(ack)).toContain('install me again');
    expect(bot.invocations).toEqual([]);
    await expect(show(replicas[0], 'lost')).rejects.toMatchObject({ code: 'gone' });
  });

  it('get one answer if Slack resends an event that failed', async () => {
    await install();
    server.faults.next('auth.test', { type: 'status', status: 503 });
    const { deliveries } = await server.mention('are you there?');
    expect(deliveries).toMatchObject([{ acknowledged: true, attempts: 2 }]);
    await server.until(() => bot.started === 1);
    expect(bot.invocations).toHaveLength(1);
    expect(server.refused.map(({ error }) => error)).toEqual(['http_503']);
  });

  it('can be installed by another replica', async () => {
    const second = await startReplica();
    await install();
    await show(second, 'from the second');
    expect(server.botMessages()).not.toEqual([]);
  });
});

describe('removal', () => {
  it('deletes the token and fails pending results with “gone”', async () => {
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

  it('is ignored if it arrives after the app was installed again', async () => {
    await install();
    const removedAt = Math.floor(Date.now() / 1000);
    passTime(10_000);
    await install();
    await server.sendEvent({ type: 'app_uninstalled' }, 'EvLate', removedAt);
    expect(stored.size).toBe(1);
    await show(replicas[0], 'still here');
    expect(server.botMessages()).not.toEqual([]);
  });

  it("does not include the revocation of a person's token", async () => {
    await install();
    await server.sendEvent({ type: 'tokens_revoked', tokens: { oauth: ['U0ADA'], bot: [] } });
    expect(stored.size).toBe(1);
  });
});

describe('expiring tokens', () => {
  beforeEach(async () => {
    server.tokens.rotating = true;
    await install();
  });

  it('are refreshed two hours in advance, while the old one is still used', async () => {
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

  it('are refreshed first if they have expired', async () => {
    passTime(100 * HOUR);
    await show(replicas[0], 'after a long sleep');
    expect(server.tokens.rotations).toBe(1);
    expect(server.refused).toEqual([]);
  });

  it('are refreshed once for all replicas and concurrent calls', async () => {
    const second = await startReplica();
    passTime(100 * HOUR);
    await Promise.all(
      Array.from({ length: 8 }, (_, index) => show(index % 2 ? second : replicas[0], `call ${index}`)),
    );
    expect(server.tokens.rotations).toBe(1);
    expect(server.refused).toEqual([]);
  });

  it('are used while a refresh fails, and the refresh is retried', async () => {
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
  it('can be replaced while the previous one still decrypts tokens', async () => {
    await install();
    const next = 'a-new-client-secret-of-slack-000';
    // The operator can fix a wrong secret, so pending results wait.
    await expect(show(await startReplica({ secret: next }), 'without')).rejects.toMatchObject({
      code: 'unavailable',
    });
    const both = await startReplica({ secret: next, previous: server.clientSecret });
    await show(both, 'with both');
    expect(server.botMessages()).not.toEqual([]);
  });
});
