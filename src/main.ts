/** `npm start`. Loads everything else behind Node's cache, so that the next start compiles nothing. */
import { enableCompileCache } from 'node:module';

// In NODE_COMPILE_CACHE, or a folder of this user in the system's temporary one. Where that cannot be written, nothing is kept.
enableCompileCache();
const { runProgram } = await import('./app/process.ts');
const { runMinstrel } = await import('./app/start.ts');
await runProgram(runMinstrel);
