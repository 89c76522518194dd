import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { signed } from '../../../servers/slack/http-delivery.ts';
import { ADDRESS, type Harness, startHarness } from '../harness.ts';

let harness: Harness;

beforeEach(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  await harness.stop();
});

const noRefusals = () => expect(harness.server.refused).toEqual([]);

describe('a channel', () => {
  it('is public if Slack reports it, and unknown if it cannot be read', async () => {
    const { server, slack } = harness;
    server.workspace.addChannel({ id: 'C0BAND', name: 'band', kind: 'group' });
    const isPublic = (channel: string) => slack.isPublic?.({ ...ADDRESS, channel });
    expect(await isPublic('C0MUSIC')).toBe(true);
    expect(await isPublic('D0ADA')).toBe(false);
    noRefusals();
    await expect(isPublic('C0BAND')).rejects.toThrow('missing_scope');
    await expect(isPublic('C0GONE')).rejects.toThrow('channel_not_found');
  });
});

describe('Socket Mode', () => {
  it('keeps a second connection open while the first is refreshed', async () => {
    const { server, slack } = harness;
    server.socketMode.drop();
    await server.until(() => server.socketMode.connected === 4);
    expect((await server.slash('/song', 'rain')).acknowledged).toBe(true);
    expect(slack.status()).toEqual({ ready: true });
    noRefusals();
  });

  it('retries while Slack is down, and reports why it is not ready', async () => {
    const { server, slack } = harness;
    server.faults.next('apps.connections.open', { type: 'status', status: 503 }, 8);
    server.socketMode.drop();
    await server.until(() => slack.status().ready === false);
    await server.until(() => slack.status().ready === true);
    expect((await server.slash('/song', 'rain')).acknowledged).toBe(true);
    noRefusals();
  });

  it('starts no job that it could not acknowledge after the connection broke', async () => {
    await harness.stop();
    harness = await startHarness({ ackTimeoutMs: 300 });
    const { server, bot } = harness;
    let finish = () => {};
    bot.answer = () =>
      new Promise((resolve) => {
        finish = () => resolve(bot.accepted());
      });
    const command = server.slash('/song', 'rain');
    await server.until(() => bot.invocations.length === 1);
    server.faults.every(1, 'apps.connections.open', { type: 'dropped' });
    server.socketMode.drop();
    await server.until(() => harness.slack.status().ready === false);
    finish();
    await server.until(() => bot.declined === 1);
    // Slack reports the failure to the person.
    expect((await command).acknowledged).toBe(false);
    expect(bot.started).toBe(0);
    expect(server.refused.map(({ error }) => error)).toEqual(['operation_timeout']);
  });

  it('handles received events before it stops', async () => {
    const { server, slack, bot } = harness;
    let finish = () => {};
    bot.answer = () =>
      new Promise((resolve) => {
        finish = () => resolve(bot.accepted());
      });
    const command = server.slash('/song', 'rain');
    await server.until(() => bot.invocations.length === 1);
    const stopped = slack.stop();
    finish();
    expect((await command).acknowledged).toBe(true);
    await stopped;
    expect(bot.started).toBe(1);
    await server.until(() => server.socketMode.connections === 0);
    noRefusals();
  });

  it('closes connections that were still opening when it stopped', async () => {
    const { server, slack, bot } = harness;
    let stopped: Promise<void> | undefined;
    server.faults.decide = (method) => {
      if (method === 'apps.connections.open') stopped ??= slack.stop();
      return undefined;
    };
    server.socketMode.drop();
    await server.until(() => server.socketMode.connected === 2);
    await stopped;
    await server.until(() => server.socketMode.connections === 0);
    // Slack sees that a connection is closed before the client does.
    await expect.poll(() => slack.connections?.()).toBe(0);
    expect(bot.invocations).toEqual([]);
    noRefusals();
  });

  it('opens no socket while Slack rejects the bot token, and reports why', async () => {
    await harness.stop();
    harness = await startHarness({
      injectFaults: ({ faults }) => faults.next('auth.test', { type: 'error', error: 'account_inactive' }, 2),
    });
    const { server, slack } = harness;
    const status = slack.status();
    expect(status).toMatchObject({
      ready: false,
      reason: expect.stringContaining('Slack rejected SLACK_BOT_TOKEN (account_inactive)'),
    });
    expect(server.socketMode.connected).toBe(0);
    await server.until(() => slack.status().ready);
    expect((await server.slash('/song', 'rain')).acknowledged).toBe(true);
    noRefusals();
  });

  it('is not ready while the bot token is revoked', async () => {
    const { server, slack } = harness;
    server.faults.next('auth.test', { type: 'error', error: 'token_revoked' }, 2);
    await server.uninstall();
    await server.until(() => !slack.status().ready);
    expect(slack.status()).toMatchObject({
      reason: expect.stringContaining('Slack rejected SLACK_BOT_TOKEN (token_revoked)'),
    });
    await server.until(() => slack.status().ready);
    noRefusals();
  });

  it('has no pending timers after it has stopped', async () => {
    await harness.slack.stop();
    await nextTurn();
    expect(harness.sleeping()).toBe(0);
    noRefusals();
  });

  it('retries while Slack rejects the app token, and logs it once for all sockets', async () => {
    await harness.stop();
    harness = await startHarness({
      injectFaults: ({ faults }) =>
        faults.next('apps.connections.open', { type: 'error', error: 'not_allowed_token_type' }, 4),
    });
    const { server, slack } = harness;
    expect(slack.status()).toMatchObject({
      ready: false,
      reason: expect.stringContaining('Slack rejected SLACK_APP_TOKEN (not_allowed_token_type)'),
    });
    await server.until(() => server.socketMode.connections === 2);
    expect(slack.status()).toEqual({ ready: true });
    expect(harness.errors).toHaveLength(1);
    noRefusals();
  });

  it("sends its token only to Slack's file hosts", async () => {
    const { server, slack } = harness;
    expect(await slack.attachmentHeaders('https://files.slack.com/files-pri/T-F/x.png', ADDRESS)).toEqual({
      authorization: `Bearer ${server.botToken}`,
    });
    for (const url of [
      'http://files.slack.com/x',
      'https://files.slack.com.evil.example/x',
      'https://evil.example/files.slack.com',
      'nonsense',
    ]) {
      expect(await slack.attachmentHeaders(url, ADDRESS)).toEqual({});
    }
  });
});

