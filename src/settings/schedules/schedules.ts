/** The scheduled requests of a server, or of a conversation in direct messages. */
import { z } from 'zod';
import { UserError } from '../../core/errors.ts';
import type { Address } from '../../core/invocation.ts';
import { type ScheduledRequest, scheduledRequestSchema } from '../../core/scheduled-request.ts';
import type { SettingsStore } from '../../storage/storage.ts';
import { createRecords, keyOfParts, keyOfScope, recordParser } from '../records.ts';
import { isSingleRun, nextRun } from './when.ts';

const schema = z.object({
  version: z.literal(1),
  /** An IANA name; absent for the bot's own time zone. */
  timeZone: z.string().optional(),
  requests: z.array(scheduledRequestSchema),
});
export type ServerSchedules = z.infer<typeof schema>;

const KIND = 'schedules';
const parse = recordParser(schema, { version: 1, requests: [] });

const MOST_PER_PERSON = 5;
const MOST_PER_SERVER = 25;

export interface ScheduleStore {
  /** The key of the record for an address. */
  keyOf(where: Pick<Address, 'platform' | 'guild' | 'channel' | 'direct'>): string;
  read(key: string): Promise<ServerSchedules>;
  /** Throws UserError when the person or the server has too many. */
  add(key: string, request: ScheduledRequest): Promise<void>;
  setTimeZone(key: string, timeZone: string, now: number): Promise<void>;
  /** Resolves to the changed request; undefined if it no longer exists. */
  setPaused(key: string, id: string, nextAt: number | undefined): Promise<ScheduledRequest | undefined>;
  /** False if it no longer exists. */
  remove(key: string, id: string): Promise<boolean>;
  /** Sets the next run of a request whose run is over, or removes it if it had a single one. `ownZone`: see timeZone. */
  advance(key: string, over: ScheduledRequest, ownZone: string, now: number): Promise<void>;
  /** Removes everything that a person scheduled on a platform. */
  forget(platform: string, person: string): Promise<void>;
}

/** Every method throws StorageError, or SettingsError for records of a newer version. */
export function createScheduleStore({ settings }: { readonly settings: SettingsStore }): ScheduleStore {
  const records = createRecords<ServerSchedules>(settings, parse);
  return {
    keyOf: (where) => keyOfScope(KIND, where),
    read: records.read,

    add: (key, request) =>
      records.change(key, (stored) => {
        const { requests } = stored;
        const own = requests.filter(({ person }) => person.id === request.person.id);
        if (own.length >= MOST_PER_PERSON)
          throw new UserError(
            `You already have ${MOST_PER_PERSON} schedules here. Remove one with /schedule remove.`,
          );
        if (requests.length >= MOST_PER_SERVER)
          throw new UserError(
            `There are already ${MOST_PER_SERVER} schedules here. Ask a moderator to remove one.`,
          );
        return { ...stored, requests: [...requests, request] };
      }),

    setTimeZone: (key, timeZone, now) =>
      records.change(key, (stored) => ({
        ...stored,
        timeZone,
        requests: stored.requests.map((request) =>
          // A single run may have passed in the new zone. Then it keeps its time.
          request.nextAt === undefined
            ? request
            : withNext(request, nextRun(request.pattern, timeZone, now) ?? request.nextAt),
        ),
      })),

    async setPaused(key, id, nextAt) {
      let changed: ScheduledRequest | undefined;
      await records.change(key, (stored) => {
        const request = stored.requests.find((each) => each.id === id);
        changed = request && withNext(request, nextAt);
        if (!changed) return stored;
        return {
          ...stored,
          requests: stored.requests.map((each) => (each === request && changed ? changed : each)),
        };
      });
      return changed;
    },

    async remove(key, id) {
      let isFound = false;
      await records.change(key, (stored) => {
        const requests = stored.requests.filter((request) => request.id !== id);
        isFound = requests.length < stored.requests.length;
        return isFound ? { ...stored, requests } : stored;
      });
      return isFound;
    },

    advance: (key, over, ownZone, now) =>
      records.change(key, (stored) => ({
        ...stored,
        requests: stored.requests.flatMap((request) => {
          if (request.id !== over.id) return [request];
          if (isSingleRun(request.pattern)) return [];
          // Somebody may have paused it, or changed the time zone, during the run.
          if (request.nextAt !== over.nextAt) return [request];
          return [withNext(request, nextRun(request.pattern, stored.timeZone ?? ownZone, now))];
        }),
      })),

    forget: (platform, person) =>
      records.changeAll(`${keyOfParts(KIND, platform)}:`, (stored) => {
        const requests = stored.requests.filter((request) => request.person.id !== person);
        return requests.length === stored.requests.length ? stored : { ...stored, requests };
      }),
  };
}

function withNext({ nextAt: _, ...request }: ScheduledRequest, nextAt: number | undefined): ScheduledRequest {
  return { ...request, ...(nextAt !== undefined && { nextAt }) };
}
