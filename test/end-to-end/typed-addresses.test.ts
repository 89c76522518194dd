import { afterAll, beforeAll, expect, it } from 'vitest';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Typed URLs are fetched without the bot's credentials. */
let slack: SlackServer;
let running: RunningMinstrel;

beforeAll(async () => {
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  running = await startMinstrel({
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ASK_MODEL: 'msg:scribe-large',
    MEDIA_ALLOWED_HOSTS: new URL(slack.apiUrl).host,
  });
});
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
});

const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

it('reads a private Slack file if attached, but not from its typed URL', async () => {
  const file = slack.upload('secret.png', PIXEL, { mimetype: 'image/png' });
  const requestCount = () => running.emulator.requests.filter(({ url }) => url === '/msg/v1/messages').length;

  const address = `${new URL(slack.apiUrl).origin}/files-pri/${file.id}/secret.png`;
  await slack.slash('/ask', `--image ${address} -- what is this?`);
  await slack.until(
    () =>
      JSON.stringify(slack.workspace.messages).includes("is at an address that isn't public") ||
      requestCount() > 0,
  );
  expect(requestCount()).toBe(0);

  await slack.mention('what is this?', { files: [file] });
  await slack.until(() => requestCount() === 1);
});
