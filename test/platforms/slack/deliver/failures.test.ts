import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pings, readableText } from '../../../servers/slack/mentions.ts';
import {
  ADDRESS,
  type Harness,
  type HarnessOptions,
  PICTURE,
  SONG,
  startHarness,
  storedFile,
} from '../harness.ts';

let harness: Harness;

const start = async (options: HarnessOptions = {}) => {
  harness = await startHarness({ shareDelayMs: 0, ...options });
};

afterEach(async () => {
  await harness.stop();
});

const TAKE_2 = { ...SONG, name: 'take2.mp3', source: storedFile('take-2', 'audio/mpeg') };
const PROGRESS = { title: 'Composing', progress: { stage: 'Composing', startedAt: 1_800_000_000_000 } };
const LONG = Array.from({ length: 4000 }, (_, index) => `word${index}`).join(' ');

describe('a lost answer of Slack', () => {
  it('does not repeat a message in a thread of any length', async () => {
    await start({ pageMessages: 15 });
    const { server, show } = harness;
    const { message } = await server.say('a question');
    for (let index = 0; index < 40; index += 1) await server.say(`word ${index}`, { threadTs: message.ts });
    const address = { ...ADDRESS, thread: message.ts };
    server.faults.next('chat.postMessage', { type: 'answer lost' });
    await show({ text: 'Yes.' }, { address });
    await show({ text: 'No.' }, { address });
    expect(server.botMessages().map(readableText)).toEqual(['No.']);
    expect(server.refused).toEqual([]);
  });

  it('does not repeat a message after the global shortcut, in the direct messages of the song', async () => {
    await start();
    const { server, bot, show } = harness;
    await server.shortcut('form:song');
    await server.submitView(await server.until(() => server.openView()), { prompt: 'rain' });
    await server.until(() => bot.started === 1);
    const address = bot.invocations[0]?.address;
    expect(address?.channel).toBe('D0ADA');
    server.faults.next('chat.postMessage', { type: 'answer lost' });
    await show({ title: 'Rain' }, { address: address ?? ADDRESS });
    await show({ title: 'Snow' }, { address: address ?? ADDRESS });
    expect(server.botMessages('D0ADA').map(readableText)).toEqual(['Snow']);
    expect(server.refused).toEqual([]);
  });

  it('does not matter if the app may not open direct messages', async () => {
    await start();
    const { server, bot, show } = harness;
    server.takeScope('im:write');
    await server.shortcut('form:song');
    await server.submitView(await server.until(() => server.openView()), { prompt: 'rain' });
    await server.until(() => bot.started === 1);
    await show({ title: 'Rain' }, { address: bot.invocations[0]?.address ?? ADDRESS });
    expect(server.botMessages('D0ADA').map(readableText)).toEqual(['Rain']);
  });
});

describe('private text that is too long for messages', () => {
  beforeEach(() => start());
  afterEach(() => expect(harness.server.refused).toEqual([]));

  const fileIn = (channel: string) => {
    const files = harness.server.botMessages(channel).flatMap((message) => message.files);
    return files.map(({ bytes }) => bytes.toString('utf8'));
  };

  it('arrives in full as a direct message with a file, and the channel shows a private hint', async () => {
    const { server, slack } = harness;
    await slack.sendPrivately(ADDRESS, { title: 'Words', text: LONG });
    expect(fileIn('D0ADA')).toEqual([LONG]);
    expect(server.ephemeralsOf('U0ADA').map(readableText)).toEqual([
      expect.stringContaining('as a direct message'),
    ]);
    expect(server.messages('C0MUSIC')).toEqual([]);
  });

  it('arrives in full from a channel without the bot, and as the answer to a command', async () => {
    const { server, slack, bot } = harness;
    await slack.sendPrivately({ ...ADDRESS, channel: 'C0QUIET' }, { text: LONG });
    expect(fileIn('D0ADA')).toEqual([LONG]);
    bot.answer = () => ({ type: 'message', visibility: 'person', message: { text: `${LONG}!` } });
    await server.slash('/jobs');
    await server.until(() => fileIn('D0ADA').length === 2);
    expect(server.refused.splice(0).map(({ error }) => error)).toEqual(['not_in_channel']);
  });
});

it('reports with the song that the bot was removed from the channel', async () => {
  await start();
  const { server, show } = harness;
  await show(PROGRESS);
  server.workspace.channels.get('C0MUSIC')?.members.delete(server.workspace.botUser);
  const error = await show({ title: 'Rain', media: [SONG] }).catch((error: unknown) => error);
  expect(error).toMatchObject({ advice: expect.stringContaining('no longer in the channel') });
  expect(error).not.toMatchObject({ advice: expect.stringContaining("haven't started") });
});

it('mentions the requester although Slack rejects the file', async () => {
  await start();
  const { server, show } = harness;
  await show(PROGRESS);
  server.faults.next('files.completeUploadExternal', { type: 'error', error: 'file_type_not_allowed' });
  await show({ title: 'Rain', media: [SONG], notify: 'ready' });
  // Edits notify no one, so the reply mentions the person.
  const replies = server.botMessages().filter(({ threadTs }) => threadTs !== undefined);
  expect(replies.flatMap(pings)).toEqual(['U0ADA']);
});

it('posts only the final state where edits are forbidden, and deletes the first', async () => {
  await start();
  const { server, show } = harness;
  await show(PROGRESS);
  server.faults.every(1, 'chat.update', { type: 'error', error: 'edit_window_closed' });
  for (const stage of ['Singing', 'Mixing', 'Mastering'])
    await show({ ...PROGRESS, progress: { ...PROGRESS.progress, stage } });
  await show({ title: 'Rain', text: 'Done.' });
  expect(server.botMessages().map(readableText)).toEqual(['Rain\nDone.']);
  expect(server.callsOf('chat.postMessage')).toHaveLength(2);
});

