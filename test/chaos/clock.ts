/** Loaded before a bot's program: its clock goes ahead by so much, as if the machine had been off. */
import { flushCompileCache } from 'node:module';

const ahead = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;

// Node keeps what it compiled when a process ends, and most of these are killed. It does nothing the second time.
setTimeout(flushCompileCache, 2_000).unref();
