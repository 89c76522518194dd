/** P7: how long people wait for the acknowledgement when many command at once. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { startMeasuredBot } from './bot.ts';
import { type BenchRow, type Comparison, type Extent, figuresInAlternation } from './measure.ts';
import { startProgram } from './program.ts';

const BARE_DISCORD = new URL('./bare-discord.ts', import.meta.url);
const BARE_SLACK = new URL('./bare-slack.ts', import.meta.url);
/** Discord writes with each command who sent it; Slack has to be asked about people who were never seen before. */
const PLACES = [
  { where: 'Discord', people: 'unknown', bare: BARE_DISCORD, peer: 'bare discord.js' },
  { where: 'Slack', people: 'unknown', bare: BARE_SLACK, peer: 'bare Bolt, Socket Mode' },
  { where: 'Slack', people: 'known', bare: BARE_SLACK, peer: 'bare Bolt, Socket Mode' },
  { where: 'Slack by HTTP', people: 'unknown', bare: BARE_SLACK, peer: 'bare Bolt, HTTP' },
] as const;

const toldByWorld = z.object({
  bare: z.record(z.string(), z.unknown()),
  environment: z.record(z.string(), z.string()),
});
const acknowledged = z.object({ p99Ms: z.number(), late: z.number() });

async function measureCommands({ short }: Extent): Promise<Comparison[]> {
  const count = short ? 200 : 500;
  const comparisons: Comparison[] = [];
  for (const { where, people, bare, peer } of short ? PLACES.slice(0, 1) : PLACES) {
    const inWorld = async (start: (told: z.infer<typeof toldByWorld>) => Promise<AsyncDisposable>) => {
      await using world = await startProgram(new URL('./commands-world.ts', import.meta.url), toldByWorld, {
        input: where,
      });
      await using _candidate = await start(world.told);
      const send = (command: 'song' | 'jobs', first: number, of: number) =>
        world.ask(JSON.stringify({ command, first, people: of }), acknowledged);
      await send('song', 0, 1);
      // By others, or by the same people. Compiled before it counts: a bot runs for weeks.
      await send('jobs', people === 'known' ? 1 : count + 1, count);
      return await send('song', 1, count);
    };
    const barely = (more: object) =>
      inWorld((told) => startProgram(bare, z.literal('ready'), { input: { ...told.bare, ...more } }));
    const found = await figuresInAlternation(short ? 1 : 3, {
      product: () => inWorld(({ environment }) => startMeasuredBot(environment)),
      theirs: () => barely({}),
      storing: async () => {
        const folder = await mkdtemp(join(tmpdir(), 'minstrel-bench-'));
        try {
          return await barely({ folder });
        } finally {
          await rm(folder, { recursive: true, force: true });
        }
      },
    });
    const what = `${where}, ${count} commands at once of ${people} people`;
    comparisons.push(
      {
        what: `${what}: p99`,
        unit: 'ms',
        product: found.product.p99Ms,
        peer,
        theirs: found.theirs.p99Ms,
        goal: { atMost: 2 },
      },
      {
        what: `${what}: p99`,
        unit: 'ms',
        product: found.product.p99Ms,
        peer: 'the same, a record on the disk first',
        theirs: found.storing.p99Ms,
      },
      // None may be late; one more than none, so that there is a ratio.
      {
        what: `${what}: late`,
        unit: '',
        product: found.product.late,
        peer: 'at most',
        theirs: 1,
        goal: { atMost: 0 },
      },
    );
  }
  return comparisons;
}

export const commandsRow: BenchRow = {
  id: 'p7',
  title: 'Many commands at once',
  measure: measureCommands,
};
