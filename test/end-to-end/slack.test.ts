import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { slackPage } from '../pictures/slack.ts';
import { pings, readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { filesOf, PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';
import { soundsOf } from './sound.ts';

/** Six commands from Slack's event to the posted result: the real Bolt, the real gateway client, real storage. */
let slack: SlackServer;
let running: RunningMinstrel;

beforeAll(async () => {
  slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  running = await startMinstrel({
    ...slack.environment,
  });
});

afterEach(() => expect(slack.refused).toEqual([]));
afterAll(async () => {
  await running?.[Symbol.asyncDispose]();
  await slack?.close();
});

const CHANNEL = 'C0MUSIC';
const newest = () => slack.botMessages(CHANNEL).at(-1);
const lastCallback = (kind: RegExp) =>
  running.emulator.callbacks.findLast(({ body }) => kind.test(body))?.body ?? '';

/** Runs a command and waits for its final message. */
async function ask(
  command: string,
  text: string,
  done: (message: NonNullable<ReturnType<typeof newest>>) => boolean,
) {
  const before = slack.botMessages(CHANNEL).length;
  await slack.slash(command, text);
  return slack.until(() => {
    const message = slack.botMessages(CHANNEL)[before];
    return message && done(message) ? message : undefined;
  });
}

const everything = (message: NonNullable<ReturnType<typeof newest>>) => [message, ...slack.thread(message)];
const filesIn = (message: NonNullable<ReturnType<typeof newest>>) =>
  everything(message).flatMap(({ files, blocks }) => [
    ...files.map(({ bytes }) => Buffer.from(bytes)),
    ...[...JSON.stringify(blocks).matchAll(/"slack_file":\{"id":"(\w+)"/g)].map(([, id = '']) =>
      Buffer.from(slack.workspace.files.get(id)?.bytes ?? []),
    ),
  ]);
const has = (button: string) => (message: NonNullable<ReturnType<typeof newest>>) =>
  JSON.stringify(message.blocks).includes(button);

it('/song posts both takes with unchanged audio', async () => {
  const message = await ask('/song', 'a tune for rain', (m) => has('Again')(m) && filesIn(m).length >= 3);
  const expectedFiles = await filesOf(lastCallback(/"complete"/), /^audio_url$/);
  const posted = await soundsOf(filesIn(message));
  for (const sound of await soundsOf(expectedFiles)) expect(posted).toContain(sound);
  // Slack does not show the command, so the result repeats it.
  expect(readableText(message).match(/a tune for rain/g)).toHaveLength(1);
  expect(pings(message)).toEqual([]);
});

it('/lyrics posts every variant, and “Sing 1” opens the song form with the lyrics', async () => {
  const message = await ask('/lyrics', 'a lighthouse', has('Sing 1'));
  await slack.press(message, 'Sing 1');
  const view = await slack.until(() => slack.openView('U0ADA'));
  expect(JSON.stringify(view)).toContain('ighthouse');
});

it('/stems splits the latest song and posts unchanged stems', async () => {
  const message = await ask('/stems', '--split all', (m) => has('Again')(m) && filesIn(m).length > 2);
  const expectedFiles = await soundsOf(await filesOf(lastCallback(/drums/), /_url$|Url$/));
  const posted = filesIn(message);
  const archives = posted.filter((bytes) => bytes.subarray(0, 2).toString() === 'PK');
  expect(archives).toHaveLength(1);
  for (const sound of await soundsOf(posted.filter((bytes) => !archives.includes(bytes))))
    expect(expectedFiles).toContain(sound);
});

it('/image posts the image', async () => {
  const message = await ask(
    '/image',
    'a fox --size square',
    (m) => has('Again')(m) && filesIn(m).length === 1,
  );
  expect(filesIn(message)[0]?.subarray(1, 4).toString()).toBe('PNG');
});

it('/video posts a video', async () => {
  const message = await ask(
    '/video',
    'waves --duration 5',
    (m) => has('Again')(m) && filesIn(m).length === 1,
  );
  expect(filesIn(message)[0]?.subarray(4, 8).toString()).toBe('ftyp');
});

it('/ask streams an answer into one message', async () => {
  const before = slack.botMessages(CHANNEL).length;
  const message = await ask('/ask', 'What is 6 times 7?', (m) => has('Again')(m));
  expect(everything(message).map(readableText).join('\n')).toContain('42');
  expect(slack.botMessages(CHANNEL)).toHaveLength(before + 1);
});

it('the README pictures can be drawn from its posts', async () => {
  const messages = slack.botMessages(CHANNEL);
  const pictured = [has('song.extend'), has('ask.again')].flatMap((wanted) => {
    const message = messages.find(wanted);
    return message
      ? [{ blocks: message.blocks, replies: slack.thread(message).flatMap(({ files }) => files) }]
      : [];
  });
  const page = await slackPage(pictured, (id) => slack.workspace.files.get(id)?.bytes);
  const missing = ['Extend', '(take 2).mp3', '42', 'data:image/png'].filter(
    (text) => !page.html.includes(text),
  );
  expect(missing).toEqual([]);
});

it('a command acknowledged too late costs nothing, and the requester gets one message with Again', async () => {
  const [message] = slack.botMessages(CHANNEL).filter(has('Extend'));
  if (message === undefined) throw new Error('there is no song');
  const requestsBefore = running.emulator.requests.length;
  const before = slack.botMessages(CHANNEL).length;
  slack.delay(PATIENCE_MS + 10_000);
  await slack.press(message, 'Again');
  slack.delay(0);
  const notice = await slack.until(() => slack.botMessages(CHANNEL)[before]);
  await slack.until(() => has('Again')(notice));
  expect(readableText(notice)).toContain("I didn't start");
  expect(running.emulator.requests.length).toBe(requestsBefore);
  expect(slack.botMessages(CHANNEL)).toHaveLength(before + 1);
  await slack.press(notice, 'Again');
  await slack.until(() =>
    slack
      .botMessages(CHANNEL)
      .slice(before + 1)
      .some(has('Extend')),
  );
});

it('runs a command once if it arrives twice', async () => {
  const before = slack.botMessages(CHANNEL).length;
  const { triggerId } = await slack.slash('/lyrics', 'a lighthouse');
  await slack.slash('/lyrics', 'a lighthouse', { triggerId });
  await slack.until(() => slack.botMessages(CHANNEL).slice(before).some(has('Sing 1')));
  await slack.slash('/lyrics', 'a lighthouse', { triggerId });
  const { length } = running.emulator.requests.filter(({ url }) => url.includes('generate-lyrics'));
  await slack.slash('/lyrics', 'another');
  await slack.until(() => slack.botMessages(CHANNEL).slice(before).filter(has('Sing 1')).length > 1);
  expect(slack.botMessages(CHANNEL).slice(before).filter(has('Sing 1'))).toHaveLength(2);
  expect(running.emulator.requests.filter(({ url }) => url.includes('generate-lyrics'))).toHaveLength(
    length + 1,
  );
});

it('reports invalid input privately before spending anything', async () => {
  const before = running.emulator.requests.length;
  await slack.slash('/song', 'a tune --stlye lofi');
  const reply = await slack.until(() => slack.ephemeralsOf('U0ADA').at(-1));
  expect(readableText(reply)).toContain('style');
  expect(running.emulator.requests.length).toBe(before);
});

it('says privately how to invite the bot if it is not in the channel, and spends nothing', async () => {
  const before = running.emulator.requests.length;
  await slack.slash('/song', 'a tune for rain', { channel: 'C0QUIET' });
  const reply = await slack.until(() =>
    slack.ephemeralsOf('U0ADA').find((m) => readableText(m).includes('/invite')),
  );
  expect(readableText(reply)).toContain('/invite');
  expect(running.emulator.requests.length).toBe(before);
  slack.refused.splice(
    0,
    slack.refused.length,
    ...slack.refused.filter(({ error }) => error !== 'not_in_channel'),
  );
});
