/** Puts songs that versions before 0.2 stored, which listed them by channel alone, into the lists of their servers. */
import { serverOf } from '../../../core/invocation.ts';
import type { RedisTools } from '../connection/connection.ts';
import { KEEP_SERVER_SONGS } from './job-scripts.ts';
import { redisJobs } from './jobs.ts';

/** Done once: what this version stores is in both lists. Safe to repeat, and on several replicas at once. */
export async function keepFormerServerSongs(tools: RedisTools): Promise<void> {
  const { connection, keys } = tools;
  if ((await connection.run((redis) => redis.exists(keys.serverSongsKept))) > 0) return;
  const jobs = redisJobs(tools);
  const start = keys.songs({ platform: '', channel: '' }).slice(0, -1);
  for await (const key of connection.keys(start)) {
    const [platform = '', channel = ''] = key.slice(start.length).split(':').map(decodeURIComponent);
    // A channel belongs to one server.
    const [newest] = await jobs.recentSongs({ platform, channel }, 1);
    const guild = newest && serverOf(newest.address);
    if (guild === undefined) continue;
    await connection.evaluate(
      KEEP_SERVER_SONGS,
      [key, keys.serverSongs({ platform, guild })],
      [keys.job('')],
    );
  }
  await connection.run((redis) => redis.set(keys.serverSongsKept, 1));
}
