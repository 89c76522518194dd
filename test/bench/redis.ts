/** A Redis whose CPU time counts. */
import { connectRedis, startRedisServer } from '../servers/redis.ts';

export async function startMeasuredRedis(settings: Readonly<Record<string, string>>) {
  const server = await startRedisServer(settings);
  const client = await connectRedis(server.url);
  return {
    url: server.url,
    /** User and system time since it started. */
    async cpuMs() {
      // https://redis.io/docs/latest/commands/info/
      const seconds = (await client.info('cpu')).matchAll(/^used_cpu_(?:user|sys):([\d.]+)/gm);
      return [...seconds].reduce((sum, [, text]) => sum + 1_000 * Number(text), 0);
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await server.dispose();
    },
  };
}
