/** P13: what music in many voice channels takes at once. */
import { z } from 'zod';
import type { BenchRow, Comparison, Extent } from './measure.ts';
import { runProgram, startProgram } from './program.ts';

const SERVERS = 20;
/** Of a core, for all of them. */
const MOST_SHARE = 0.1;
const MOST_LATE = 0.01;

const toldByServer = z.object({
  token: z.string(),
  apiUrl: z.url(),
  channels: z.array(z.object({ guild: z.string(), channel: z.string() })),
});
const heard = z.object({
  packets: z.int(),
  late: z.number(),
  sealed: z.number(),
  mistakes: z.array(z.string()),
});

async function measureVoice({ short }: Extent): Promise<Comparison[]> {
  await using server = await startProgram(new URL('./voice-server.ts', import.meta.url), toldByServer, {
    input: { servers: SERVERS },
  });
  const { share } = await runProgram(
    new URL('./voice-player.ts', import.meta.url),
    z.object({ share: z.number() }),
    { input: { ...server.told, seconds: short ? 5 : 20 } },
  );
  const { late, sealed, mistakes } = await server.ask('heard', heard);
  if (mistakes.length > 0 || sealed < 0.9)
    throw new Error(`The voice server refused something: ${mistakes.join('; ')} (sealed: ${sealed})`);
  const limit = { peer: 'limit', goal: { atMost: 1 } } as const;
  return [
    { what: `${SERVERS} servers at once`, unit: 'of a core', product: share, theirs: MOST_SHARE, ...limit },
    { what: 'packets over 40 ms late', unit: 'of all', product: late, theirs: MOST_LATE, ...limit },
  ];
}

export const voiceRow: BenchRow = { id: 'p13', title: 'Music in voice channels', measure: measureVoice };
