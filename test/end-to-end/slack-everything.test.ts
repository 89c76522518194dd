import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { commands } from '../../commands/index.ts';
import { createManifest } from '../../src/platforms/slack/manifest.ts';
import { wavOf } from '../fixtures/media-samples.ts';
import { pngFile } from '../servers/public/files.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Tries everything the manifest declares: Slack refuses nothing, and the bot answers everything. */
describe.each(['socket', 'http'] as const)('over %s', (connection) => {
  let slack: SlackServer;
  let running: RunningMinstrel;

  beforeAll(async () => {
    slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
    running = await startMinstrel({
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_API_URL: slack.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(slack.apiUrl).host,
      ...(connection === 'http'
        ? { SLACK_SIGNING_SECRET: slack.signingSecret }
        : { SLACK_APP_TOKEN: slack.appToken }),
    });
    if (connection === 'http') slack.deliverTo(`${running.minstrel.url}/slack/events`);
  });

  afterEach(() => expect(slack.refused).toEqual([]));
  afterAll(async () => {
    await running?.[Symbol.asyncDispose]();
    await slack?.close();
  });

  const parts = commands.flatMap(({ name, options, subcommands = {} }) => [
    {
      name: `/${name}`,
      text: '',
      options: Object.keys(options).length,
      parts: Object.keys(subcommands).length,
    },
    ...Object.entries(subcommands).map(([part, declared]) => ({
      name: `/${name}`,
      text: part,
      options: Object.keys(declared.options).length,
      parts: 0,
    })),
  ]);
  const withForms = parts.filter(({ options, parts: own }) => options > 0 && own === 0);

  it.each(withForms)('$name $text opens a form whose menus load', async ({ name, text }) => {
    const before = slack.openView('U0BOB');
    const { acknowledged } = await slack.slash(name, `${text} ?`.trim(), { user: 'U0BOB' });
    expect(acknowledged).toBe(true);
    const form = await slack.until(() => {
      const view = slack.openView('U0BOB');
      return view !== before && view;
    });
    const menus = JSON.stringify(form.view).match(/"type":"external_select","action_id":"(\w+)"/g) ?? [];
    for (const menu of menus) await slack.suggest(form, /"action_id":"(\w+)"/.exec(menu)?.[1] ?? '', 'a');
  });

  it.each(parts.filter(({ options }) => options === 0))(
    '$name $text responds immediately',
    async ({ name, text }) => {
      const before = slack.ephemeralsOf('U0BOB').length;
      await slack.slash(name, text, { user: 'U0BOB' });
      const reply = await slack.until(() => slack.ephemeralsOf('U0BOB')[before]);
      expect(readableText(reply).length).toBeGreaterThan(5);
    },
  );

  it.each([
    ['/jobs', '', 'You have no running jobs here.'],
    ['/pages', 'album', "Pages can't be opened"],
    ['/limits', 'report', 'No usage in the last 30 days.'],
    ['/minstrel', 'forget', 'This permanently deletes'],
  ])('%s %s needs no input, so it answers without a form', async (name, text, answer) => {
    const view = slack.openView('U0BOB');
    const before = slack.ephemeralsOf('U0BOB').length;
    await slack.slash(name, text, { user: 'U0BOB' });
    const reply = await slack.until(() => slack.ephemeralsOf('U0BOB')[before]);
    expect(JSON.stringify(reply)).toContain(answer);
    expect(slack.openView('U0BOB')).toBe(view);
  });

  it('every shortcut opens a form, or answers at once', async () => {
    const { features } = createManifest(commands);
    const recording = slack.upload('hum.wav', wavOf({ seconds: 3 }), { mimetype: 'audio/wav' });
    const image = slack.upload('fox.png', pngFile('fox'), { mimetype: 'image/png' });
    const files = [recording, image];
    const { message } = await slack.say('a lighthouse & <a storm>', { user: 'U0BOB', files });
    const menusWith = (member: 'option' | 'subcommand') =>
      commands.flatMap(({ name, messageMenu: menu }) =>
        menu && member in menu ? [`message-menu:${name}`] : [],
      );
    for (const { type, callback_id: id } of features?.shortcuts ?? []) {
      const before = slack.openView('U0BOB');
      const replies = slack.ephemeralsOf('U0BOB').length;
      if (type === 'message') await slack.messageShortcut(id, message, { user: 'U0BOB' });
      else await slack.shortcut(id, { user: 'U0BOB' });
      if (menusWith('subcommand').includes(id)) {
        const reply = await slack.until(() => slack.ephemeralsOf('U0BOB')[replies]);
        expect(JSON.stringify(reply)).toContain('I found no mark');
        continue;
      }
      const form = await slack.until(() => {
        const view = slack.openView('U0BOB');
        return view !== before && view;
      });
      const isText = menusWith('option').includes(id);
      if (type === 'message')
        expect(JSON.stringify(form.view)).toContain(isText ? 'a lighthouse' : 'fox.png');
    }
  });

  const toEverybody = (word: string) => [
    `/models set ask chat:chat-small ${word}`,
    `/models answers "Be brief" --assistant --where ${word}`,
    `/limits set song 50 day ${word}`,
    `/limits set --what image --most 0 --where ${word}`,
    `/limits allow song @everyone ${word}`,
    `/limits deny stems --where ${word}`,
    `/limits deny all <@U0ADA|ada> ${word}`,
    `/limits allow moderation <@U0ADA|ada> ${word}`,
    '/models show',
    '/models answers',
    '/models set ask chat:chat-small --where galaxy',
    '/models reset ask galaxy',
    '/limits show',
    '/minstrel audit',
    '/minstrel forget',
    '/image a fox',
    '/voices',
    ...commands.map(({ name }) => `/${name} help`),
    `/limits reset all <@U0ADA|ada> ${word}`,
    `/limits reset moderation <@U0ADA|ada> ${word}`,
    `/limits reset song ${word}`,
    `/limits reset image ${word}`,
    `/limits reset stems ${word}`,
    `/limits reset stems ${word}`,
    `/limits reset song @everyone ${word}`,
    `/models reset prompt ${word}`,
    `/models reset prompt ${word}`,
    `/models reset assistant ${word}`,
    `/models reset ask ${word}`,
    '/minstrel audit',
  ];

  it.each(['server', 'workspace'])('“%s” in a command means the person’s own workspace', async (word) => {
    for (const line of toEverybody(word)) {
      const before = slack.ephemeralsOf('U0BOB').length;
      const view = slack.openView('U0BOB');
      const [, name = '', text = ''] = /^(\S+) ?(.*)$/.exec(line) ?? [];
      // People are chosen, not typed as mentions.
      const { acknowledged } = await slack.slash(name, text, {
        user: 'U0BOB',
        isEscaped: text.includes('<@'),
      });
      expect(acknowledged).toBe(true);
      await slack.until(() => slack.ephemeralsOf('U0BOB')[before] ?? slack.openView('U0BOB') !== view);
      const [reply] = slack.ephemeralsOf('U0BOB').slice(before);
      if (/^.(models|limits) (set|allow|deny|reset)/.test(line) && line.endsWith(word))
        expect(readableText(reply ?? { text: '', blocks: [] }), line).not.toMatch(
          /Choose one|cannot be|Type a file/,
        );
    }
    await slack.openHome({ user: 'U0BOB' });
    await slack.until(() => slack.callsOf('views.publish').length > 0);
    const read = JSON.stringify([
      slack.calls.map(({ arguments: args }) => args),
      slack.ephemeralsOf('U0BOB'),
      slack.botMessages(),
      createManifest(commands),
    ]).replaceAll('\\', '');
    expect(read).toMatch(/in this workspace/);
    expect(read).toMatch(/override workspace rules/);
    // Menus and buttons send internal values.
    const words = read
      .replaceAll('"value":"server"', '')
      .replaceAll('_where-server', '')
      .replaceAll('image_url', '');
    expect(words.match(/.{60}\bservers?\b.{20}/gi) ?? []).toEqual([]);
  });

  it('answers the Home tab, a mention and a direct message', async () => {
    await slack.openHome({ user: 'U0BOB' });
    await slack.until(() => slack.homeOf('U0BOB'));
    const { message } = await slack.mention('what is 6 times 7?');
    const words = (channel: string) => slack.botMessages(channel).map(readableText).join('\n');
    await slack.until(() => words('C0MUSIC').includes('42'));
    expect(slack.thread(message).length).toBeGreaterThan(0);
    await slack.directMessage('what is 6 times 8?');
    await slack.until(() => words('D0ADA').includes('48'));
  });
});
