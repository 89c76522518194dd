import type { Platform } from '../../src/platforms/platform.ts';

/** The platform as jobs use it: what `show` returns is stored at once, as what it remembers meanwhile is. */
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
