/** P7: how long people wait for the acknowledgement when many command at once. */
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
/** A song each, before it counts: what takes a command is compiled then. A bot runs for weeks. */
const WARM_UP = 100;

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
      const send = (run: object) => world.ask(JSON.stringify(run), acknowledged);
      // By others, or by the same people.
      const first = people === 'known' ? 0 : count;
      await send({ command: 'jobs', first, people: count, isSettled: false });
      await send({ command: 'song', first: 2 * count, people: WARM_UP, isSettled: true });
      return await send({ command: 'song', first: 0, people: count, isSettled: false });
    };
    const found = await figuresInAlternation(short ? 1 : 5, {
      product: () => inWorld(({ environment }) => startMeasuredBot(environment)),
      theirs: () => inWorld((told) => startProgram(bare, z.literal('ready'), { input: told.bare })),
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
