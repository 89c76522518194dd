/** Applies planned failures to the parts of a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { RedisServer } from '../servers/redis.ts';
import type { Fault } from '../servers/slack/faults.ts';
import type { People } from './people.ts';
import { type ChaosOptions, type ChatFault, type PlannedEvent, planChatFault } from './plan.ts';
import type { Balancer, Replica } from './replicas.ts';

export interface Breaking {
  applyFault(event: PlannedEvent): void;
  kills(): number;
  freezes(): number;
  /** Resolves when everything has recovered. */
  settled(): Promise<void>;
  /** Stops failing calls to chats. */
  calm(): void;
}

/** Calls that serve people. Calls that connect the bot may be retried only after minutes, so they do not fail. */
const FOR_PEOPLE = /^\w+ \/(channels|webhooks|interactions)\//;
const CONNECTING = new Set(['apps.connections.open', 'auth.test']);

const SLACK_FAULTS = {
  limit: { type: 'ratelimited', retryAfter: 1 },
  fail: { type: 'status', status: 503 },
  'answer lost': { type: 'answer lost' },
  dropped: { type: 'dropped' },
} as const satisfies Record<ChatFault, Fault>;

export function createBreaking({
  replicas,
  redis,
  people: { discord, slack },
  balancer,
  options,
  tell,
}: {
  replicas: readonly Replica[];
  redis: RedisServer | undefined;
  people: People;
  balancer: Balancer;
  options: ChaosOptions;
  /** Called for each call to a chat, with its fault. */
  tell: (call: string) => void;
}): Breaking {
  let calls = 0;
  discord.faults.decide = (request) => {
    calls += 1;
    const fault = FOR_PEOPLE.test(request) ? planChatFault(options, 'discord', calls) : undefined;
    tell(`discord ${request} ${fault ?? ''}`);
    return fault;
  };
  slack.faults.decide = (method) => {
    calls += 1;
    const fault = CONNECTING.has(method) ? undefined : planChatFault(options, 'slack', calls);
    tell(`slack ${method} ${fault ?? ''}`);
    return fault && SLACK_FAULTS[fault];
  };
  let killed = 0;
  let frozen = 0;
  const thawing: Promise<void>[] = [];
  const queues = new Map<string, Promise<void>>();
  /** Runs in sequence for each part, so that nothing is started twice. */
  const enqueue = (part: string, work: () => Promise<void>): void => {
    queues.set(part, (queues.get(part) ?? Promise.resolve()).then(work));
  };
  return {
    applyFault(event) {
      switch (event.type) {
        case 'kill':
          enqueue(`replica ${event.replica}`, async () => {
            await sleep(event.delayMs);
            await replicas[event.replica]?.kill();
            killed += 1;
            await startRepeatedly(replicas[event.replica]);
          });
          return;
        case 'freeze':
          enqueue(`replica ${event.replica}`, async () => {
            frozen += 1;
            // A suspended process can be killed as well.
            thawing.push(replicas[event.replica]?.freeze(event.forMs) ?? Promise.resolve());
          });
          return;
        case 'redis':
          enqueue('redis', async () => {
            if (event.how === 'killed') await redis?.kill();
            else redis?.freeze();
            await sleep(event.awayMs);
            if (event.how === 'killed') await redis?.start();
            else redis?.thaw();
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
          if (event.trouble === 'drop') slack.socketMode.drop();
          else slack.faults.next('*', SLACK_FAULTS[event.trouble], event.times);
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
    freezes: () => frozen,
    calm() {
      discord.faults.clear();
      slack.faults.clear();
    },
    async settled() {
      await Promise.all(queues.values());
      await Promise.all(thawing);
    },
  };
}

/** A process that cannot reach Redis exits and is restarted, as by a supervisor. */
async function startRepeatedly(replica: Replica | undefined): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      return await replica?.start();
    } catch (error) {
      if (tries >= 20) throw error;
      await sleep(300);
    }
  }
}
