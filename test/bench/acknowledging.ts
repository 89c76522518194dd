/** Measures the time until a command is stored and acknowledged. */
import { setTimeout as sleep } from 'node:timers/promises';
import { atMost, type Figure, quantile, type Row } from './measure.ts';
import { type Chat, startWorld } from './world.ts';

const PER_SECOND = 50;
const SECONDS = 10;
const CROWD = 500;

export const acknowledging: Row = async () => [...(await measure(0)), ...(await measure(1))];

async function measure(index: number): Promise<Figure[]> {
  // At real speed, most songs are still waiting while others are requested.
  await using world = await startWorld({ speed: 1 });
  await using _bot = await world.startBot();
  const chat = world.chats[index] ?? world.chats[0];
  // A bot runs for weeks, so the time to compile code once is not measured.
  await crowd(chat, PER_SECOND);
  const steady = quantile(await steadily(chat), 0.99);
  const latest = Math.max(...(await crowd(chat, CROWD)));
  return [
    atMost(1_000, 'ms', `${chat.name}, ${PER_SECOND} commands a second, p99`, steady),
    atMost(3_000, 'ms', `${chat.name}, ${CROWD} commands at once, latest`, latest),
  ];
}

const crowd = (chat: Chat, people: number): Promise<number[]> =>
  Promise.all(Array.from({ length: people }, () => chat.song()));

async function steadily(chat: Chat): Promise<number[]> {
  const latencies: Promise<number>[] = [];
  const startedAt = performance.now();
  for (let count = 0; count < PER_SECOND * SECONDS; count += 1) {
    await sleep(Math.max(0, startedAt + (1_000 * count) / PER_SECOND - performance.now()));
    latencies.push(chat.song());
  }
  return Promise.all(latencies);
}
