/** Lets what was planned befall the parts of a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from '../servers/redis.ts';
import type { People } from './people.ts';
import type { PlannedEvent } from './plan.ts';
import type { Balancer, Replica } from './replicas.ts';

export interface Breaking {
  befall(event: PlannedEvent): void;
  kills(): number;
  /** Resolves when everything that was broken is up again. */
  settled(): Promise<void>;
}

export function createBreaking({
  replicas,
  redis,
  people: { discord, slack },
  balancer,
}: {
  replicas: readonly Replica[];
  redis: RedisServer | undefined;
  people: People;
  balancer: Balancer;
}): Breaking {
  let killed = 0;
  const queues = new Map<string, Promise<void>>();
  /** One after the other for each part, so that nothing is started twice. */
  const enqueue = (part: string, work: () => Promise<void>): void => {
    queues.set(part, (queues.get(part) ?? Promise.resolve()).then(work));
  };
  return {
    befall(event) {
      switch (event.type) {
        case 'kill':
          enqueue(`replica ${event.replica}`, async () => {
            await sleep(event.delayMs);
            await replicas[event.replica]?.kill();
            killed += 1;
            await startWhilePossible(replicas[event.replica]);
          });
          return;
        case 'redis':
          enqueue('redis', async () => {
            await redis?.kill();
            await sleep(event.awayMs);
            await redis?.start();
          });
          return;
        case 'discord':
          if (event.trouble === 'drop') discord.gateway.drop();
          else
            discord.faults.fail(event.trouble === 'limit' ? 429 : 503, {
              times: event.times,
              path: /channels|webhooks/,
              afterTaking: event.trouble === 'answer lost',
            });
          return;
        case 'slack': {
          const faults = {
            limit: { type: 'ratelimited', retryAfter: 1 },
            fail: { type: 'status', status: 503 },
            'answer lost': { type: 'answer lost' },
            dropped: { type: 'dropped' },
          } as const;
          if (event.trouble === 'drop') slack.socketMode.drop();
          else slack.faults.next('*', faults[event.trouble], event.times);
          return;
        }
        case 'duplicates': {
          const [callback] = balancer.callbacks.slice(-1);
          if (!callback) return;
          const again = () =>
            fetch(`${balancer.url}${callback.path}`, { method: 'POST', body: callback.body }).catch(
              () => undefined,
            );
          enqueue(
            'duplicates',
            async () => void (await Promise.all(Array.from({ length: event.times }, again))),
          );
          return;
        }
        default:
          event satisfies never;
      }
    },
    kills: () => killed,
    async settled() {
      await Promise.all(queues.values());
    },
  };
}

/** A process that finds no Redis ends, and is started again as a supervisor would. */
async function startWhilePossible(replica: Replica | undefined): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await replica?.start();
    } catch (error) {
      if (tries >= 20) throw error;
      await sleep(300);
    }
  }
}
