import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { wireFile } from '../servers/slack/methods/files.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import type { PostedMessage } from '../servers/slack/workspace.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';
import { recordedQuestion } from './recorded-question.ts';

/** Questions about a message: by forwarding, replying in its thread, or its shortcut. */
let slack: SlackServer;
let running: RunningMinstrel;

beforeAll(async () => {
  slack = await startSlackServer();
  running = await startMinstrel({
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ASK_MODEL: 'chat:chat-small',
    VISION_MODEL: 'msg:scribe-large',
    MEDIA_ALLOWED_HOSTS: new URL(slack.apiUrl).host,
  });
});
afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
});

/** Resolves to the question sent to the gateway after `act`. */
async function questionAfter(act: () => unknown): Promise<string[]> {
  const { requests } = running.emulator;
  const before = requests.length;
  await act();
  return await slack.until(() => recordedQuestion(requests.slice(before)));
}

/** https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments */
const ALERT = {
  author_name: 'Grafana',
  title: 'Disk almost full',
  title_link: 'https://grafana.example/alerts/7',
  text: 'Volume *data* is at 93 %',
  fields: [{ title: 'Host', value: 'db-1', short: true }],
  footer: 'since 10:02',
  fallback: 'Disk almost full',
};
const ALERT_TEXT = `Grafana
Disk almost full (https://grafana.example/alerts/7)
Volume *data* is at 93 %
Host: db-1
since 10:02`;

/** A forwarded message from Slack's client: https://github.com/slackapi/node-slack-sdk/issues/1653 */
const FORWARDED = {
  is_share: true,
  author_id: 'U0BEN',
  author_name: 'Ben',
  channel_id: 'C0MUSIC',
  ts: '1700000000.000100',
  text: 'The release moves to &lt;Friday&gt;.',
  fallback: '[November 14th] ben: The release moves to Friday.',
  from_url: 'https://minstrel.slack.com/archives/C0MUSIC/p1700000000000100',
};

const BUILD = [
  { type: 'header', text: { type: 'plain_text', text: 'Build 512 failed' } },
  {
    type: 'section',
    text: { type: 'mrkdwn', text: 'Step: *lint*' },
    fields: [{ type: 'mrkdwn', text: 'Branch: main' }],
  },
  {
    type: 'rich_text',
    elements: [
      {
        type: 'rich_text_list',
        style: 'bullet',
        elements: [
          { type: 'rich_text_section', elements: [{ type: 'text', text: 'a < b' }] },
          { type: 'rich_text_section', elements: [{ type: 'user', user_id: 'U0ADA' }] },
        ],
      },
    ],
  },
];
const BUILD_TEXT = 'Build 512 failed\n\nStep: *lint*\nBranch: main\n\n- a < b\n- @ada';

const post = async (text: string, options: Parameters<SlackServer['say']>[1]): Promise<PostedMessage> =>
  (await slack.say(text, options)).message;

describe('a message that a question refers to on Slack', () => {
  it('is read from a forwarded message in a direct message', async () => {
    expect(await questionAfter(() => slack.directMessage('', { attachments: [FORWARDED] }))).toEqual([
      'Forwarded message from Ben:\n\nThe release moves to <Friday>.',
    ]);
  });

  it('is read from a forwarded message with a question', async () => {
    const turns = await questionAfter(() => slack.mention('is that true?', { attachments: [FORWARDED] }));
    expect(turns).toEqual(['is that true?\n\nForwarded message from Ben:\n\nThe release moves to <Friday>.']);
  });

  it('includes the image of a forwarded message', async () => {
    const image = sharp({ create: { width: 8, height: 8, channels: 3, background: '#c33' } });
    const file = slack.upload('cat.png', await image.png().toBuffer(), { mimetype: 'image/png' });
    const files = [wireFile(file, slack.url)];
    const turns = await questionAfter(() =>
      slack.mention('who is this?', { attachments: [{ ...FORWARDED, files }] }),
    );
    expect(turns[0]).toBe('[image]');
    expect(turns[1]).toContain('who is this?');
  });

  it('is read from another app’s attachments in a thread', async () => {
    const alert = await post('', { bot: 'B0GRAFANA', attachments: [ALERT] });
    const turns = await questionAfter(() => slack.mention('why?', { threadTs: alert.ts }));
    expect(turns.join('\n')).toContain(ALERT_TEXT);
    expect(turns.at(-1)).toContain('why?');
  });

  it('is read from another app’s blocks if a reply only mentions the bot', async () => {
    const build = await post('Build 512', { bot: 'B0CI', blocks: BUILD });
    expect(await questionAfter(() => slack.mention('', { threadTs: build.ts }))).toEqual([BUILD_TEXT]);
  });

  it('is read by “Ask about this”', async () => {
    const alert = await post('', { bot: 'B0GRAFANA', attachments: [ALERT] });
    await slack.messageShortcut('message-menu:ask', alert);
    const form = await slack.until(() => slack.openView());
    expect(JSON.stringify(form.view)).toContain(JSON.stringify(ALERT_TEXT).slice(1, -1));
  });

  it('preserves the indentation of code', async () => {
    expect(await questionAfter(() => slack.mention('why?\n```if (a)\n    b();```'))).toEqual([
      'why?\n```if (a)\n    b();```',
    ]);
  });
});

it('answers a question with a file from Google Drive, and says that the file was not read', async () => {
  const file = slack.upload('Plan', Buffer.from('x'), { mimetype: 'application/vnd.google-apps.document' });
  file.isExternal = true;
  expect(await questionAfter(() => slack.mention('what is 2 times 3?', { files: [file] }))).toEqual([
    'what is 2 times 3?',
  ]);
  expect(JSON.stringify(slack.ephemeralsOf())).toContain('stored outside Slack');
});

it('sends a question of 20,000 characters whole', async () => {
  const question = `Summarise: ${'word '.repeat(4_000)}end`;
  expect(await questionAfter(() => slack.mention(question))).toEqual([question]);
});

it('still includes a JSON file in a follow-up question', async () => {
  const file = slack.upload('limits.json', Buffer.from('{"limit": 42}'), { mimetype: 'application/json' });
  const { message } = await slack.mention('what is this?', { files: [file] });
  await slack.until(() =>
    slack
      .botMessages()
      .find(({ threadTs, blocks }) => threadTs === message.ts && /Again/.test(JSON.stringify(blocks))),
  );
  const turns = await questionAfter(() => slack.mention('and the limit?', { threadTs: message.ts }));
  expect(turns[0]).toContain('{"limit": 42}');
  expect(turns.at(-1)).toBe('and the limit?');
});
