/** The Discord adapter alone, in a process of its own. Each line of standard input is a question: `memory`, `begin`, or `cpu` from there to a mention. */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Bot } from '../../../src/core/bot/bot.ts';
import { createDiscord } from '../../../src/platforms/discord/adapter.ts';
import { alone, FakeBot } from '../../platforms/discord/harness.ts';
import { cpuSeconds } from '../measure.ts';
import { programInput, tell } from '../program.ts';

const { token, apiUrl, shards } = programInput(
  z.object({ token: z.string(), apiUrl: z.string(), shards: z.number() }),
);
/** The first figure is that of the start. */
let before = process.cpuUsage();
const quiet = () => {};
const fake = new FakeBot();
let mentioned = Promise.withResolvers<void>();
fake.answer = async () => {
  mentioned.resolve();
  return { type: 'message', visibility: 'person', message: { text: 'Done.' } };
};
const bot: Bot = fake;
const adapters = Array.from({ length: shards }, (_, shard) =>
  createDiscord({
    token,
    apiUrl,
    shards: { ids: [shard], total: shards },
    withLock: alone,
    media: { open: () => Promise.reject(new TypeError('There are no files')), link: () => '' },
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
    now: Date.now,
    random: Math.random,
  }),
);
for (const adapter of adapters) await adapter.start(bot);
tell('ready');

async function memoryKb(): Promise<number> {
  // What the start left behind is freed in steps.
  for (let round = 0; round < 5; round += 1) {
    globalThis.gc?.();
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1_000;
}

for await (const question of createInterface({ input: process.stdin })) {
  if (question === 'memory') tell(await memoryKb());
  else if (question === 'begin') {
    before = process.cpuUsage();
    mentioned = Promise.withResolvers();
    tell(0);
  } else {
    await mentioned.promise;
    tell(cpuSeconds(before));
  }
}
