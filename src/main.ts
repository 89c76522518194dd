/** `npm start`. */
import { runProgram } from './app/process.ts';
import { runMinstrel } from './app/start.ts';

const usage = `Usage: npm start
Starts the bot with the settings in .env. Without Discord or Slack, opens a chat in the browser and a prompt here.`;

await runProgram({ usage }, runMinstrel);
