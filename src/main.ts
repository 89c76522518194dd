/** `npm start`. */
import { runProgram } from './app/process.ts';
import { runMinstrel } from './app/start.ts';

await runProgram(runMinstrel);
