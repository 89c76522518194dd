/** A replica as a process of its own, to be killed and frozen at will: `node shard-replica.ts <options as JSON>`. */
import { z } from 'zod';
import { createDiscord } from '../../../../src/platforms/discord/adapter.ts';
import { openRedisStorage } from '../../../../src/storage/redis/redis.ts';
import { systemClock } from '../../../../src/storage/schedule.ts';
import { FakeBot } from '../harness.ts';

const { token, apiUrl, redisUrl, leaseMs } = z
  .object({ token: z.string(), apiUrl: z.string(), redisUrl: z.string(), leaseMs: z.number() })
  .parse(JSON.parse(process.argv[2] ?? ''));
const say = (line: string) => process.stdout.write(`${line}\n`);
const told = (fields: object, sentence: string) => say(`log ${sentence} ${JSON.stringify(fields)}`);
const log = { debug: () => {}, info: told, warn: told, error: told };

const storage = await openRedisStorage({
  url: redisUrl,
  leaseMs,
  clock: systemClock,
  random: Math.random,
  log,
});
const bot = new FakeBot();
bot.answer = async ({ options }) => {
  say(`seen ${options.prompt ?? options.question}`);
  return { type: 'message', visibility: 'person', message: { text: 'Done.' } };
};
const platform = createDiscord({
  token,
  apiUrl,
  log,
  replicas: storage.replicas,
  media: { open: () => Promise.reject(new TypeError('There are no files')), link: () => '' },
  now: Date.now,
  random: Math.random,
});
process.once('SIGTERM', () => {
  void platform
    .close()
    .then(() => storage.close())
    .then(() => say('closed'));
});
await platform.start(bot);
say(`name ${storage.replicas?.name}`);
