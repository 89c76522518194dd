/** Preloaded into a process (`--import`): answers each message with the addresses of the modules that it has loaded. */
import { registerHooks } from 'node:module';

const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});
process.on('message', () => process.send?.([...loaded]));
// The channel alone keeps no process alive.
process.channel?.unref();
