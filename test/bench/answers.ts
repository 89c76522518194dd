/** P2 and P9: how far the text in the channel is behind the gateway's, and what many answers at once cost the whole bot. */
import { z } from 'zod';
import { startMeasuredBot } from './bot.ts';
import type { BenchRow, Comparison, Extent } from './measure.ts';
import { startProgram } from './program.ts';

/** A word waits half of the distance between two edits on average. */
const PLACES = [
  // Five edits in 2 s, and one way of the network.
  { where: 'Discord', words: 320, peer: 'best under 5 edits in 2 s', bestMs: 214 },
  // Tier 4.
  { where: 'Slack by name', words: 320, peer: 'best under 100 additions a minute', bestMs: 300 },
  // Tier 3; so short that it stays with edits.
  { where: 'Slack by command', words: 150, peer: 'best under 50 edits a minute', bestMs: 600 },
] as const;
/** An edit on its way; what was shown before the first word has used the budget a little. */
const FIRST_WORDS_MS = 400;
const LIMITS = { peakMb: 300, cpuShare: 0.25, loopP99Ms: 20, loopWorstMs: 100, endMs: 2_000 } as const;

const toldByWorld = z.object({ environment: z.record(z.string(), z.string()) });
const outcome = z.object({
  lagMs: z.number(),
  firstMs: z.number(),
  worstEndMs: z.number(),
  edits: z.number(),
  refused: z.number(),
});
/** So many answers of so many words at once, through the whole bot as `npm start` runs it. */
async function answer(where: string, answers: number, words: number) {
  await using cleanup = new AsyncDisposableStack();
  const world = cleanup.use(
    await startProgram(new URL('./answers-world.ts', import.meta.url), toldByWorld, { input: where }),
  );
  const bot = cleanup.use(await startMeasuredBot({ ...world.told.environment, CONCURRENCY: 'ask=100' }));
  const run = (of: { readonly answers: number; readonly words: number }) =>
    world.ask(JSON.stringify(of), outcome);
  // What is loaded once, and the first connections.
  await run({ answers: 1, words: 20 });
  await bot.used();
  const seen = await run({ answers, words });
  return { ...seen, ...(await bot.used()) };
}

async function measureLag({ short }: Extent): Promise<Comparison[]> {
  const comparisons: Comparison[] = [];
  for (const { where, words, peer, bestMs } of PLACES) {
    const { lagMs, firstMs, refused } = await answer(where, 1, short ? 150 : words);
    if (refused > 0) throw new Error(`${where}: edits of a stream were refused`);
    const what = `${where}, one answer at 50 words a second`;
    comparisons.push(
      {
        what: `${what}: average lag`,
        unit: 'ms',
        product: lagMs,
        peer,
        theirs: bestMs,
        goal: { atMost: 1.2 },
      },
      {
        what: `${what}: first words`,
        unit: 'ms',
        product: firstMs,
        peer: 'one edit and its pause',
        theirs: FIRST_WORDS_MS,
        goal: { atMost: 1 },
      },
    );
  }
  return comparisons;
}

async function measureMany({ short }: Extent): Promise<Comparison[]> {
  const answers = 50;
  const words = short ? 400 : 4_000;
  const found = await answer('Discord', answers, words);
  if (found.refused > 0) throw new Error('Discord refused edits of a stream');
  const what = `${answers} answers of ${words} words`;
  const limits = [
    ['memory at its peak', 'MB', found.peakMb, LIMITS.peakMb],
    ['share of a core', '', found.cpuShare, LIMITS.cpuShare],
    ['computed at a stretch, p99', 'CPU ms', found.computedP99Ms, LIMITS.loopP99Ms],
    ['computed at a stretch, worst', 'CPU ms', found.computedWorstMs, LIMITS.loopWorstMs],
    // What else a busy machine does delays the loop too.
    ...(short
      ? []
      : ([
          ['event loop p99', 'ms', found.loopP99Ms, LIMITS.loopP99Ms],
          ['event loop worst', 'ms', found.loopWorstMs, LIMITS.loopWorstMs],
        ] as const)),
    ['last word after its end, worst', 'ms', found.worstEndMs, LIMITS.endMs],
  ] as const;
  return limits.map(([name, unit, product, theirs]) => ({
    what: `${what}: ${name}`,
    unit,
    product,
    peer: 'limit',
    theirs,
    goal: { atMost: 1 },
  }));
}

export const lagRow: BenchRow = {
  id: 'p2',
  title: 'Text on the platform behind the gateway’s',
  measure: measureLag,
};
export const manyAnswersRow: BenchRow = {
  id: 'p9',
  title: 'Many answers at once',
  measure: measureMany,
};
