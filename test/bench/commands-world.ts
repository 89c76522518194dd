/**
 * A strict platform with a gateway behind it. Each line of standard input is a run `{ command, first, people, isSettled }`: so many
 * people, from that number on, send the command at once; what they asked for comes to its end first where that is to be.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import {
  type CommandsPlatform,
  commandsOnDiscord,
  commandsOnSlack,
  PATIENCE_MS,
} from './commands-platforms.ts';
import { quantile } from './measure.ts';
import { programInput, tell } from './program.ts';

const LATE_MS = 3_000;
/** More than there is between two steps of a song. */
const SETTLED_MS = 2_500;

const platform = await openPlatform();
const emulator = await startEmulator({ speed: 0.25, studio: createSampleStudio() });

function openPlatform(): Promise<CommandsPlatform> {
  const where = programInput(z.enum(['Discord', 'Slack', 'Slack by HTTP']));
  switch (where) {
    case 'Discord':
      return commandsOnDiscord();
    case 'Slack':
      return commandsOnSlack('socket');
    case 'Slack by HTTP':
      return commandsOnSlack('http');
    default:
      return where satisfies never;
  }
}

tell({
  bare: platform.bare,
  environment: {
    ...platform.environment,
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
    MEDIA_ALLOWED_HOSTS: new URL(emulator.url).host,
  },
});

/** Resolves when the candidate has nothing more to do. */
async function settled(): Promise<void> {
  for (let before = -1; before !== platform.requests(); await sleep(SETTLED_MS)) before = platform.requests();
}

const run = z.object({
  command: z.enum(['song', 'jobs']),
  first: z.int(),
  people: z.int().positive(),
  isSettled: z.boolean(),
});
for await (const line of createInterface({ input: process.stdin })) {
  const { command, first, people, isSettled } = run.parse(JSON.parse(line));
  await platform.ready();
  const latencyOf = Array.from({ length: people }, (_, index) => platform.command(command, first + index));
  const answered = () => latencyOf.flatMap((latency) => latency() ?? []);
  for (let waited = 0; waited < PATIENCE_MS && answered().length < people; waited += 20) await sleep(20);
  const latencies = answered();
  if (isSettled) await settled();
  tell({
    p99Ms: quantile(latencies, 0.99),
    late: latencies.filter((latency) => latency > LATE_MS).length + people - latencies.length,
  });
}
