/**
 * What was acknowledged before it could be stored as a job: an attachment that takes long to fetch, a storage that is
 * slow. It is recorded until the job is stored, so that the person is told when the process dies in between. What a platform
 * could say nothing about is recorded too.
 */
import { z } from 'zod';
import type { PendingInvocation, PendingInvocations } from '../core/bot/bot.ts';
import { addressSchema } from '../core/invocation.ts';
import type { System } from '../core/system.ts';
import { type Platform, PlatformError } from '../platforms/platform.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { FORGOTTEN_SENTENCE } from './sentences.ts';

/** Each request has a key of its own, so that requests which come together do not wait for each other. */
const PREFIX = 'pending:';
/** Where an older version kept all of them in one value. */
const FORMER_KEY = 'promises';
/** Of what no process renews: some renewals may fail, and clocks of replicas differ. */
const FORGOTTEN_AFTER_MS = 12 * 60_000;
/** Often enough to tell people while an interaction of Discord is valid (15 minutes), and rare: each time lists all settings. */
const CHECK_EVERY_MS = 2 * 60_000;
/** Work before a job has no bound: a chat that is away or limits us is waited for. */
const RENEW_EVERY_MS = 2 * 60_000;
const TRY_AGAIN_AFTER_MS = 60_000;

const entrySchema = z.object({
  address: addressSchema,
  command: z.string(),
  madeAt: z.number(),
  process: z.string(),
  /** The process that tells the person, since `madeAt`: no other does. */
  teller: z.string().optional(),
});
type Entry = z.infer<typeof entrySchema>;
const formerSchema = z.record(z.string(), entrySchema);

export interface PendingAcknowledgements extends PendingInvocations {
  /** Tells, now and every few minutes until the signal, those whose process died or could not reach them. Never rejects. */
  watch(signal: AbortSignal): Promise<void>;
}

export interface PendingAcknowledgementOptions extends Pick<System, 'now' | 'newId' | 'sleep' | 'log'> {
  readonly settings: Pick<SettingsStore, 'set' | 'delete' | 'update' | 'entries'>;
  readonly platform: (name: string) => Platform | undefined;
  /** The job that a platform's event made. Rejects with StorageError. */
  readonly jobOf: (platform: string, event: string) => Promise<object | undefined>;
  /** Whether this process alone uses the storage. Then all entries of an earlier process belong to a process that died. */
  readonly alone: boolean;
}

export function createPendingAcknowledgements(
  options: PendingAcknowledgementOptions,
): PendingAcknowledgements {
  const { settings, platform, jobOf, alone, now, sleep, newId, log } = options;
  const self = newId();
  /** Keys that may still be stored although their request came to an end. */
  const leftover = new Set<string>();
  /** Keys of what is still worked on here. */
  const working = new Set<string>();
  const keyOf = ({ id, address }: PendingInvocation): string => `${PREFIX}${address.platform}:${id}`;
  const isForgotten = (key: string, { madeAt, process, teller }: Entry): boolean =>
    teller === self ||
    (!working.has(key) && ((alone && process !== self) || now() - madeAt >= FORGOTTEN_AFTER_MS));
  const store = (asking: PendingInvocation): Promise<void> => {
    const { address, command } = asking;
    const entry = { address, command, madeAt: now(), process: self } satisfies Entry;
    return settings.set(keyOf(asking), entry);
  };

  async function remove(key: string): Promise<void> {
    working.delete(key);
    leftover.add(key);
    await settings.delete(key);
    leftover.delete(key);
  }

  /** The process may die after it stored the job and before it removed the entry. The job tells its person itself. */
  async function wasStored(key: string, { address }: Entry): Promise<boolean> {
    const event = key.slice(`${PREFIX}${address.platform}:`.length);
    return (await jobOf(address.platform, event)) !== undefined;
  }

  /** True when this process is the one that tells. */
  async function claim(key: string): Promise<boolean> {
    const claimed = await settings.update(key, (value) => {
      const entry = read(value);
      if (entry === undefined || entry.teller === self || !isForgotten(key, entry)) return value;
      return { ...entry, madeAt: now(), teller: self };
    });
    return read(claimed)?.teller === self;
  }

  /** False when the person is to be told later. */
  async function tell(key: string, { address, command }: Entry): Promise<boolean> {
    const owner = platform(address.platform);
    if (!owner) return true;
    const message = { title: `/${command}`, text: FORGOTTEN_SENTENCE };
    try {
      // An earlier try may have died before it removed the entry.
      const options = { key: shortKey(key), mayHavePosted: true, remember: async () => undefined };
      await owner.show(address, message, options);
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      if (error.code === 'unavailable') return false;
      await owner.sendPrivately(address, message).catch((cause: unknown) => {
        log.warn({ err: cause }, 'A person could not be told that a request was forgotten');
      });
    }
    await remove(key);
    return true;
  }

  /** Gives what an older version stored keys of their own. */
  async function split(former: unknown): Promise<void> {
    for (const [id, entry] of Object.entries(formerSchema.safeParse(former).data ?? {}))
      await settings.update(`${PREFIX}${id}`, (value) => value ?? entry);
    await settings.delete(FORMER_KEY);
  }

  /** False when something is left to be told soon. */
  async function tellForgotten(): Promise<boolean> {
    for (const key of leftover) await remove(key);
    const entries = await settings.entries();
    const former = entries.find(([key]) => key === FORMER_KEY);
    if (former) {
      await split(former[1]);
      return await tellForgotten();
    }
    let done = true;
    for (const [key, value] of entries) {
      const entry = key.startsWith(PREFIX) ? read(value) : undefined;
      if (entry === undefined || !isForgotten(key, entry)) continue;
      if (await wasStored(key, entry)) await remove(key);
      else if (await claim(key)) done = (await tell(key, entry)) && done;
    }
    return done;
  }

  async function tellRegularly(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const done = await tellForgotten().catch((error: unknown) => {
        log.warn({ err: error }, 'Pending acknowledgements could not be read; trying again');
        return false;
      });
      await sleep(done ? CHECK_EVERY_MS : TRY_AGAIN_AFTER_MS, signal);
    }
  }

  /** So that other replicas do not take what is worked on here for forgotten. */
  async function renewRegularly(signal: AbortSignal): Promise<void> {
    do {
      for (const key of working) {
        await settings
          .update(key, (value) => {
            const entry = read(value);
            return entry?.process === self && entry.teller === undefined
              ? { ...entry, madeAt: now() }
              : value;
          })
          .catch((error: unknown) => {
            log.warn({ err: error }, 'A pending acknowledgement could not be renewed; trying again');
          });
      }
      await sleep(RENEW_EVERY_MS, signal);
    } while (!signal.aborted);
  }

  return {
    add: (asking) => {
      working.add(keyOf(asking));
      return store(asking);
    },

    remove: (asking) => remove(keyOf(asking)),

    tellLater: (asking) => {
      working.delete(keyOf(asking));
      return store(asking);
    },

    async watch(signal) {
      await Promise.all([tellRegularly(signal), alone ? undefined : renewRegularly(signal)]);
    },
  };
}

function read(value: unknown): Entry | undefined {
  return entrySchema.safeParse(value).data;
}

/** A post's key has at most 25 characters; the end of an event's id tells it from others. */
function shortKey(key: string): string {
  return `p${key.replace(/[^\w]/g, '').slice(-24)}`;
}
