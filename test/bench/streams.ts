/** P1: how much of a stream is read to text in a CPU second. */
import { z } from 'zod';
import { type BenchRow, type Comparison, type Extent, inAlternation } from './measure.ts';
import { runProgram, startProgram } from './program.ts';

/** Goals, beside the SDKs and the least that must be done. A whole answer is one request, whose cost is not that of its bytes. */
const DIALECTS = {
  chat: { 'bare chat': 0.5, openai: 1.5, ai: 1.5 },
  gen: { 'bare gen': 0.5, genai: 1.5 },
  msg: { anthropic: 0.9 },
} as const;

const toldByServer = z.object({
  url: z.url(),
  bytes: z.object({ chat: z.number(), gen: z.number(), msg: z.number() }),
});
const toldByReader = z.object({ answers: z.int(), cpu: z.number(), characters: z.number() });

async function measureStreams({ short }: Extent): Promise<Comparison[]> {
  await using server = await startProgram(new URL('./stream-server.ts', import.meta.url), toldByServer);
  const comparisons: Comparison[] = [];
  for (const [dialect, goals] of Object.entries(DIALECTS)) {
    // Sound: the keys are the dialects.
    const bytes = server.told.bytes[dialect as keyof typeof DIALECTS];
    const texts = new Set<number>();
    const measured = async (candidate: string) => {
      const input = { url: server.told.url, candidate, seconds: short ? 0.7 : 2 };
      const { answers, cpu, characters } = await runProgram(
        new URL('./stream-reader.ts', import.meta.url),
        toldByReader,
        { input },
      );
      texts.add(characters);
      return (bytes * answers) / 1_000_000 / cpu;
    };
    const names = [`product ${dialect}`, ...Object.keys(goals)];
    const rates = await inAlternation(
      short ? 1 : 3,
      Object.fromEntries(names.map((name) => [name, () => measured(name)])),
    );
    if (texts.size !== 1) throw new Error(`The candidates read different texts of ${dialect}: ${[...texts]}`);
    const product = rates[`product ${dialect}`] ?? Number.NaN;
    for (const [peer, atLeast] of Object.entries(goals)) {
      const theirs = rates[peer] ?? Number.NaN;
      const goal = { atLeast };
      comparisons.push({ what: `${dialect} to text`, unit: 'MB per CPU s', product, peer, theirs, goal });
    }
  }
  return comparisons;
}

export const streamsRow: BenchRow = { id: 'p1', title: 'Streams to text', measure: measureStreams };
