/** `npm start`. */
import { enableCompileCache } from 'node:module';

// Halves the time of the next start. Only what is imported afterwards is cached.
enableCompileCache();
const { runProgram } = await import('./app/process.ts');
const { runMinstrel } = await import('./app/start.ts');
await runProgram(runMinstrel);
