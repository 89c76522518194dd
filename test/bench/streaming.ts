/** Measures how far words in a channel lag behind the gateway's. */
import { setTimeout as sleep } from 'node:timers/promises';
import { chatEvent, chatStream, events } from '../jobs/ask/upstream.ts';
import { atMost, type Figure, type Row } from './measure.ts';
import { type BenchWorld, type Chat, type Shown, startWorld } from './world.ts';

/** The speed of fast models. */
const WORDS_PER_SECOND = 50;
const WORDS = 300;
const ANSWERS = 3;

/** Five edits in two seconds per interaction, from Discord's rate limit headers; not documented. */
const DISCORD_EDITS = { limit: 5, perMs: 2_000 } as const;
/** Tier 4, in bursts of five: https://docs.slack.dev/apis/web-api/rate-limits */
const SLACK_ADDITIONS = { limit: 100, perMs: 60_000, burst: 5 } as const;
/** The average wait of a word in milliseconds: half of the interval between evenly spaced edits, or appends on Slack. */
const BEST_LAG_MS = {
  Discord: DISCORD_EDITS.perMs / DISCORD_EDITS.limit / 2,
  Slack: SLACK_ADDITIONS.perMs / SLACK_ADDITIONS.limit / 2,
} as const;

export const streaming: Row = async () => {
  await using world = await startWorld();
  world.discord.faults.limitEdits(DISCORD_EDITS.limit, DISCORD_EDITS.perMs);
  limitSlack(world);
  await using _bot = await world.startBot();
  const figures: Figure[] = [];
  for (const chat of world.chats) {
    const lags: number[][] = [];
    // The first answer warms up.
    for (let answer = 0; answer <= ANSWERS; answer += 1)
      lags.push(await lagsOf(chat, world, answer === 0 ? 20 : WORDS));
    lags.shift();
    const first = Math.max(...lags.map(([lag = Number.NaN]) => lag));
    const all = lags.flat();
    const average = all.reduce((sum, lag) => sum + lag, 0) / all.length;
    figures.push(
      atMost(100, 'ms', `${chat.name}, delay of the first words`, first),
      atMost(1.3 * BEST_LAG_MS[chat.name], 'ms', `${chat.name}, average delay of a word`, average),
    );
  }
  return figures;
};

/** Returns the lag of each word of an answer in milliseconds. */
async function lagsOf(chat: Chat, world: BenchWorld, words: number): Promise<number[]> {
  const gatewayTimes = stream(world, words, WORDS_PER_SECOND);
  const shown = await chat.ask();
  const writtenAt = await gatewayTimes;
  return shownAt(shown, words).map((at, word) => at - (writtenAt[word] ?? Number.NaN));
}

/** Makes the next answer stream numbered words at this rate. Resolves to the time of each, in milliseconds since the epoch. */
export function stream({ gateway }: BenchWorld, words: number, perSecond: number): Promise<number[]> {
  const { promise, resolve } = Promise.withResolvers<number[]>();
  gateway.next('/chat/completions', async (response) => {
    // By now, the progress message is shown.
    await sleep(500);
    events(response);
    const startedAt = Date.now();
    const writtenAt: number[] = [];
    while (writtenAt.length < words) {
      const due = Math.min(words, 1 + Math.floor(((Date.now() - startedAt) / 1_000) * perSecond));
      for (; writtenAt.length < due; writtenAt.push(Date.now())) {
        const word = writtenAt.length;
        response.write(chatEvent(`${word > 0 && word % 60 === 0 ? '\n\n' : ''}w${word} `));
      }
      await sleep(20);
    }
    response.end(chatStream([]));
    resolve(writtenAt);
  });
  return promise;
}

/** Returns the time at which each word was first visible; NaN if it never was. */
function shownAt(shown: readonly Shown[], words: number): number[] {
  const at: number[] = [];
  for (const { at: time, text } of shown) {
    // JSON escapes line breaks, so the letter n may precede a number.
    const numbers = [...text.matchAll(/(?:\b|\\n)w(\d+)\b/g)].map(([, number]) => Number(number));
    while (at.length <= Math.max(-1, ...numbers)) at.push(time);
  }
  while (at.length < words) at.push(Number.NaN);
  return at;
}

function limitSlack({ slack }: BenchWorld): void {
  const { limit, perMs, burst } = SLACK_ADDITIONS;
  let left: number = burst;
  let at = Date.now();
  slack.faults.decide = (method) => {
    if (method !== 'chat.appendStream') return undefined;
    const now = Date.now();
    left = Math.min(burst, left + ((now - at) * limit) / perMs);
    at = now;
    if (left < 1) return { type: 'ratelimited', retryAfter: 1 };
    left -= 1;
    return undefined;
  };
}
