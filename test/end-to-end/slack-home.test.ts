import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** The Home tab of the whole bot, with songs at real speed. */
let slack: SlackServer;
let running: RunningMinstrel;

beforeAll(async () => {
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  running = await startMinstrel(
    {
      ...slack.environment,
    },
    { speed: 5 },
  );
});

afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
});

const words = (user: string) => JSON.stringify(slack.homeOf(user)?.view.blocks ?? []);
const until: typeof slack.until = (condition) => slack.until(condition);
const openHome = async (user: string) => {
  await slack.openHome({ user });
  return until(() => slack.homeOf(user));
};

it('shows a person’s running jobs from all channels and cancels them', async () => {
  await slack.slash('/song', 'a very long song about rain', { user: 'U0ADA' });
  await slack.slash('/song', 'a song of somebody else', { user: 'U0BOB' });
  await until(() => slack.botMessages().length === 2);
  const home = await openHome('U0ADA');
  expect(words('U0ADA')).toContain('long song about rain');
  expect(words('U0ADA')).not.toContain('somebody else');
  await slack.pressInView(home, 'Cancel');
  await until(() => words('U0ADA').includes('You have no running jobs.'));
  await until(() => slack.botMessages().some((message) => /cancel/i.test(readableText(message))));
});

it('changes settings of direct messages that apply there', async () => {
  const home = await openHome('U0BOB');
  await slack.pressInView(home, 'Answer model…');
  const form = await until(() => slack.openView('U0BOB'));
  const [offered] = (await slack.suggest(form, 'model', 'chat-l')).map(({ value }) => value);
  if (offered === undefined) throw new Error('No model was offered');
  await slack.submitView(form, { model: offered, where: 'channel' });
  await until(() => words('U0BOB').includes(`Answers in this chat now use ${offered}`));
  const direct = slack.workspace.directChannel('U0BOB').id;
  await slack.slash('/models', 'show', { user: 'U0BOB', channel: direct });
  const reply = await until(() => slack.ephemeralsOf('U0BOB').at(-1));
  expect(readableText(reply)).toContain(offered);
  await slack.slash('/models', 'show', { user: 'U0BOB', channel: 'C0MUSIC' });
  const elsewhere = await until(() => slack.ephemeralsOf('U0BOB')[1]);
  expect(readableText(elsewhere)).not.toContain(offered);
});
