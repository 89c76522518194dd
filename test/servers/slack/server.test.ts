import { App, LogLevel, SocketModeReceiver } from '@slack/bolt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pings } from './mentions.ts';
import { type SlackServer, type SlackServerOptions, startSlackServer } from './server.ts';

const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } });

/** Stops the SDK from printing the refusals that are tested here. */
const quiet = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => LogLevel.ERROR,
  setName() {},
};

let server: SlackServer;
let app: App;

async function start(options: SlackServerOptions = {}): Promise<void> {
  server = await startSlackServer(options);
  app = new App({
    token: server.botToken,
    appToken: server.appToken,
    socketMode: true,
    logger: quiet,
    clientOptions: { slackApiUrl: server.apiUrl, retryConfig: { retries: 0 }, rejectRateLimitedCalls: true },
  });
  await app.start();
}

async function stop(): Promise<void> {
  await app.stop();
  await server.close();
}

describe('the strict Slack, through the real Bolt', () => {
  beforeEach(() => start());
  afterEach(stop);

  it('delivers a slash command and shows its acknowledgement privately', async () => {
    app.command('/song', async ({ ack, command }) => ack(`heard: ${command.text}`));
    const { ack } = await server.slash('/song', 'rain & <thunder>');
    expect(ack).toEqual({ text: 'heard: rain &amp; &lt;thunder&gt;' });
    expect(server.ephemeralsOf('U0ADA').map(({ text }) => text)).toEqual([
      'heard: rain &amp; &lt;thunder&gt;',
    ]);
    expect(server.messages('C0MUSIC')).toEqual([]);
  });

  it('opens a modal once per trigger, and only within three seconds', async () => {
    const view = {
      type: 'modal' as const,
      callback_id: 'song',
      title: { type: 'plain_text' as const, text: 'Song' },
      submit: { type: 'plain_text' as const, text: 'Sing' },
      blocks: [
        {
          type: 'input' as const,
          block_id: 'prompt',
          label: { type: 'plain_text' as const, text: 'Prompt' },
          element: { type: 'plain_text_input' as const, action_id: 'prompt' },
        },
      ],
    };
    app.command('/song', async ({ ack }) => ack());
    app.view(/.*/, async ({ ack }) => ack({ response_action: 'errors', errors: { prompt: 'Too short' } }));
    const { triggerId } = await server.slash('/song');
    await app.client.views.open({ trigger_id: triggerId, view });
    await expect(app.client.views.open({ trigger_id: triggerId, view })).rejects.toThrow(
      'exchanged_trigger_id',
    );
    const late = (await server.slash('/song')).triggerId;
    server.passTime(3001);
    await expect(app.client.views.open({ trigger_id: late, view })).rejects.toThrow('expired_trigger_id');

    const open = await server.until(() => server.openView());
    const sent = await server.submitView(open, { prompt: 'x' });
    expect(sent.ack).toMatchObject({ response_action: 'errors' });
    expect(server.openView()).toBe(open);
    await expect(server.submitView(open, {})).rejects.toThrow('requires prompt');
    expect(server.refused.map(({ error }) => error)).toEqual(['exchanged_trigger_id', 'expired_trigger_id']);
  });

  it('delivers presses, mentions and direct messages', async () => {
    const handled: string[] = [];
    app.action(/.*/, async ({ ack, payload }) => {
      await ack();
      handled.push(`pressed ${'action_id' in payload ? payload.action_id : ''}`);
    });
    app.event('app_mention', async ({ event }) => void handled.push(event.text));
    app.message(async ({ message }) => void handled.push('text' in message ? (message.text ?? '') : ''));
    const button = {
      type: 'button' as const,
      action_id: 'go',
      text: { type: 'plain_text' as const, text: 'Go' },
    };
    await app.client.chat.postMessage({
      channel: 'C0MUSIC',
      text: 'x',
      blocks: [{ type: 'actions', elements: [button] }],
    });
    const [message] = server.botMessages();
    if (message === undefined) throw new Error('nothing was posted');
    await server.press(message, 'Go');
    await server.mention('hello');
    await server.directMessage('psst');
    await server.until(() => handled.length === 3);
    expect(handled).toEqual(['pressed go', `<@${server.workspace.botUser}> hello`, 'psst']);
    expect(server.refused).toEqual([]);
  });

  it('stores uploaded bytes and shares the file in a message', async () => {
    const bytes = Buffer.from([1, 2, 3, 254]);
    await app.client.files.uploadV2({ channel_id: 'C0MUSIC', filename: 'song.mp3', file: bytes });
    const shared = await server.until(() => server.botMessages()[0]);
    expect(shared.files.map(({ name, bytes: kept }) => [name, kept])).toEqual([['song.mp3', bytes]]);
  });

  const refusals: [string, () => Promise<unknown>, string][] = [
    [
      'a channel without the bot',
      () => app.client.chat.postMessage({ channel: 'C0QUIET', text: 'x' }),
      'not_in_channel',
    ],
    [
      'an unknown channel',
      () => app.client.chat.postMessage({ channel: 'C0NONE', text: 'x' }),
      'channel_not_found',
    ],
    ['51 blocks', () => post(Array.from({ length: 51 }, () => section('x'))), 'invalid_blocks'],
    ['a section of 3001', () => post([section('x'.repeat(3001))]), 'invalid_blocks'],
    ['an empty section', () => post([section('')]), 'invalid_blocks'],
    [
      '13,201 characters of blocks',
      () => post(Array.from({ length: 5 }, () => section('x'.repeat(2700)))),
      'msg_blocks_too_long',
    ],
    [
      '12,001 characters of Markdown',
      () => post([{ type: 'markdown', text: 'x'.repeat(12_001) }]),
      'invalid_blocks',
    ],
    [
      'an unknown thread',
      () => app.client.chat.postMessage({ channel: 'C0MUSIC', text: 'x', thread_ts: '1.000001' }),
      'thread_not_found',
    ],
    ['an empty message', () => app.client.chat.postMessage({ channel: 'C0MUSIC', text: '' }), 'no_text'],
    ['an unknown method', () => app.client.apiCall('chat.shout', {}), 'unknown_method'],
    ['a missing scope', () => app.client.conversations.join({ channel: 'C0MUSIC' }), 'missing_scope'],
  ];
  const post = (blocks: { type: string; text: unknown }[]) =>
    app.client.chat.postMessage({ channel: 'C0MUSIC', text: 'x', blocks });

  it.each(refusals)('refuses %s', async (_, call, error) => {
    await expect(call()).rejects.toMatchObject({ data: { error } });
    expect(server.refused.map((refusal) => refusal.error)).toEqual([error]);
  });

  it('refuses an update with text over 4000 characters, and a revoked token', async () => {
    const { ts = '' } = await app.client.chat.postMessage({ channel: 'C0MUSIC', text: 'x' });
    const update = app.client.chat.update({ channel: 'C0MUSIC', ts, text: 'x'.repeat(4001) });
    await expect(update).rejects.toMatchObject({ data: { error: 'msg_too_long' } });
    server.revokeToken();
    const revoked = app.client.chat.update({ channel: 'C0MUSIC', ts, text: 'y' });
    await expect(revoked).rejects.toMatchObject({ data: { error: 'token_revoked' } });
  });

  it('answers 429 with Retry-After and loses responses on demand', async () => {
    server.faults.next('chat.postMessage', { type: 'ratelimited', retryAfter: 7 });
    const post = () => app.client.chat.postMessage({ channel: 'C0MUSIC', text: 'x' });
    await expect(post()).rejects.toMatchObject({ retryAfter: 7 });
    server.faults.next('chat.postMessage', { type: 'answer lost' });
    await expect(post()).rejects.toThrow();
    expect(server.messages('C0MUSIC')).toHaveLength(1);
    server.limitPosts();
    await post();
    await expect(post()).rejects.toMatchObject({ retryAfter: 1 });
    expect(server.refused).toEqual([]);
  });

  it('expires a response_url after five uses or thirty minutes', async () => {
    app.command('/song', async ({ ack }) => ack());
    const { responseUrl = '' } = await server.slash('/song');
    const use = (url: string) => fetch(url, { method: 'POST', body: JSON.stringify({ text: 'hi' }) });
    const statuses = [];
    for (let index = 0; index < 6; index += 1) statuses.push((await use(responseUrl)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 404]);
    const old = (await server.slash('/song')).responseUrl ?? '';
    server.passTime(30 * 60_000 + 1);
    expect((await use(old)).status).toBe(404);
    expect(server.ephemeralsOf()).toHaveLength(5);
  });

  it('streams text and ends the stream after five minutes', async () => {
    const { ts: anchor = '' } = await app.client.chat.postMessage({ channel: 'C0MUSIC', text: 'anchor' });
    const where = { channel: 'C0MUSIC', thread_ts: anchor };
    await expect(app.client.chat.startStream({ ...where })).rejects.toThrow('missing_recipient_user_id');
    const recipient = { recipient_user_id: 'U0ADA', recipient_team_id: 'T0MINSTREL' };
    const { ts = '' } = await app.client.chat.startStream({ ...where, ...recipient, markdown_text: 'one' });
    await app.client.chat.appendStream({ channel: 'C0MUSIC', ts, markdown_text: ' two' });
    await expect(app.client.chat.update({ channel: 'C0MUSIC', ts, text: 'x' })).rejects.toThrow(
      'streaming_state_conflict',
    );
    server.passTime(5 * 60_000 + 1);
    const late = app.client.chat.appendStream({ channel: 'C0MUSIC', ts, markdown_text: ' three' });
    await expect(late).rejects.toThrow('message_not_in_streaming_state');
    expect(server.botMessages().at(-1)?.text).toBe('one two');
  });
});

