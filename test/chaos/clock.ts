/** Loaded before a bot's program: its clock is ahead by so much (or behind), as if it had been set so. */
import { flushCompileCache } from 'node:module';

const ahead = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;
globalThis.Date = new Proxy(Date, {
  construct: (target, values, made) =>
    Reflect.construct(target, values.length === 0 ? [target.now()] : values, made),
});

// Node keeps what it compiled when a process ends, and most of these are killed. It does nothing the second time.
setTimeout(flushCompileCache, 2_000).unref();
