import { expect, it } from 'vitest';
import type { JobDependencies } from '../../../../src/jobs/dependencies.ts';
import { advanceOnce, createWorld, SONG, songCallback } from '../../../jobs/world.ts';
import { readableText } from '../../../servers/slack/mentions.ts';
import { ADDRESS, startHarness } from '../harness.ts';

/** Simulates the death of the process. */
class Crash extends Error {}

/** Creates a song and kills the process at point `diesAt`. Resolves to false if there is no such point. */
async function createSong(diesAt: number, address = ADDRESS): Promise<boolean> {
  let points = 0;
  let died = false;
  await using world = await createWorld(() => {
    if (points++ !== diesAt) return;
    died = true;
    throw new Crash();
  });
  const harness = await startHarness({ shareDelayMs: 0 });
  try {
    const { server } = harness;
    const storedFile = (name: string) => ({ name, bytes: 1, contentType: 'audio/mpeg' });
    const dependencies: JobDependencies = {
      ...world.dependencies,
      platform: () => harness.slack,
      media: { ...world.dependencies.media, keep: async (url) => storedFile(url.split('/').at(-1) ?? '') },
    };
    const thread =
      address.thread === undefined ? {} : { thread: (await server.say('sing, please')).message.ts };
    const job = await world.start(SONG, { address: { ...address, ...thread } });
    const run = async (interrupted = false): Promise<void> => {
      await advanceOnce(dependencies, job, { interrupted }).catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        return run(true);
      });
    };
    await run();
    for (const stage of ['text', 'first', 'complete'] as const) {
      await world.callback(job, songCallback(stage));
      await run();
    }
    expect(await world.read(job), `killed at point ${diesAt}`).toMatchObject({ state: 'delivered' });
    const posted = server.botMessages();
    const files = posted.flatMap((message) => message.files.map(({ name }) => name));
    expect(files.toSorted(), `killed at point ${diesAt}`).toEqual(['Rain (take 1).mp3', 'Rain (take 2).mp3']);
    const messages = posted.filter((message) => message.files.length === 0);
    expect(messages.map(readableText), `killed at point ${diesAt}`).toEqual([
      expect.stringContaining('Requested by'),
    ]);
    expect(server.refused).toEqual([]);
  } finally {
    await harness.stop();
  }
  return died;
}

it.each([
  ['a channel', ADDRESS],
  ['a thread', { ...ADDRESS, thread: 'asked' }],
])(
  'posts one message and each file once for a song in %s, whenever its process is killed',
  async (_where, address) => {
    let points = 0;
    while (await createSong(points, address)) points += 1;
    // Before and after each write, and around the gateway's answer.
    expect(points).toBeGreaterThanOrEqual(10);
  },
);
