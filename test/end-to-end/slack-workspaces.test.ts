import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Front, startFront } from '../servers/front.ts';
import { pings, readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import type { PostedMessage } from '../servers/slack/workspace.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The whole bot over HTTP, installed by two workspaces: signed requests in, and each workspace's token out. */
let directory: string;
let front: Front;
let slack: SlackServer;
let other: ReturnType<SlackServer['addWorkspace']>;
let running: RunningMinstrel;

async function start(options: Parameters<typeof startMinstrel>[1] = {}): Promise<void> {
  running = await startMinstrel(
    {
      DATA_DIR: directory,
      PUBLIC_URL: front.url,
      SLACK_SIGNING_SECRET: slack.signingSecret,
      SLACK_CLIENT_ID: slack.clientId,
      SLACK_CLIENT_SECRET: slack.clientSecret,
      SLACK_THREADS: '1',
      SLACK_API_URL: slack.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(slack.apiUrl).host,
    },
    options,
  );
  front.leadTo(running.minstrel.url);
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'minstrel-workspaces-'));
  front = await startFront();
  slack = await startSlackServer({
    ackTimeoutMs: PATIENCE_MS,
    scopes: [
      'app_mentions:read',
      'assistant:write',
      'channels:history',
      'channels:read',
      'chat:write',
      'commands',
      'files:read',
      'files:write',
      'groups:history',
      'im:history',
      'im:write',
      'mpim:history',
      'users:read',
    ],
    events: [
      'app_home_opened',
      'app_mention',
      'app_uninstalled',
      'message.channels',
      'message.groups',
      'message.im',
      'message.mpim',
      'tokens_revoked',
    ],
  });
  slack.tokens.rotating = true;
  other = slack.addWorkspace('T0OTHER', 'Other');
  slack.deliverTo(`${front.url}/slack/events`);
  await start();
  for (const workspace of [slack.workspace, other.workspace]) {
    const { status } = await slack.install(`${front.url}/slack/install`, workspace);
    expect(status).toBe(200);
  }
});

afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
  await front?.[Symbol.asyncDispose]();
  await rm(directory, { recursive: true, force: true });
});

const botMessages = (workspace = slack.workspace, channel = 'C0MUSIC') =>
  workspace.messages.filter(
    (message) => message.channel === channel && message.user === workspace.botUser && !message.deleted,
  );
const buttons = (message: PostedMessage) => JSON.stringify(message.blocks);
const until: typeof slack.until = (condition) => slack.until(condition);

describe('a workspace', () => {
  it('gets its song and files with its own token', async () => {
    const { acknowledged } = await other.slash('/song', 'a tune for the other workspace');
    expect(acknowledged).toBe(true);
    const message = await until(() =>
      botMessages(other.workspace).find((sent) => buttons(sent).includes('Again')),
    );
    await until(() =>
      other.workspace.messages.find(({ files, threadTs }) => threadTs === message.ts && files.length > 0),
    );
    expect(botMessages()).toEqual([]);
    expect(pings(message)).toEqual([]);
  });
});

describe('forms, buttons and menus over HTTP', () => {
  it('open, load options and submit', async () => {
    await slack.slash('/ask', '?');
    const question = await until(() => slack.openView('U0ADA'));
    await slack.pressInView(question, 'More options');
    await until(() => JSON.stringify(question.view).includes('model'));
    const suggestions = await slack.suggest(question, 'model', 'chat');
    expect(suggestions.map(({ value }) => value)).toContain('chat-small');
    const after = (await slack.suggest(question, 'model', 'gen:')).map(({ value }) => value);
    expect(after.filter((value) => value === 'gen:facet-picture')).toHaveLength(1);
    expect(after).toContain('gen:facet-text');
    expect(after.every((value) => value.startsWith('gen:'))).toBe(true);
    expect(after.indexOf('gen:facet-text')).toBeLessThan(after.indexOf('gen:chat-small'));
    expect(after.indexOf('gen:chat-small')).toBeLessThan(after.indexOf('gen:reel-standard'));
    await slack.submitView(question, { question: 'what is 1 plus 1?' });
    await until(() => botMessages().find((sent) => buttons(sent).includes('Again')));
    await slack.slash('/song', '?');
    const form = await until(() => slack.openView('U0ADA'));
    await slack.submitView(form, { prompt: 'rain on a roof', instrumental: ['true'] });
    const songs = () => botMessages().filter((sent) => buttons(sent).includes('Stems'));
    const [song] = await until(() => songs().length === 1 && songs());
    if (song === undefined) throw new Error('There is no song');
    await slack.press(song, 'Again', { user: 'U0BOB' });
    await until(() => songs().length === 2);
  });
});