describe('a channel where editing stops', () => {
  const DONE = { title: 'Rain', text: 'Done.' };

  const places = ['channel', 'thread'] as const;
  const startEditing = async (place: (typeof places)[number]) => {
    await start();
    const { server, show } = harness;
    const { message } = await server.say('a question');
    const address = place === 'thread' ? { ...ADDRESS, thread: message.ts } : ADDRESS;
    const posted = await show(PROGRESS, { address });
    server.faults.every(1, 'chat.update', { type: 'error', error: 'edit_window_closed' });
    return { address, posted };
  };
  const shown = () => harness.server.botMessages().map(readableText);

  it.each(
    places.flatMap((place) => [
      { place, fault: { type: 'dropped' } as const },
      { place, fault: { type: 'answer lost' } as const },
      { place, fault: { type: 'ratelimited', retryAfter: 30 } as const },
      { place, fault: { type: 'error', error: 'restricted_action' } as const },
    ]),
  )('replaces the progress with the result after $fault.type ($place)', async ({ place, fault }) => {
    const { address } = await startEditing(place);
    harness.server.faults.next('chat.postMessage', fault);
    for (let time = 0; time < 2; time += 1) await harness.show(DONE, { address }).catch(() => undefined);
    expect(shown()).toEqual(['Rain\nDone.']);
    expect(harness.server.refused).toEqual([]);
  });

  it.each(places)('posts one result if the process dies before storing it (%s)', async (place) => {
    const { address, posted } = await startEditing(place);
    await harness.show(DONE, { address, posted });
    const again = await harness.show(DONE, { address, posted, mayHavePosted: true });
    expect(shown()).toEqual(['Rain\nDone.']);
    await harness.show(DONE, { address, posted: again, mayHavePosted: true });
    expect(shown()).toEqual(['Rain\nDone.']);
    // The posted content differs from the new content.
    await harness.show({ ...DONE, text: 'Two takes.' }, { address, posted, mayHavePosted: true });
    expect(shown()).toEqual(['Rain\nTwo takes.']);
  });

  const PAGES = { title: 'Rain', text: Array.from({ length: 2000 }, (_, index) => `word${index}`).join(' ') };

  it.each(['edit_window_closed', 'message_not_found'])(
    'posts songs and pages below the current message, even after a crash (%s)',
    async (error) => {
      await start();
      const { server, show } = harness;
      const posted = await show({ ...PROGRESS, ...PAGES, media: [SONG] });
      const [first] = server.botMessages();
      const before = server.botMessages().flatMap(({ files }) => files.map(({ id }) => id));
      if (error === 'message_not_found' && first) first.deleted = true;
      else server.faults.next('chat.update', { type: 'error', error });
      const done = { ...PAGES, text: `Done. ${PAGES.text}`, media: [SONG, TAKE_2] };
      for (const mayHavePosted of [false, true]) {
        await show(done, { posted, mayHavePosted });
        const [shown, ...replies] = server.botMessages();
        expect(shown?.ts).not.toBe(first?.ts);
        expect(new Set(replies.map(({ threadTs }) => threadTs))).toEqual(new Set([shown?.ts]));
        const files = replies.flatMap((reply) => reply.files.map(({ name }) => name));
        expect(files).toEqual(['rain.mp3', 'take2.mp3']);
        const text = server.botMessages().map(readableText).join(' ');
        expect(text.match(/word1999/g)).toHaveLength(1);
        expect(before.map((id) => server.workspace.files.has(id))).toEqual([false]);
      }
    },
  );

  it('keeps the order of pages after a person deleted one', async () => {
    await start();
    const { server, show } = harness;
    const { message } = await server.say('a question');
    const address = { ...ADDRESS, thread: message.ts };
    const text = Array.from({ length: 2600 }, (_, index) => `word${index}`).join(' ');
    await show({ text }, { address });
    const second = server.botMessages()[1];
    if (second) second.deleted = true;
    await show({ text: text.replace('word1500 ', 'word1500! ') }, { address });
    const words = server
      .botMessages()
      .map(readableText)
      .join(' ')
      .match(/word\d+/g);
    expect(words?.join(' ')).toBe(text);
  });

  it('keeps progress that cannot be deleted above the result', async () => {
    await startEditing('channel');
    harness.server.faults.next('chat.delete', { type: 'error', error: 'cant_delete_message' });
    await harness.show(DONE);
    expect(shown()).toEqual([expect.stringContaining('Composing'), 'Rain\nDone.']);
  });
});

it('passes on an image with the question from its menu', async () => {
  await start();
  const { server, bot } = harness;
  const picture = server.upload('sky.png', Buffer.from('PNG'), { mimetype: 'image/png' });
  const { message } = await server.say('look', { files: [picture], user: 'U0BOB' });
  await server.messageShortcut('message-menu:ask', message);
  const form = await server.until(() => server.openView());
  expect(JSON.stringify(form.view)).toContain('“sky.png” will be used');
  await server.submitView(form, { question: 'What is it?' });
  await server.until(() => bot.started === 1);
  expect(bot.invocations[0]?.options).toMatchObject({
    question: 'What is it?',
    image: { name: 'sky.png', contentType: 'image/png' },
  });
  expect(server.refused).toEqual([]);
});

it('omits file names from notifications', async () => {
  await start();
  const { server, show } = harness;
  await show({ title: 'Rain', media: [SONG, PICTURE] });
  await show({ media: [PICTURE] }, { key: 'job-2', posted: undefined });
  const texts = server.botMessages().filter(({ threadTs }) => threadTs === undefined);
  expect(texts.map(({ text }) => text)).toEqual(['Rain · Take 1 · 2:31', 'Rain']);
});
