import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** Moderation through the real Bolt, real storage and the whole bot. Bob is an admin, Ada is not. */
let slack: SlackServer;
let running: RunningMinstrel;

const ADA = 'U0ADA';
const BOB = 'U0BOB';
const CHANNEL = 'C0MUSIC';

beforeAll(async () => {
  // The bot and Slack share one process here, so the deadline is longer. Other tests cover the 3 s.
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  running = await startMinstrel({
    ...slack.environment,
    ADMIN_PORT: '0',
    USAGE_LIMITS: 'deployment 100/day',
  });
});
afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
});

/** Resolves to the private reply. */
async function privately(user: string, command: string, text: string): Promise<string> {
  const before = slack.ephemeralsOf(user).length;
  await slack.slash(command, text, { user });
  await slack.until(() => slack.ephemeralsOf(user).length > before);
  return slack.ephemeralsOf(user).slice(before).map(readableText).join('\n');
}

const metrics = async () => (await fetch(running.minstrel.metricsUrl ?? '')).text();

it('metrics used by alerts start at zero', async () => {
  const lines = await metrics();
  expect(lines).toContain('minstrel_callbacks_total{outcome="stored"} 0');
  expect(lines).toContain('minstrel_callbacks_total{outcome="forged"} 0');
  expect(lines).toContain('minstrel_undelivered_total{platform="slack"} 0');
});

it('admins set a model, others are refused', async () => {
  expect(await privately(ADA, '/models', 'set ask chat:chat-small channel')).toContain(
    'Only moderators can use /models',
  );
  expect(await privately(BOB, '/models', 'set ask chat:chat-smalll channel')).toContain('Did you mean');
  expect(await privately(BOB, '/models', 'set ask chat:chat-small channel')).toContain('now use');
  const reply = await privately(BOB, '/models', 'show');
  expect(reply).toContain('(this channel');
});

it('a form suggests the chosen family’s models first', async () => {
  const before = slack.openView(BOB);
  await slack.slash('/models', 'set', { user: BOB });
  const form = await slack.until(() => (slack.openView(BOB) === before ? undefined : slack.openView(BOB)));
  const suggestions = async (family: string) => {
    const options = await slack.suggest(form, 'model', '', { family });
    return options.map(({ value }) => value);
  };
  expect((await suggestions('song'))[0]).toMatch(/^V/);
  expect((await suggestions('song')).filter((model) => !model.startsWith('V'))).toEqual([]);
  expect((await suggestions('image'))[0]).toMatch(/canvas|picture/);
  expect((await suggestions('video'))[0]).toMatch(/reel/);
  expect(await suggestions('video')).toContain('chat-small');
});

it('a limit allows one request, says when the next is possible, and is counted in metrics', async () => {
  expect(await privately(BOB, '/limits', 'set ask 1 day workspace')).toContain('1 answer per person per day');
  const before = slack.botMessages(CHANNEL).length;
  await slack.slash('/ask', 'What is 6 times 7?', { user: ADA });
  await slack.until(() => {
    const message = slack.botMessages(CHANNEL)[before];
    return message && JSON.stringify(message.blocks).includes('Again');
  });
  expect(await privately(ADA, '/ask', 'And 7 times 8?')).toMatch(
    /Limit reached: 1 answer per person per day. Try again in (24 h|23 h 5\d min)/,
  );
  await slack.until(async () => (await metrics()).includes('family="ask"'));
  const lines = await metrics();
  expect(lines).toMatch(
    /minstrel_usage_requests_total\{platform="slack",family="ask",model=".*chat-small"\} 1/,
  );
  expect(lines).toContain(
    'minstrel_limit_refusals_total{platform="slack",scope="personInServer",family="ask"} 1',
  );
  expect(lines).toContain('minstrel_access_denials_total{platform="slack",command="models"}');
  expect(lines).toContain('minstrel_platform_ready{platform="slack"} 1');
  // The metrics of one answer.
  for (const name of [
    'minstrel_acknowledged_seconds_count{platform="slack"} 1',
    'minstrel_first_words_seconds_count{dialect="chat"} 1',
    'minstrel_ended_seconds_count{family="ask",state="delivered"} 1',
    'minstrel_gateway_tokens_total{model="chat-small",direction="output"}',
    'minstrel_gateway_request_seconds_count{route="chat/completions",status="200",code="ok"} 1',
    'minstrel_platform_requests_total{platform="slack",method="chat.postMessage",status="200"}',
    'minstrel_platform_connections{platform="slack"}',
    'minstrel_storage_seconds_count{operation="accept",outcome="ok"}',
    'minstrel_schedule_lateness_seconds_count',
  ])
    expect(lines).toContain(name);
  expect(lines).not.toMatch(/U0ADA|U0BOB|xoxb/);
  expect((await fetch(`${running.minstrel.url}/metrics`)).status).toBe(404);
});

it('a report shows usage per person, with a chart', async () => {
  const report = await privately(BOB, '/limits', 'report 7');
  for (const words of ['Jobs by day', 'By kind\nKind\nJobs\nAnswers\n1', 'By person\nPerson\nJobs'])
    expect(report).toContain(words);
});

it('a denied person gets a refusal at once, and can still use forget', async () => {
  expect(await privately(BOB, '/limits', `deny all <@${ADA}|ada> workspace`)).toContain(
    "can't use any command",
  );
  expect(await privately(ADA, '/song', 'a tune')).toContain(
    'here, because a moderator turned it off for you. If you think this is a mistake, ask a moderator.',
  );
  expect(await privately(ADA, '/minstrel', 'forget --confirm')).toContain('Deleted 1 job and all results, ');
  expect(await privately(BOB, '/minstrel', 'audit')).toContain("ada can't use any command");
});

it('people from other workspaces in a shared channel are refused until moderators allow them', async () => {
  slack.workspace.addUser({ id: 'U0EVE', name: 'eve', team: 'T0OTHER', admin: true });
  slack.workspace.channels.get(CHANNEL)?.members.add('U0EVE');
  const before = slack.botMessages(CHANNEL).length;
  expect(await privately('U0EVE', '/image', 'a fox')).toContain('You belong to another workspace');
  expect(await privately('U0EVE', '/limits', 'allow all visitors')).toContain(
    'Only moderators can use /limits',
  );
  expect(await privately('U0EVE', '/minstrel', 'help')).toContain('Commands');
  expect(await privately(BOB, '/limits', 'allow all visitors')).toContain(
    'people from other workspaces can use',
  );
  expect(await privately(BOB, '/limits', 'show')).toContain('People from other workspaces');
  await slack.slash('/image', 'a fox', { user: 'U0EVE' });
  await slack.until(() => slack.botMessages(CHANNEL).length > before);
  expect(await privately(BOB, '/limits', 'reset all visitors')).toContain('Reason: the default');
  expect(await privately('U0EVE', '/image', 'another fox')).toContain('You belong to another workspace');
  expect(await privately(BOB, '/minstrel', 'audit')).toContain(
    'people from other workspaces can use all commands for members → no rule',
  );
});
