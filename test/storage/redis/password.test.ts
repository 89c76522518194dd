import { describe, expect, test } from 'vitest';
import { createLog } from '../../../src/app/telemetry/log.ts';
import { systemClock } from '../../../src/core/util/clock.ts';
import { openRedisStorage } from '../../../src/storage/redis/open.ts';
import { noRedis, startRedisServer } from '../../servers/redis.ts';

describe.skipIf(noRedis)('a password that Redis rejects', () => {
  // Each case waits for five seconds.
  test.concurrent.each<[string, Record<string, string | string[]>, string]>([
    ['is wrong', { requirepass: 'the-right-one' }, 'Redis rejected the user name or password in the URL.'],
    [
      'is not required',
      {},
      'Redis has no password, but the URL does. Remove the password from the URL, or set one in Redis.',
    ],
    [
      'comes to a Redis without passwords, which quotes it',
      { 'rename-command': ['AUTH', ''] },
      'Redis has no password, but the URL does. Remove the password from the URL, or set one in Redis.',
    ],
  ])('has a specific error when it %s, and is never logged', async (_case, more, sentence) => {
    await using cleanup = new AsyncDisposableStack();
    const server = await startRedisServer(more);
    cleanup.defer(() => server.dispose());
    const lines: string[] = [];
    const url = server.url.replace('//', '//:the-wrong-one@');
    const opened = openRedisStorage({
      url,
      clock: systemClock,
      random: Math.random,
      log: createLog({ level: 'trace', write: (line) => lines.push(line), secrets: [] }),
      firstConnectionMs: 5_000,
    });
    await expect(opened).rejects.toMatchObject({ code: 'unavailable', message: sentence });
    expect(lines.join('')).toContain('Lost the connection to Redis');
    expect(lines.join('')).not.toContain('the-wrong-one');
  });
});
