import { afterEach, beforeEach, expect, it } from 'vitest';
import { readableText } from '../../../servers/slack/mentions.ts';
import { ADDRESS, type Harness, startHarness } from '../harness.ts';

/** Uses the real clock, so an adapter that waits for a Retry-After makes the test fail. */
let harness: Harness;

beforeEach(async () => {
  harness = await startHarness({ realTime: true });
  harness.server.workspace.addChannel({ id: 'C0OTHER', name: 'other' });
});

afterEach(async () => {
  expect(harness.server.refused).toEqual([]);
  await harness.stop();
});

const LIMITED = { type: 'ratelimited', retryAfter: 3600 } as const;

function answerIn(channel: string, key: string) {
  return harness.slack.stream({ ...ADDRESS, channel }, { key, remember: async () => {} });
}

it('answers although a thread cannot be read for an hour', async () => {
  const { server, bot } = harness;
  server.faults.next('conversations.replies', LIMITED);
  const { message } = await server.say('hello');
  await server.mention('what do you think?', { threadTs: message.ts });
  await server.until(() => bot.started === 1);
  const writing = answerIn('C0OTHER', 'job-1');
  await harness.update(writing, { text: 'Well' });
  await writing.close({ text: 'Well, yes.' });
  expect(server.botMessages('C0OTHER').map(readableText)).toEqual(['Well, yes.']);
});

it("ends a Retry-After on time when the machine's clock is set back", async () => {
  const { server } = harness;
  const writing = answerIn('C0MUSIC', 'job-1');
  await harness.update(writing, { text: 'One' });
  server.faults.next('chat.update', { type: 'ratelimited', retryAfter: 1 });
  await harness.update(writing, { text: 'Two' });
  harness.setClock(-3_600_000);
  await writing.close({ text: 'Three.' });
  expect(server.botMessages('C0MUSIC').map(readableText)).toEqual(['Three.']);
});
