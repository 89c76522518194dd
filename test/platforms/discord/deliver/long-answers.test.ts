import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Address } from '../../../../src/core/invocation.ts';
import type { Message } from '../../../../src/core/message.ts';
import { accept, type Harness, StoredPost, startHarness } from '../harness.ts';

let harness: Harness;
let address: Address;
/** How far the system clock was changed. */
let clockOffset = 0;

beforeEach(async () => {
  // Edits follow without a delay.
  clockOffset = 0;
  harness = await startHarness({
    sleep: () => new Promise((resolve) => setImmediate(resolve)),
    adapter: (discord) => ({ now: () => discord.now() + clockOffset }),
  });
  const accepted = accept(harness.bot);
  harness.discord.command({ name: 'ask', options: { question: 'why' } });
  ({ address } = await accepted);
});
afterEach(() => harness.close());

const words = (count: number) =>
  Array.from({ length: count }, (_, at) => `w${String(at).padStart(4, '0')}`).join(' ');
const writing = (count: number): Message => ({
  title: 'Why?',
  text: words(count),
  progress: { stage: 'Writing', startedAt: 1e12 },
});
const done = (count: number): Message => ({ title: 'Why?', text: words(count), footer: 'chat-small' });
const messages = () => harness.discord.botMessages();
const shows = (word: number) => JSON.stringify(messages()).includes(`w${String(word).padStart(4, '0')}`);

describe('a long answer', () => {
  it('grows over up to four messages, and stays there without a file', async () => {
    const stream = harness.platform.stream(address, new StoredPost('j'));
    for (const count of [200, 600, 700, 1_000, 1_200]) {
      stream.update(() => writing(count));
      await expect.poll(() => shows(count - 1)).toBe(true);
    }
    await stream.close(done(1_200));
    expect(messages()).toHaveLength(4);
    expect(messages().flatMap(({ attachments }) => attachments)).toEqual([]);
    const shown = messages()
      .map(({ content }) => content)
      .join(' ')
      .match(/w\d{4}/g);
    expect(shown).toEqual(words(1_200).split(' '));
  });

  it('shows its latest words when it is too long for messages, and ends as a file', async () => {
    const stream = harness.platform.stream(address, new StoredPost('j'));
    for (const count of [1_200, 1_500, 2_000]) {
      stream.update(() => writing(count));
      await expect.poll(() => shows(count - 1)).toBe(true);
      expect(shows(0)).toBe(true);
      expect(messages()).toHaveLength(4);
    }
    await stream.close(done(2_000));
    expect(messages()).toMatchObject([{ attachments: [{ filename: 'answer.md' }] }]);
  });

  it('continues when the system clock is set back', async () => {
    const stream = harness.platform.stream(address, new StoredPost('j'));
    stream.update(() => writing(10));
    await expect.poll(() => shows(9)).toBe(true);
    clockOffset = -3_600_000;
    stream.update(() => writing(20));
    await expect.poll(() => shows(19)).toBe(true);
  });

  it('edits only the messages that changed', async () => {
    const stream = harness.platform.stream(address, new StoredPost('j'));
    stream.update(() => writing(1_000));
    await expect.poll(() => shows(999)).toBe(true);
    const states = () => messages().map(({ history }) => history.length);
    const before = states();
    stream.update(() => writing(1_001));
    await expect.poll(() => shows(1_000)).toBe(true);
    expect(states()).toEqual(before.with(-1, 1 + (before.at(-1) ?? 0)));
  });
});