describe('acknowledgement', () => {
  afterEach(stop);

  it('counts an unacknowledged command as refused, and resends an event with the same id', async () => {
    await start({ ackTimeoutMs: 60, redeliveryMs: [0, 10] });
    const late = await server.slash('/unknown');
    expect(late.acknowledged).toBe(false);
    await app.stop();
    const mention = await server.mention('anyone?');
    expect(mention.deliveries).toMatchObject([{ acknowledged: false, attempts: 3 }]);
    expect(server.refused.map(({ error }) => error)).toEqual(Array(4).fill('operation_timeout'));
  });

  it('requests a new connection and delivers events over it', async () => {
    server = await startSlackServer();
    const clientOptions = { slackApiUrl: server.apiUrl };
    const receiver = new SocketModeReceiver({
      appToken: server.appToken,
      logger: quiet,
      // The client waits this long before it reconnects.
      clientPingTimeout: 500,
      installerOptions: { clientOptions },
    });
    app = new App({ token: server.botToken, receiver, clientOptions, logger: quiet });
    await app.start();
    app.command('/song', async ({ ack }) => ack('here'));
    server.socketMode.refresh();
    await server.until(() => server.socketMode.connected === 2);
    expect((await server.slash('/song')).acknowledged).toBe(true);
    expect(server.refused).toEqual([]);
  });
});

describe('pings', () => {
  it('finds pinged people in text, mrkdwn and markdown blocks', () => {
    const blocks = [section('<!here> and <!subteam^S1|team>'), { type: 'markdown', text: '`<!channel>`' }];
    expect(pings({ text: 'hi <@U0ADA|ada>', blocks })).toEqual(['U0ADA', 'here', 'subteam^S1', 'channel']);
  });

  it('finds nobody in escaped or plain text', () => {
    const blocks = [
      { type: 'header', text: { type: 'plain_text', text: '<!here>' } },
      section('&lt;!here&gt;'),
    ];
    expect(pings({ text: '&lt;@U0ADA&gt;', blocks })).toEqual([]);
  });
});
