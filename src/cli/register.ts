/** `npm run register`: writes the commands to Discord, and only when it has others. */
import { commands } from '../../commands/index.ts';
import { fail, loadConfig, runProgram } from '../app/process.ts';
import { registerCommands } from '../platforms/discord/connection/register.ts';
import { PlatformError } from '../platforms/platform.ts';

const SENTENCE = {
  unchanged: 'Discord has these commands already. Nothing was written.',
  written:
    'The commands were written to Discord. People see them within a minute; a restart of their app shows them at once.',
} as const satisfies Record<Awaited<ReturnType<typeof registerCommands>>, string>;

async function main(): Promise<void> {
  const { discord } = loadConfig();
  if (!discord) return fail('DISCORD_TOKEN is not set. docs/discord.md says where to get it.');
  try {
    process.stdout.write(`${SENTENCE[await registerCommands(commands, discord)]}\n`);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    fail(`The commands could not be registered: ${error.message}.`);
  }
}

if (import.meta.main) await runProgram(main);
