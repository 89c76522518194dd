import { afterEach, beforeEach, expect, it } from 'vitest';
import { LINKED_FILES_SENTENCE } from '../../../../src/core/message.ts';
import { readableText } from '../../../servers/slack/mentions.ts';
import { FILES, type Harness, kept, SONG, startHarness } from '../harness.ts';

/** What becomes of files that Slack does not take. */
let harness: Harness;

beforeEach(async () => {
  harness = await startHarness();
});

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const LINK = '<https://bot.example/files/song?as=rain.mp3|rain.mp3 · Take 1 · 2:31>';

it.each([
  'file_upload_size_restricted',
  'file_uploads_disabled',
  'file_uploads_except_images_disabled',
  'storage_limit_reached',
])('a file refused with %s is a link, with a sentence about it', async (error) => {
  harness.server.faults.next('files.getUploadURLExternal', { type: 'error', error });
  await harness.show({ title: 'Rain', media: [SONG] });
  const [message] = harness.server.botMessages();
  const text = message && readableText(message);
  expect(text).toContain(LINK);
  expect(text).toContain(LINKED_FILES_SENTENCE);
});

it('a file whose bytes Slack refuses is a link, and is uploaded no more', async () => {
  const { server, show } = harness;
  server.faults.every(1, 'upload', { type: 'status', status: 413 });
  await show({ title: 'Rain', media: [SONG] });
  await show({ title: 'Rain', text: 'A tune', media: [SONG] });
  const text = server.botMessages().map(readableText).join();
  expect(text).toContain(LINK);
  expect(text).toContain(LINKED_FILES_SENTENCE);
  expect(server.callsOf('files.getUploadURLExternal')).toHaveLength(1);
});

it.each([408, 429, 500, 503])('an upload that Slack answers with %i is made again later', async (status) => {
  const { server, show } = harness;
  server.faults.next('upload', { type: 'status', status });
  await expect(show({ title: 'Rain', media: [SONG] })).rejects.toMatchObject({ code: 'unavailable' });
  await show({ title: 'Rain', media: [SONG] });
  const reply = await server.until(() => server.botMessages().find(({ files }) => files.length > 0));
  expect(reply.files.map(({ name }) => name)).toEqual(['rain.mp3']);
});

it('a file that Slack takes and does not share is a link, with a sentence about it', async () => {
  harness.server.faults.next('files.completeUploadExternal', {
    type: 'error',
    error: 'posting_to_channel_denied',
  });
  await harness.show({ title: 'Rain', media: [SONG] });
  const [message] = harness.server.botMessages();
  expect(message && readableText(message)).toContain(LINK);
  expect(message && readableText(message)).toContain(LINKED_FILES_SENTENCE);
});

it('the smaller variant of a refused file comes with the link to the whole', async () => {
  const { server, show } = harness;
  server.faults.next('files.getUploadURLExternal', { type: 'error', error: 'file_upload_size_restricted' });
  const smaller = { name: 'rain (2).mp3', source: kept('take-2', 'audio/mpeg') };
  await show({ title: 'Rain', media: [{ ...SONG, smaller }] });
  const [message] = server.botMessages();
  if (message === undefined) throw new Error('nothing is shown');
  expect(readableText(message)).toContain(LINK);
  const reply = await server.until(() => server.thread(message)[0]);
  expect(reply.files.map(({ name, bytes }) => [name, bytes])).toEqual([
    ['rain (2).mp3', FILES.get('take-2')],
  ]);
});
