/** What has to work before the bot is of use. */
import type { HealthPart } from '../../http/health.ts';
import type { Platform } from '../../platforms/platform.ts';
import { type Storage, StorageError } from '../../storage/storage.ts';

export function healthParts(storage: Pick<Storage, 'check'>, platforms: readonly Platform[]): HealthPart[] {
  return [
    {
      name: 'storage',
      check: async () => {
        try {
          await storage.check();
          return { ready: true };
        } catch (error) {
          if (!(error instanceof StorageError) || error.code !== 'schema') throw error;
          // Nothing but an operator helps, so the reason is told; strangers read it too, so it names no path.
          return { ready: false, reason: 'The database file is damaged; the log names it' };
        }
      },
    },
    {
      name: 'platforms',
      check: () => {
        const away = platforms.flatMap((platform) => {
          const status = platform.status();
          return status.ready ? [] : [`${platform.name}: ${status.reason}`];
        });
        return away.length === 0 ? { ready: true } : { ready: false, reason: away.join('; ') };
      },
    },
  ];
}
