/** Preloaded into a process with `--import`: answers each message with the URLs of its loaded modules. */
import { registerHooks } from 'node:module';

const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});
process.on('message', () => process.send?.([...loaded]));
// The channel must not keep the process alive.
process.channel?.unref();
