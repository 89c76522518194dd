import type { Platform } from '../../src/platforms/platform.ts';

/** Wraps a platform as jobs use it: the state that `show` returns is stored immediately. */
export function storing(platform: Platform): Platform {
  return {
    ...platform,
    async show(address, message, options) {
      const posted = await platform.show(address, message, options);
      await options.remember(posted);
      return posted;
    },
  };
}
