/** Jobs of BullMQ as the candidates of P8 run them: one after another is waited for until it is done. */
import { randomUUID } from 'node:crypto';
import { createClient } from '@keyv/redis';
import { type Processor, Queue, Worker } from 'bullmq';
import type { RedisClient } from '../../src/storage/redis/connection.ts';

export interface BullmqJobs<Data> {
  readonly client: RedisClient;
  readonly queue: Queue<Data>;
  /** Resolves when the job that `add` adds under this id is done. */
  one(add: (jobId: string) => Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

export async function openBullmq<Data>(
  name: string,
  url: string,
  processorWith: (client: RedisClient) => Processor<Data> | Promise<Processor<Data>>,
): Promise<BullmqJobs<Data>> {
  const client: RedisClient = createClient({ url });
  const workers: RedisClient = createClient({ url });
  await Promise.all([client.connect(), workers.connect()]);
  const queue = new Queue<Data>(name, { connection: client, defaultJobOptions: { removeOnComplete: true } });
  const done = new Map<string | undefined, () => void>();
  const worker = new Worker<Data>(name, await processorWith(client), {
    connection: workers,
    concurrency: 64,
  });
  worker.on('completed', ({ id }) => done.get(id)?.());
  await worker.waitUntilReady();
  return {
    client,
    queue,
    async one(add) {
      const jobId = randomUUID();
      const { promise, resolve } = Promise.withResolvers<void>();
      done.set(jobId, resolve);
      await add(jobId);
      await promise;
      done.delete(jobId);
    },
    async close() {
      await worker.close();
      await queue.close();
      for (const each of [client, workers]) each.destroy();
    },
  };
}
