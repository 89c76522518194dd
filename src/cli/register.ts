/** `npm run register`: writes the commands to Discord. */
import { commands } from '../../commands/index.ts';
import { fail, loadConfig, runProgram } from '../app/process.ts';
import { registerCommands } from '../platforms/discord/connection/register.ts';
import { PlatformError } from '../platforms/platform.ts';

const WRITTEN =
  'The commands were written to Discord. People see them within a minute; a restart of their app shows them at once.';

async function main(): Promise<void> {
  const { discord } = loadConfig();
  if (!discord) return fail('DISCORD_TOKEN is not set. docs/discord.md says where to get it.');
  try {
    await registerCommands(commands, discord);
    process.stdout.write(`${WRITTEN}\n`);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    fail(`The commands could not be registered: ${error.message}.`);
  }
}

if (import.meta.main) await runProgram(main);
