/** How long it takes from the gateway's first token to the first words in the channel, in edit intervals of the platform. */
import { setTimeout as sleep } from 'node:timers/promises';
import { LIMITS as SLACK_LIMITS } from '../../src/platforms/slack/limits.ts';
import { startMinstrel } from '../end-to-end/minstrel.ts';
import {
  chatEvent,
  chatStream,
  events,
  type Reply,
  startUpstream,
  type Upstream,
} from '../jobs/ask/upstream.ts';
import { startDiscord } from '../servers/discord/index.ts';
import { startSlackServer } from '../servers/slack/server.ts';
import type { BenchRow } from './measure.ts';

/** About five edits in five seconds: https://docs.discord.com/developers/topics/rate-limits, measured by others. */
const DISCORD_INTERVAL_MS = 1_200;

interface FirstWords {
  readonly platform: string;
  readonly worstMs: number;
  readonly intervalMs: number;
}

/** What a question's first token was followed by. */
interface Asked {
  /** Asks; the words will be these. */
  readonly ask: (words: string) => void;
  /** Resolves when they are shown. */
  readonly seen: (words: string) => Promise<unknown>;
}

/** Real bot, real clients, strict platforms; `rounds` questions on each platform, one after another and during another answer. */
async function measureFirstWords(rounds: number): Promise<FirstWords[]> {
  await using cleanup = new AsyncDisposableStack();
  const discord = await startDiscord();
  cleanup.defer(() => discord.close());
  const slack = await startSlackServer();
  cleanup.defer(() => slack.close());
  const upstream = cleanup.use(await startUpstream());
  upstream.gateway = 'http://127.0.0.1:9';
  const running = cleanup.use(
    await startMinstrel({
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
      GATEWAY_BASE_URL: upstream.url,
    }),
  );
  upstream.gateway = running.emulator.url;
  await discord.until(() => discord.commands.length > 0, 'registered commands');

  const onDiscord: Asked = {
    ask: (words) => void discord.mention({ text: `Say ${words}` }),
    seen: (words) =>
      discord.until(() => discord.said().find((m) => JSON.stringify(m.embeds).includes(words)), words),
  };
  const onSlack: Asked = {
    ask: (words) => void slack.mention(`Say ${words}`),
    seen: (words) =>
      slack.until(() =>
        slack.messages('C0MUSIC').find(({ user, text, blocks, streaming }) => {
          const shown = JSON.stringify([text, blocks, streaming?.text]);
          return user === slack.workspace.botUser && shown.includes(words);
        }),
      ),
  };
  const measured: FirstWords[] = [];
  for (const [platform, asked, intervalMs] of [
    ['Discord', onDiscord, DISCORD_INTERVAL_MS],
    ['Slack', onSlack, SLACK_LIMITS.editGapMs],
  ] as const) {
    const alone = await repeat(rounds, () => measureOne(asked, upstream));
    measured.push(summary(platform, alone, intervalMs));
    const other = new AbortController();
    upstream.next('/chat/completions', talkative(other.signal));
    asked.ask('much');
    await asked.seen('on and on');
    const during = await repeat(rounds, () => measureOne(asked, upstream));
    other.abort();
    measured.push(summary(`${platform}, during another answer`, during, intervalMs));
  }
  return measured;
}

let questions = 0;

async function measureOne({ ask, seen }: Asked, upstream: Upstream): Promise<number> {
  const words = `words-${++questions}`;
  // What was written before is no longer waited for.
  await sleep(DISCORD_INTERVAL_MS);
  let toldAt = Number.NaN;
  upstream.next('/chat/completions', async (response) => {
    // The message of the question is posted by now.
    await sleep(300);
    toldAt = performance.now();
    events(response).write(chatEvent(`${words} `));
    await sleep(2_500);
    response.end(chatStream([`${words}-end`]));
  });
  ask(`it ${questions}`);
  await seen(words);
  const taken = performance.now() - toldAt;
  await seen(`${words}-end`);
  return taken;
}

/** An answer that goes on in the same channel. */
const talkative =
  (signal: AbortSignal): Reply =>
  async (response) => {
    events(response);
    while (!signal.aborted && !response.destroyed) {
      response.write(chatEvent('on and on '));
      await sleep(50);
    }
    response.end(chatStream([]));
  };

async function repeat(rounds: number, measure: () => Promise<number>): Promise<number[]> {
  const all: number[] = [];
  for (let round = 0; round < rounds; round += 1) all.push(await measure());
  return all;
}

function summary(platform: string, taken: readonly number[], intervalMs: number): FirstWords {
  return { platform, worstMs: Math.max(...taken), intervalMs };
}

export const firstWordsRow: BenchRow = {
  id: 'first-words',
  title: 'From the first token to the first words in the channel',
  async measure({ short }) {
    const measured = await measureFirstWords(short ? 2 : 5);
    return measured.map(({ platform, worstMs, intervalMs }) => ({
      what: platform,
      unit: 'ms, worst',
      product: worstMs,
      peer: 'one interval between edits',
      theirs: intervalMs,
      // The time of the edit itself.
      goal: { atMost: 1.1 },
    }));
  },
};
