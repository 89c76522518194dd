/** What keeps a thousand jobs that are due at once, as after an outage, from storming a platform. */
import type { Platform } from '../platforms/platform.ts';
import type { JobDependencies } from './dependencies.ts';
import { createPace } from './pace.ts';

/**
 * Messages a second for each platform and replica. Discord takes 50 requests a second from a bot, and a message with its
 * mention or on two pages is more than one (https://docs.discord.com/developers/topics/rate-limits).
 */
const SHOWN_PER_SECOND = 20;

/** The same, with platforms that are shown no more than so many messages a second; streams keep their own rate. */
export function withRates(d: JobDependencies): JobDependencies {
  const paced = new Map<string, Platform>();
  return {
    ...d,
    platform(name) {
      const known = paced.get(name);
      if (known) return known;
      const platform = d.platform(name);
      if (!platform) return undefined;
      const made = pacedPlatform(platform, d);
      paced.set(name, made);
      return made;
    },
  };
}

function pacedPlatform(platform: Platform, { now, sleep }: JobDependencies): Platform {
  const pace = createPace({ perSecond: SHOWN_PER_SECOND, now });
  let shown = 0;
  const myTurn = async (): Promise<void> => {
    shown += 1;
    const who = `${shown}`;
    for (let wait = pace.turn(who); wait > 0; wait = pace.turn(who)) await sleep(wait);
  };
  // Whatever else a platform can do, it does at its own rate.
  return new Proxy(platform, {
    get(target, property) {
      if (property === 'show') {
        return async (...given: Parameters<Platform['show']>) => {
          await myTurn();
          return target.show(...given);
        };
      }
      if (property === 'whisper') {
        return async (...given: Parameters<Platform['whisper']>) => {
          await myTurn();
          return target.whisper(...given);
        };
      }
      const value: unknown = Reflect.get(target, property, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
