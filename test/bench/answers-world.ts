/**
 * A strict platform that limits edits, and a gateway that streams numbered words at a rate. Each line of standard input is a run
 * `{ answers, words }`: so many people ask at once, each in a channel of their own. Tells when each word was said and shown.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startEmulator } from '../../src/emulator/server.ts';
import { chatEvent, chatStream, events, startUpstream } from '../jobs/ask/upstream.ts';
import { type AnswersPlatform, answersOnDiscord, answersOnSlack } from './answers-platforms.ts';
import { quantile } from './measure.ts';
import { programInput, tell } from './program.ts';

const WORDS_PER_SECOND = 50;

const platform = await openPlatform();
const emulator = await startEmulator({ speed: 0 });
const upstream = await startUpstream();
upstream.gateway = emulator.url;

function openPlatform(): Promise<AnswersPlatform> {
  const where = programInput(z.enum(['Discord', 'Slack by name', 'Slack by command']));
  switch (where) {
    case 'Discord':
      return answersOnDiscord();
    case 'Slack by name':
      return answersOnSlack('by name');
    case 'Slack by command':
      return answersOnSlack('by command');
    default:
      return where satisfies never;
  }
}

/** When each word was sent, in milliseconds since the epoch. */
async function say(words: number, write: (event: string) => void): Promise<number[]> {
  const said: number[] = [];
  const begunAt = Date.now();
  while (said.length < words) {
    const due = Math.min(words, Math.floor(((Date.now() - begunAt) / 1_000) * WORDS_PER_SECOND) + 1);
    for (; said.length < due; said.push(Date.now()))
      write(chatEvent(`${sentence(said.length)}w${said.length} `));
    await sleep(1_000 / WORDS_PER_SECOND);
  }
  return said;
}

/** Paragraphs, as models write them. */
const sentence = (word: number): string => (word > 0 && word % 60 === 0 ? '\n\n' : '');

function highestIn(text: string): number {
  // In JSON a new line is written as the letter n.
  return Math.max(-1, ...[...text.matchAll(/(?:\b|\\n)w(\d+)\b/g)].map(([, number]) => Number(number)));
}

async function ask(words: number) {
  const over = Promise.withResolvers<number[]>();
  upstream.next('/chat/completions', async (response) => {
    // The progress message is there by now.
    await sleep(500);
    events(response);
    const said = await say(words, (event) => response.write(event));
    response.end(chatStream([]));
    over.resolve(said);
  });
  const question = platform.ask();
  while (!question.isDone()) {
    question.watch();
    await sleep(50);
  }
  question.watch();
  const states = question.states().toSorted((one, other) => one.at - other.at);
  const said = await over.promise;
  let shown = -1;
  const lags: number[] = [];
  for (const { at, text } of states) {
    const highest = highestIn(text);
    for (; shown < highest; lags.push(at - (said[shown] ?? Number.NaN))) shown += 1;
  }
  const endedAt = states.at(-1)?.at ?? Number.NaN;
  return {
    lags,
    firstMs: lags[0] ?? Number.NaN,
    endMs: endedAt - (said.at(-1) ?? Number.NaN),
    edits: states.length,
  };
}

tell({
  environment: {
    ...platform.environment,
    GATEWAY_BASE_URL: upstream.url,
    GATEWAY_API_KEY: emulator.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
  },
});

const run = z.object({ answers: z.int().positive(), words: z.int().positive() });
for await (const line of createInterface({ input: process.stdin })) {
  const { answers, words } = run.parse(JSON.parse(line));
  await platform.ready();
  const asked = await Promise.all(Array.from({ length: answers }, () => ask(words)));
  const lags = asked.flatMap((one) => one.lags);
  tell({
    lagMs: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    firstMs: quantile(
      asked.map(({ firstMs }) => firstMs),
      0.5,
    ),
    worstEndMs: Math.max(...asked.map(({ endMs }) => endMs)),
    edits: asked.reduce((sum, { edits }) => sum + edits, 0),
    refused: platform.refused(),
  });
}
