import { afterEach, expect, test, vi } from 'vitest';
import type { Invocation } from '../../src/core/invocation.ts';
import { FILES_WITHIN_MS } from '../../src/media/attachments.ts';
import { startMinstrel } from '../end-to-end/minstrel.ts';
import { listen } from '../media/helpers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

/** Each is started by its first file, and aborts when the test says so. */
function holdDeadlines(): AbortController[] {
  const deadlines: AbortController[] = [];
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) => {
    if (milliseconds !== FILES_WITHIN_MS) return timeout(milliseconds);
    const deadline = new AbortController();
    deadlines.push(deadline);
    return deadline.signal;
  });
  return deadlines;
}

test('the files of one request share one deadline, whichever of them are still fetched or wait for that', async () => {
  let fetched = 0;
  // None of them ever comes.
  const { origin } = await listen(() => {
    fetched += 1;
  });
  await using running = await startMinstrel(
    { DISCORD_TOKEN: 'a-token-of.this.test-alone', DISCORD_API_URL: `${origin}/api` },
    { platforms: [] },
  );
  const deadlines = holdDeadlines();
  const asked: Invocation = {
    id: 'event',
    command: 'ask',
    options: { question: 'Which of these is a cloud?' },
    files: Array.from({ length: 10 }, (_, index) => ({
      name: `${index}.png`,
      contentType: 'image/png',
      url: `${origin}/${index}.png`,
      bytes: 1000,
      attached: true,
    })),
    address: { platform: 'discord', guild: 'guild', channel: 'channel', person: 'ada' },
    person: { id: 'ada', displayName: 'Ada', moderator: false, roles: [] },
  };
  const outcome = running.minstrel.bot.run(asked);
  // Eight are fetched at once; the other two wait.
  await expect.poll(() => fetched).toBe(8);
  expect(deadlines).toHaveLength(1);
  for (const deadline of deadlines) deadline.abort();
  expect(await outcome).toMatchObject({
    message: { text: expect.stringMatching(/longer than 10 minutes .* fewer or smaller/) },
  });
  expect(fetched).toBe(8);
});
