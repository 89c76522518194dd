import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import type { PostedMessage } from '../servers/slack/workspace.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** People ask about a message by forwarding it, answering it in its thread, or choosing it in its menu. */
let slack: SlackServer;
let running: RunningMinstrel;

beforeAll(async () => {
  slack = await startSlackServer();
  running = await startMinstrel({
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ASK_MODEL: 'chat:chat-small',
  });
});
afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
});

const bodySchema = z.object({ messages: z.array(z.object({ role: z.string(), content: z.string() })) });

/** The turns of the question that the gateway received after `act`. */
async function askedBy(act: () => unknown): Promise<string[]> {
  const { requests } = running.emulator;
  const before = requests.length;
  await act();
  const question = await slack.until(() =>
    requests.slice(before).find(({ url }) => url.includes('/chat/completions')),
  );
  return bodySchema.parse(question.body).messages.map(({ content }) => content);
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

/** As Slack's client writes a forwarded message: https://github.com/slackapi/node-slack-sdk/issues/1653 */
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

const posted = async (text: string, options: Parameters<SlackServer['say']>[1]): Promise<PostedMessage> =>
  (await slack.say(text, options)).message;

describe('what people point at on Slack', () => {
  it('is read from a forwarded message in a direct message', async () => {
    expect(await askedBy(() => slack.directMessage('', { attachments: [FORWARDED] }))).toEqual([
      'Forwarded message from Ben:\n\nThe release moves to <Friday>.',
    ]);
  });

  it('is read from a forwarded message with a question beside it', async () => {
    const asked = await askedBy(() => slack.mention('is that true?', { attachments: [FORWARDED] }));
    expect(asked).toEqual(['is that true?\n\nForwarded message from Ben:\n\nThe release moves to <Friday>.']);
  });

  it('is read from the attachments of another app, in a thread', async () => {
    const alert = await posted('', { bot: 'B0GRAFANA', attachments: [ALERT] });
    const asked = await askedBy(() => slack.mention('why?', { threadTs: alert.ts }));
    expect(asked.join('\n')).toContain(ALERT_TEXT);
    expect(asked.at(-1)).toContain('why?');
  });

  it('is read from the blocks of another app, by a bare mention in its thread', async () => {
    const build = await posted('Build 512', { bot: 'B0CI', blocks: BUILD });
    expect(await askedBy(() => slack.mention('', { threadTs: build.ts }))).toEqual([BUILD_TEXT]);
  });

  it('is read by “Ask about this”', async () => {
    const alert = await posted('', { bot: 'B0GRAFANA', attachments: [ALERT] });
    await slack.messageShortcut('message-menu:ask', alert);
    const form = await slack.until(() => slack.openView());
    expect(JSON.stringify(form.view)).toContain(JSON.stringify(ALERT_TEXT).slice(1, -1));
  });

  it('keeps the indentation of code', async () => {
    expect(await askedBy(() => slack.mention('why?\n```if (a)\n    b();```'))).toEqual([
      'why?\n```if (a)\n    b();```',
    ]);
  });
});

it('answers a question beside a file from Google Drive, and names the file as unread', async () => {
  const file = slack.upload('Plan', Buffer.from('x'), { mimetype: 'application/vnd.google-apps.document' });
  file.isExternal = true;
  expect(await askedBy(() => slack.mention('what is 2 times 3?', { files: [file] }))).toEqual([
    'what is 2 times 3?',
  ]);
  expect(JSON.stringify(slack.ephemeralsOf())).toContain('stored outside Slack');
});
