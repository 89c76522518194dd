/**
 * What was acknowledged before it could be stored as a job: an attachment that takes long to fetch, a storage that is
 * slow. A notice stands for it until the job does, so that a process that dies in between leaves somebody to tell.
 */
import { z } from 'zod';
import { addressSchema, type Invocation, type Log } from '../command.ts';
import { type Platform, PlatformError } from '../platforms/platform.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { FORGOTTEN_SENTENCE } from './sentences.ts';

const KEY = 'promises';
/** Longer than anything between an acknowledgement and its job: an attachment has 10 minutes in all. */
const FORGOTTEN_AFTER_MS = 12 * 60_000;
const LOOK_EVERY_MS = 60_000;

const noticesSchema = z.record(
  z.string(),
  z.object({ address: addressSchema, command: z.string(), madeAt: z.number(), process: z.string() }),
);
type Notices = z.infer<typeof noticesSchema>;

export interface Promises {
  /** Durable when it resolves. Throws StorageError. */
  make(invocation: Invocation): Promise<void>;
  /** The outcome is there: nothing is owed any more. Throws StorageError. */
  takeBack(invocation: Invocation): Promise<void>;
  /** Tells, now and every minute until the signal, those whose process died. Never rejects. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface PromiseOptions {
  readonly settings: Pick<SettingsStore, 'get' | 'update'>;
  readonly platform: (name: string) => Platform | undefined;
  /** Whether this process alone uses the storage: then what another process promised was forgotten with it. */
  readonly alone: boolean;
  readonly now: () => number;
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** A new id of letters and digits, at most 25 characters. */
  readonly newId: () => string;
  readonly log: Log;
}

export function createPromises(options: PromiseOptions): Promises {
  const { settings, platform, alone, now, sleep, newId, log } = options;
  const self = newId();
  const keyOf = ({ id, address }: Invocation): string => `${address.platform}:${id}`;
  const isForgotten = ({ madeAt, process }: Notices[string]): boolean =>
    process !== self && (alone || now() - madeAt >= FORGOTTEN_AFTER_MS);

  async function remove(key: string): Promise<void> {
    await settings.update(KEY, (value) => {
      const notices = read(value);
      if (!Object.hasOwn(notices, key)) return value;
      const { [key]: _kept, ...rest } = notices;
      return rest;
    });
  }

  async function tellForgotten(): Promise<void> {
    for (const [key, notice] of Object.entries(read(await settings.get(KEY)))) {
      if (!isForgotten(notice)) continue;
      const owner = platform(notice.address.platform);
      if (!owner) continue;
      const message = { title: `/${notice.command}`, text: FORGOTTEN_SENTENCE };
      try {
        await owner.show(notice.address, message, { key: shortKey(key), remember: async () => undefined });
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        if (error.code === 'unavailable') continue;
        await owner.whisper(notice.address, message).catch((cause: unknown) => {
          log.warn({ err: cause }, 'Nobody could be told that a request was forgotten');
        });
      }
      await remove(key);
    }
  }

  return {
    async make(invocation) {
      const notice = {
        address: invocation.address,
        command: invocation.command,
        madeAt: now(),
        process: self,
      };
      await settings.update(KEY, (value) => ({ ...read(value), [keyOf(invocation)]: notice }));
    },

    takeBack: (invocation) => remove(keyOf(invocation)),

    async watch(signal) {
      while (!signal.aborted) {
        await tellForgotten().catch((error: unknown) => {
          log.warn({ err: error }, 'What was promised could not be looked at; it is looked at again');
        });
        await sleep(LOOK_EVERY_MS, signal);
      }
    },
  };
}

function read(value: unknown): Notices {
  return noticesSchema.safeParse(value).data ?? {};
}

/** A post's key has at most 25 characters; the end of an event's id tells it from others. */
function shortKey(key: string): string {
  return `p${key.replace(/[^\w]/g, '').slice(-24)}`;
}
