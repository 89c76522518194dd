/** Loaded before the bot's program: shifts its clock forward or back. */
import { flushCompileCache } from 'node:module';

const ahead = Number(process.env.CHAOS_CLOCK_AHEAD_MS ?? 0);
const now = Date.now.bind(Date);
Date.now = () => now() + ahead;
globalThis.Date = new Proxy(Date, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length === 0 ? [target.now()] : values, newTarget),
});

// Node writes its compile cache at exit, but most of these processes are killed. Later calls have no effect.
setTimeout(flushCompileCache, 2_000).unref();
