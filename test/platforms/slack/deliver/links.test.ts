import { afterEach, beforeEach, expect, it } from 'vitest';
import { LINKED_FILES_SENTENCE } from '../../../../src/core/message.ts';
import { readableText } from '../../../servers/slack/mentions.ts';
import { FILES, type Harness, SONG, startHarness, storedFile } from '../harness.ts';

/** Files that Slack rejects. */
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
])('links to a file rejected with %s, and explains why', async (error) => {
  harness.server.faults.next('files.getUploadURLExternal', { type: 'error', error });
  await harness.show({ title: 'Rain', media: [SONG] });
  const [message] = harness.server.botMessages();
  const text = message && readableText(message);
  expect(text).toContain(LINK);
  expect(text).toContain(LINKED_FILES_SENTENCE);
});

it('links to a file whose upload Slack rejects, and does not retry', async () => {
  const { server, show } = harness;
  server.faults.every(1, 'upload', { type: 'status', status: 413 });
  await show({ title: 'Rain', media: [SONG] });
  await show({ title: 'Rain', text: 'A tune', media: [SONG] });
  const text = server.botMessages().map(readableText).join();
  expect(text).toContain(LINK);
  expect(text).toContain(LINKED_FILES_SENTENCE);
  expect(server.callsOf('files.getUploadURLExternal')).toHaveLength(1);
});

it.each([408, 429, 500, 503])('retries an upload after status %i', async (status) => {
  const { server, show } = harness;
  server.faults.next('upload', { type: 'status', status });
  await expect(show({ title: 'Rain', media: [SONG] })).rejects.toMatchObject({ code: 'unavailable' });
  await show({ title: 'Rain', media: [SONG] });
  const reply = await server.until(() => server.botMessages().find(({ files }) => files.length > 0));
  expect(reply.files.map(({ name }) => name)).toEqual(['rain.mp3']);
});

it('links to an uploaded file that Slack does not share, and explains why', async () => {
  harness.server.faults.next('files.completeUploadExternal', {
    type: 'error',
    error: 'posting_to_channel_denied',
  });
  await harness.show({ title: 'Rain', media: [SONG] });
  const [message] = harness.server.botMessages();
  expect(message && readableText(message)).toContain(LINK);
  expect(message && readableText(message)).toContain(LINKED_FILES_SENTENCE);
});

it('adds the smaller variant to the link of a rejected file', async () => {
  const { server, show } = harness;
  server.faults.next('files.getUploadURLExternal', { type: 'error', error: 'file_upload_size_restricted' });
  const smaller = { name: 'rain (2).mp3', source: storedFile('take-2', 'audio/mpeg') };
  await show({ title: 'Rain', media: [{ ...SONG, smaller }] });
  const [message] = server.botMessages();
  if (message === undefined) throw new Error('no message was posted');
  expect(readableText(message)).toContain(LINK);
  const reply = await server.until(() => server.thread(message)[0]);
  expect(reply.files.map(({ name, bytes }) => [name, bytes])).toEqual([
    ['rain (2).mp3', FILES.get('take-2')],
  ]);
});
