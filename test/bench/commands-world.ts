/** A strict Discord with a gateway behind it. Each line of standard input is a run `{ commands }`: so many people press at once. */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startEmulator } from '../../src/emulator/server.ts';
import { startDiscord } from '../servers/discord/index.ts';
import { quantile } from './measure.ts';
import { tell } from './program.ts';

/** What comes later is counted as late, and not refused: a busy machine delays both candidates. */
const PATIENCE_MS = 60_000;
const LATE_MS = 3_000;

const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
const emulator = await startEmulator({ speed: 1 });

tell({
  token: discord.token,
  apiUrl: discord.apiUrl,
  environment: {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
    MEDIA_ALLOWED_HOSTS: new URL(emulator.url).host,
  },
});

const run = z.object({ commands: z.int().positive() });
for await (const line of createInterface({ input: process.stdin })) {
  const { commands } = run.parse(JSON.parse(line));
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const handles = Array.from({ length: commands }, (_, index) =>
    discord.command({
      name: 'song',
      options: { prompt: 'rain' },
      user: discord.world.addUser(`person${index}`),
    }),
  );
  const answered = () => handles.flatMap(({ latencyMs }) => latencyMs ?? []);
  for (let waited = 0; waited < PATIENCE_MS && answered().length < commands; waited += 20) await sleep(20);
  const latencies = answered();
  tell({
    p99Ms: quantile(latencies, 0.99),
    late: latencies.filter((latency) => latency > LATE_MS).length + commands - latencies.length,
  });
}
