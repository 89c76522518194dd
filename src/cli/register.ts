/** `npm run register`: registers the commands with Discord. */
import { commandsFor } from '../../commands/index.ts';
import { fail, loadConfig, runProgram } from '../app/process.ts';
import { commandLine, docsPage } from '../core/util/installation.ts';
import { registerCommands } from '../platforms/discord/connection/register.ts';
import { PlatformError } from '../platforms/platform.ts';

const usage = `Usage: ${commandLine('register')}
Registers the commands with Discord. ${commandLine('start')} does this too when they change.`;

const SUCCESS =
  'Commands registered with Discord. They appear within a minute, or as soon as people restart their app.';

async function main(): Promise<void> {
  const { discord, ...offer } = loadConfig();
  if (!discord) return fail(`DISCORD_TOKEN is not set. See ${docsPage('discord.md')} for how to get one.`);
  try {
    await registerCommands(commandsFor(offer), discord);
    process.stdout.write(`${SUCCESS}\n`);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    fail(`Could not register the commands: ${error.message}.`);
  }
}

export const runRegister = (args: readonly string[]) => runProgram({ usage }, main, args);