describe('requests to the listener', () => {
  const post = (body: string, headers: Record<string, string>, type = 'application/json') =>
    fetch(harness.url, { method: 'POST', body, headers: { 'content-type': type, ...headers } });
  const signedHeaders = (body: string, { skewMs = 0 } = {}) =>
    signed(body, harness.server.signingSecret, harness.now() + skewMs);

  beforeEach(async () => {
    await harness.stop();
    harness = await startHarness({ connection: 'http', realTime: true });
  });

  it('answer the challenge with which Slack checks the URL', async () => {
    const body = JSON.stringify({ type: 'url_verification', token: 't', challenge: 'a-challenge' });
    const response = await post(body, signedHeaders(body));
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ challenge: 'a-challenge' });
  });

  it('need a signature of Slack that is at most five minutes old', async () => {
    const { bot, server } = harness;
    const body = JSON.stringify({ type: 'url_verification', challenge: 'a-challenge' });
    const wrong: Record<string, string>[] = [
      {},
      signed(body, 'another secret', harness.now()),
      signed(`${body} `, server.signingSecret, harness.now()),
      { ...signedHeaders(body), 'x-slack-request-timestamp': 'soon' },
      { ...signedHeaders(body), 'x-slack-signature': 'v1=00' },
      { ...signedHeaders(body), 'x-slack-signature': '' },
      signedHeaders(body, { skewMs: -301_000 }),
    ];
    for (const headers of wrong) {
      const response = await post(body, headers);
      expect([response.status, await response.text()]).toEqual([401, '']);
    }
    expect(bot.invocations).toEqual([]);
    for (const skewMs of [-290_000, 290_000])
      expect((await post(body, signedHeaders(body, { skewMs }))).status).toBe(200);
  });

  it('with wrong signatures do not affect readiness, and are logged once', async () => {
    const { slack } = harness;
    const body = JSON.stringify({ type: 'url_verification', challenge: 'a-challenge' });
    for (let time = 0; time < 9; time += 1) {
      await post(body, {});
      await post(body, signed(body, 'the secret of another app', harness.now()));
      expect(slack.status()).toEqual({ ready: true });
    }
    expect(harness.warnings.filter((line) => line.includes('SLACK_SIGNING_SECRET'))).toHaveLength(1);
  });

  it('are rejected if they are signed but malformed', async () => {
    const form = 'application/x-www-form-urlencoded';
    expect((await post('{', signedHeaders('{'))).status).toBe(400);
    expect((await post('payload=%7B', signedHeaders('payload=%7B'), form)).status).toBe(400);
    const certificate = 'ssl_check=1&token=t';
    expect((await post(certificate, signedHeaders(certificate), form)).status).toBe(200);
    const huge = JSON.stringify({ type: 'url_verification', challenge: 'x'.repeat(2_000_000) });
    expect((await post(huge, signedHeaders(huge))).status).toBe(413);
  });

  it('handles received requests before it stops, and rejects new ones', async () => {
    const { server, slack, bot } = harness;
    let finish = () => {};
    bot.answer = () =>
      new Promise((resolve) => {
        finish = () => resolve(bot.accepted());
      });
    const command = server.slash('/song', 'rain');
    await server.until(() => bot.invocations.length === 1);
    const stopped = slack.stop();
    expect((await server.slash('/song', 'too late')).acknowledged).toBe(false);
    finish();
    expect((await command).acknowledged).toBe(true);
    await stopped;
    expect(bot.started).toBe(1);
    expect(slack.status()).toMatchObject({ ready: false });
    expect(server.refused.map(({ error }) => error)).toEqual(['http_503']);
  });
});
