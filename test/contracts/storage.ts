/** The contract of every storage, run by test/storage/*.test.ts. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Storage } from '../../src/storage/storage.ts';
import { songJob } from '../storage/jobs.ts';
import type { RecordingLog } from '../storage/recording-log.ts';
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

/** The data of one test. */
export interface StorageHarness {
  /** Opens the data, even if the storage was closed before. */
  open(): Promise<Storage>;
  /** Starts another replica on the same data, which prints `running <job>` and never finishes a run. */
  startReplica(): Promise<Replica>;
  /** Replaces the stored text of a setting. */
  damageSetting(key: string, text: string): Promise<void>;
  /** The log of all storages that this harness opened. */
  readonly log: RecordingLog;
  dispose(): Promise<void>;
}

/** The storage for the parts of the contract. */
export interface StorageUnderTest {
  /** The currently open storage. */
  readonly storage: Storage;
  startReplica(): Promise<Replica>;
  damageSetting(key: string, text: string): Promise<void>;
  readonly log: RecordingLog;
  /** Closes the storage and opens the same data again. */
  reopen(): Promise<void>;
  /** Opens the same data again after it was closed. */
  open(): Promise<void>;
}

export function storageContract(name: string, makeHarness: () => Promise<StorageHarness>): void {
  describe(`${name} fulfils the storage contract`, () => {
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
      damageSetting: (key, text) => harness.damageSetting(key, text),
      get log() {
        return harness.log;
      },
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
    describe('concurrent settings', () => settingsContract(current));

    describe('settings', () => {
      test('are stored, even after a restart, and can be deleted', async () => {
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

      test('are undefined if never set or deleted', async () => {
        await storage.settings.delete('nothing');
        expect(await storage.settings.get('nothing')).toBeUndefined();
      });
    });

    describe('secrets', () => {
      test('are created by the first caller and never change', async () => {
        let created = 0;
        const make = () => {
          created += 1;
          return `secret ${created}`;
        };
        const secrets = await Promise.all(
          Array.from({ length: 10 }, () => storage.secret('callbacks', make)),
        );
        expect(new Set(secrets).size).toBe(1);
        await reopen();
        expect(await storage.secret('callbacks', () => 'another')).toBe(secrets[0]);
        expect(await storage.secret('files', () => 'its own secret')).toBe('its own secret');
      });

      test('can be listed by name', async () => {
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

    describe('health', () => {
      test('check resolves while it works', async () => {
        await expect(storage.check()).resolves.toBeUndefined();
      });

      test('every call rejects with a StorageError after close', async () => {
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
