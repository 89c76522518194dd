/**
 * Carries over the schedule of version 0.1, which kept the times in keys of its own next to BullMQ.
 * Jobs that replicas of that version schedule afterwards are carried over by the next start.
 */
import { Queue } from 'bullmq';
import type { Locks } from '../../locks.ts';
import type { Schedule } from '../../schedule.ts';
import type { RedisTools } from '../connection/connection.ts';

const AT_ONCE = 500;

export async function carryOverFormerSchedule(
  schedule: Schedule,
  locks: Locks,
  { connection, prefix, clock }: RedisTools,
): Promise<void> {
  // A sorted set of jobs by time, and a hash of the jobs that ran.
  const [wishes, handling] = [`${prefix}:wishes`, `${prefix}:handling`];
  const queue = 'wake-ups';
  const former = [wishes, handling, `${prefix}:handler-failures`, `${prefix}:${queue}:meta`];
  const isFound = async () => (await connection.run((redis) => redis.exists(former))) > 0;
  if (!(await isFound())) return;
  await locks.run('former schedule', async () => {
    if (!(await isFound())) return;
    const times = await connection.run((redis) => redis.zRangeWithScores(wishes, 0, -1));
    const ran = await connection.run((redis) => redis.hKeys(handling));
    const scheduled = [
      ...times.map(({ value, score }) => ({ job: value, at: score })),
      ...ran.map((job) => ({ job, at: clock.now() })),
    ];
    for (let first = 0; first < scheduled.length; first += AT_ONCE) {
      const page = scheduled.slice(first, first + AT_ONCE);
      await Promise.all(page.map(({ job, at }) => schedule.wake(job, at)));
    }
    const formerQueue = new Queue(queue, { connection: connection.client, prefix });
    formerQueue.on('error', () => {});
    await formerQueue.obliterate({ force: true });
    await formerQueue.close();
    await connection.run((redis) => redis.del(former));
  });
}
