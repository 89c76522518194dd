/** `npm start`. */
import { runProgram } from './app/process.ts';
import { runMinstrel } from './app/start.ts';
import { commandLine } from './core/util/installation.ts';

const usage = `Usage: ${commandLine('start')}
Starts the bot with the settings in .env. Without Discord or Slack, prints the address of the playground and opens a prompt here.`;

export const runStart = (args?: readonly string[]) => runProgram({ usage }, runMinstrel, args);

if (import.meta.main) await runStart();
