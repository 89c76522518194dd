/** P7: how long people wait for the acknowledgement when many command at once. */
import { z } from 'zod';
import { startMeasuredBot } from './bot.ts';
import { type BenchRow, type Comparison, type Extent, inAlternation } from './measure.ts';
import { startProgram } from './program.ts';

const toldByWorld = z.object({
  token: z.string(),
  apiUrl: z.url(),
  environment: z.record(z.string(), z.string()),
});
const acknowledged = z.object({ p99Ms: z.number(), late: z.number() });

async function measureCommands({ short }: Extent): Promise<Comparison[]> {
  const commands = short ? 200 : 500;
  let late = 0;
  const inWorld = async (start: (told: z.infer<typeof toldByWorld>) => Promise<AsyncDisposable>) => {
    await using world = await startProgram(new URL('./commands-world.ts', import.meta.url), toldByWorld);
    await using _candidate = await start(world.told);
    await world.ask(JSON.stringify({ commands: 1 }), acknowledged);
    return await world.ask(JSON.stringify({ commands }), acknowledged);
  };
  const { product, bare } = await inAlternation(short ? 1 : 3, {
    async product() {
      const seen = await inWorld(({ environment }) => startMeasuredBot(environment));
      late = Math.max(late, seen.late);
      return seen.p99Ms;
    },
    bare: async () =>
      (
        await inWorld(({ token, apiUrl }) =>
          startProgram(new URL('./bare-discord.ts', import.meta.url), z.literal('ready'), {
            input: { token, apiUrl },
          }),
        )
      ).p99Ms,
  });
  const what = `Discord, ${commands} commands at once`;
  return [
    {
      what: `${what}: p99 of the acknowledgement`,
      unit: 'ms',
      product,
      peer: 'bare discord.js',
      theirs: bare,
      goal: { atMost: 2 },
    },
    // None may be late; one more than none, so that there is a ratio.
    { what: `${what}: late`, unit: '', product: late, peer: 'at most', theirs: 1, goal: { atMost: 0 } },
  ];
}

export const commandsRow: BenchRow = {
  id: 'p7',
  title: 'Many commands at once',
  measure: measureCommands,
};
