/** Measures the time until both chats are connected, compared with a minimal bot. */
import { fileURLToPath } from 'node:url';
import { startBot, startProgram } from './bot.ts';
import { atMost, medianCosts, type Row } from './measure.ts';
import { startWorld } from './world.ts';

const ROUNDS = 5;

export const start: Row = async () => {
  await using world = await startWorld();
  const bareBot = fileURLToPath(new URL('./bare-bot.ts', import.meta.url));
  const readyMs = async (starting: ReturnType<typeof startProgram>): Promise<number> => {
    await using program = await starting;
    return program.readyMs;
  };
  const [bot = Number.NaN, bare = Number.NaN] = await medianCosts(ROUNDS, [
    () => readyMs(startBot(world.environment)),
    () => readyMs(startProgram(bareBot, 'Ready', world.environment)),
  ]);
  return [atMost(3, 'times', 'time until ready, relative to bare discord.js and Bolt', bot / bare)];
};