describe('moderators', () => {
  it('set a model', async () => {
    await slack.slash('/models', 'set ask chat:chat-small channel', { user: 'U0BOB' });
    const note = await until(() =>
      slack.ephemeralsOf('U0BOB').find((message) => readableText(message).includes('chat-small')),
    );
    expect(readableText(note)).toContain('this channel');
    await slack.slash('/models', 'set askk chat:chat-small', { user: 'U0BOB' });
    await until(() => slack.ephemeralsOf('U0BOB').at(-1) !== note);
  });

  it('see and change the settings of each channel in their Home tab', async () => {
    const home = () => JSON.stringify(slack.homeOf('U0BOB')?.view.blocks ?? []);
    await slack.openHome({ user: 'U0BOB' });
    const homeView = await until(() => slack.homeOf('U0BOB'));
    await slack.pressInView(homeView, 'home-channel', { value: 'C0MUSIC' });
    await until(() => home().includes('<#C0MUSIC>') && home().includes('(this channel, by bob)'));
    await slack.pressInView(await until(() => slack.homeOf('U0BOB')), 'Image model…');
    const form = await until(() => slack.openView('U0BOB'));
    await slack.submitView(form, { family: 'image', model: 'canvas-plus', where: 'server' });
    await until(() => home().includes('Images in this workspace now use'));
    expect(home()).toContain('(this workspace, by bob)');
    await slack.pressInView(await until(() => slack.homeOf('U0BOB')), 'Answer settings…');
    const prompt = await until(() => slack.openView('U0BOB'));
    await slack.submitView(prompt, { prompt: 'Answer like a bard.' });
    await until(() => home().includes('Answer like a bard.'));
    expect(home()).toContain('Recent songs here');
  });

  it('are the only people who can', async () => {
    await slack.openHome({ user: 'U0ADA' });
    const home = await until(() => slack.homeOf('U0ADA'));
    expect(JSON.stringify(home.view.blocks)).not.toContain('Image model…');
    expect(JSON.stringify(home.view.blocks)).toContain('Moderators can change these settings.');
  });
});

describe('a conversation', () => {
  it('continues in its thread without a mention, with its history, for its participants only', async () => {
    const { message } = await slack.mention('what is 6 times 7?');
    const answers = () => slack.thread(message).filter(({ user }) => user === slack.workspace.botUser);
    const whole = (count: number) =>
      until(() => answers().filter((sent) => buttons(sent).includes('Again')).length >= count);
    await whole(1);
    await slack.say('and half of that?', { threadTs: message.ts });
    await whole(2);
    const request = running.emulator.requests.at(-1);
    expect(JSON.stringify(request)).toContain('6 times 7');
    await slack.say('<@U0BOB> do you agree?', { threadTs: message.ts });
    const { message: unrelated } = await slack.say('people talk', { user: 'U0BOB' });
    await slack.say('among themselves', { threadTs: unrelated.ts });
    await slack.say('in the channel');
    await slack.mention('are you there?', { threadTs: message.ts });
    await whole(3);
    expect(slack.thread(unrelated).filter(({ user }) => user === slack.workspace.botUser)).toEqual([]);
    expect(answers().filter((sent) => buttons(sent).includes('Again'))).toHaveLength(3);
  });

  it('answers an event once if Slack resends it after a restart', async () => {
    const delivery = await slack.directMessage('what is 2 plus 3?');
    const answers = () =>
      botMessages(slack.workspace, delivery.message.channel).filter((sent) =>
        buttons(sent).includes('Again'),
      );
    await until(() => answers().length === 1);
    await running.minstrel.stop();
    const { emulator } = running;
    await start({ emulator });
    await slack.repeat(delivery);
    await slack.directMessage('what is 2 plus 4?');
    await until(() => answers().length === 2);
    expect(answers()).toHaveLength(2);
  });

  it('continues in an existing thread after a restart', async () => {
    const thread = slack.workspace.messages.find(({ text }) => text.includes('6 times 7'));
    if (thread === undefined) throw new Error('There was no such thread');
    const answers = () => slack.thread(thread).filter((sent) => buttons(sent).includes('Again')).length;
    const before = answers();
    await slack.say('still there?', { threadTs: thread.ts });
    await until(() => answers() === before + 1);
  });
});

describe('a channel with talk on', () => {
  it('is set by moderators, has a limit per person, and can be reset', async () => {
    const privately = async (user: string, command: string, text: string) => {
      const before = slack.ephemeralsOf(user).length;
      await slack.slash(command, text, { user });
      const reply = await until(() => slack.ephemeralsOf(user)[before]);
      return readableText(reply);
    };
    expect(await privately('U0ADA', '/models', 'answers talk:on')).toContain(
      'Only moderators can use /models',
    );
    expect(await privately('U0BOB', '/models', 'answers talk:on')).toContain('*Answer every message*\non');
    expect(await privately('U0BOB', '/models', 'show')).toContain('*Answer every message*\non');
    expect(await privately('U0BOB', '/limits', 'show')).toContain(
      '30 answers per person per hour (the default in this channel): you have used 0 of 30',
    );
    const { message } = await slack.say('what is 5 times 5?');
    await until(() =>
      slack
        .thread(message)
        .find((sent) => sent.user === slack.workspace.botUser && buttons(sent).includes('Again')),
    );
    await privately('U0BOB', '/limits', 'set ask 0 hour');
    const { message: refused } = await slack.say('and 6 times 6?');
    await until(() =>
      slack.ephemeralsOf('U0ADA').some((sent) => readableText(sent).includes('A limit has turned this off:')),
    );
    await privately('U0BOB', '/limits', 'reset ask');
    expect(await privately('U0BOB', '/models', 'answers talk:off')).toContain('*Answer every message*\noff');
    const { message: plain } = await slack.say('and 7 times 7?');
    const { message: last } = await slack.mention('what is 8 times 8?');
    await until(() => slack.thread(last).some((sent) => buttons(sent).includes('Again')));
    for (const left of [refused, plain])
      expect(slack.thread(left).filter(({ user }) => user === slack.workspace.botUser)).toEqual([]);
  });
});

describe('a workspace that uninstalls the app', () => {
  it('is erased, and others keep working', async () => {
    slack.tokens.revoke(other.workspace);
    await other.uninstall();
    const { ack } = await other.slash('/song', 'rain');
    expect(JSON.stringify(ack)).toContain('install me again');
    const before = botMessages().length;
    await slack.slash('/image', 'a fox');
    await until(() =>
      botMessages()
        .slice(before)
        .find((sent) => buttons(sent).includes('Again')),
    );
  });
});
