/** What every storage keeps to. Run on each by test/storage/*.test.ts. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { songJob } from '../storage/jobs.ts';
import type { Replica } from '../storage/redis/replica-process.ts';
import { acceptContract } from './storage-accept.ts';
import { inboxContract } from './storage-inbox.ts';
import { jobQueryContract, jobRecordContract } from './storage-jobs.ts';
import { leasesContract } from './storage-leases.ts';
import { notificationsContract } from './storage-notifications.ts';
import { receiveContract } from './storage-receive.ts';
import { scheduleContract } from './storage-schedule.ts';
import { semaphoresContract } from './storage-semaphores.ts';
import { settingsContract } from './storage-settings.ts';
import { usageContract } from './storage-usage.ts';

/** Where one test keeps its data. */
export interface StorageHarness {
  /** Opens the data; again after the storage was closed. */
  open(): Promise<Storage>;
  /** Starts another replica on the same data, which says `running <job>` and never ends a run. */
  startReplica(): Promise<Replica>;
  dispose(): Promise<void>;
}

/** What the parts of the contract are given. */
export interface StorageUnderTest {
  /** The one that is open now. */
  readonly storage: Storage;
  startReplica(): Promise<Replica>;
  /** Closes it and opens the same data again. */
  reopen(): Promise<void>;
  /** Opens the same data again once it was closed. */
  open(): Promise<void>;
}

export function storageContract(name: string, makeHarness: () => Promise<StorageHarness>): void {
  describe(`${name} keeps the storage contract`, () => {
    let harness: StorageHarness;
    let storage: Storage;

    beforeEach(async () => {
      harness = await makeHarness();
      storage = await harness.open();
    });
    afterEach(async () => {
      await storage.close();
      await harness.dispose();
    });

    async function reopen(): Promise<void> {
      await storage.close();
      storage = await harness.open();
    }

    const current: StorageUnderTest = {
      get storage() {
        return storage;
      },
      startReplica: () => harness.startReplica(),
      reopen,
      open: async () => {
        storage = await harness.open();
      },
    };
    describe('accepting', () => acceptContract(current));
    describe('job records', () => jobRecordContract(current));
    describe('queries', () => jobQueryContract(current));
    describe('the inbox', () => inboxContract(current));
    describe('receiving', () => receiveContract(current));
    describe('the schedule', () => scheduleContract(current));
    describe('notifications', () => notificationsContract(current));

    describe('leases', () => leasesContract(current));
    describe('semaphores', () => semaphoresContract(current));
    describe('usage', () => usageContract(current));
    describe('settings of many', () => settingsContract(current));

    describe('settings', () => {
      test('are kept, also after a restart, and can be deleted', async () => {
        const value = {
          song: 'V5',
          prompt: ': kurz 🎵 "\\n',
          ':': [':base64:', ''],
          limits: { day: 3, nobody: null },
        };
        await storage.settings.set('discord:channel', value);
        await storage.settings.set('discord:other', false);
        await reopen();
        expect(await storage.settings.get('discord:channel')).toEqual(value);
        expect(await storage.settings.get('discord:other')).toBe(false);
        await storage.settings.delete('discord:channel');
        expect(await storage.settings.get('discord:channel')).toBeUndefined();
        expect(await storage.settings.get('discord:other')).toBe(false);
      });

      test('what was never set, or deleted twice, is undefined', async () => {
        await storage.settings.delete('nothing');
        expect(await storage.settings.get('nothing')).toBeUndefined();
      });
    });

    describe('secrets', () => {
      test('the first caller decides, for all and for ever', async () => {
        let made = 0;
        const make = () => {
          made += 1;
          return `secret ${made}`;
        };
        const secrets = await Promise.all(
          Array.from({ length: 10 }, () => storage.secret('callbacks', make)),
        );
        expect(new Set(secrets).size).toBe(1);
        await reopen();
        expect(await storage.secret('callbacks', () => 'another')).toBe(secrets[0]);
        expect(await storage.secret('files', () => 'of its own')).toBe('of its own');
      });

      test('can all be read, by their names', async () => {
        expect(await storage.secrets()).toEqual([]);
        await storage.secret('callbacks', () => 'one');
        await storage.secret('of [files]: *', () => 'two');
        const secrets = [...(await storage.secrets())].sort();
        expect(secrets).toEqual([
          ['callbacks', 'one'],
          ['of [files]: *', 'two'],
        ]);
      });
    });

    describe('its health', () => {
      test('check resolves while it works', async () => {
        await expect(storage.check()).resolves.toBeUndefined();
      });

      test('after close everything says so with a StorageError', async () => {
        const closed = storage;
        await reopen();
        const unavailable = expect.objectContaining({ name: 'StorageError', code: 'unavailable' });
        await expect(closed.jobs.read('a')).rejects.toEqual(unavailable);
        await expect(closed.jobs.create(songJob({ id: 'a' }))).rejects.toEqual(unavailable);
        await expect(closed.inbox.read('a', 0)).rejects.toEqual(unavailable);
        await expect(closed.schedule.wake('a')).rejects.toEqual(unavailable);
        await expect(closed.settings.set('a', 1)).rejects.toEqual(unavailable);
        await expect(closed.check()).rejects.toEqual(unavailable);
      });

      test('closing twice is harmless', async () => {
        await storage.close();
        await storage.close();
      });
    });
  });
}
