/** The services and the run that functions of contests share. */
import type { Contest } from '../../core/contest.ts';
import type { Address } from '../../core/invocation.ts';
import type { Job } from '../../core/job.ts';
import type { System } from '../../core/system.ts';
import type { Jobs } from '../../jobs/jobs.ts';
import type { Media } from '../../media/media.ts';
import type { Platform } from '../../platforms/platform.ts';
import type { ContestStore } from '../../settings/contests/contests.ts';
import type { ScheduleStore } from '../../settings/schedules/schedules.ts';
import type { Storage } from '../../storage/storage.ts';
import type { TimerStorage } from '../timers.ts';

export interface ContestParts extends Pick<System, 'now' | 'newId' | 'log'> {
  readonly store: ContestStore;
  readonly schedules: Pick<ScheduleStore, 'keyOf' | 'read'>;
  readonly storage: Pick<TimerStorage, 'schedule'> & { readonly jobs: Pick<Storage['jobs'], 'read'> };
  readonly jobs: Pick<Jobs, 'start' | 'file' | 'unhide'>;
  readonly media: Pick<Media, 'tag'>;
  readonly platform: (
    name: string,
  ) => Pick<Platform, 'show' | 'sendPrivately' | 'sameChannel' | 'polls' | 'voice'> | undefined;
  readonly pageUrl: (song: Job) => Promise<string | undefined>;
  /** The URL of an album; undefined if people could not open it. */
  readonly albumUrl: (address: Address, id: string) => string | undefined;
  /** The IANA name of the zone for servers that have not chosen one. */
  readonly timeZone: string;
}

/** A run of the contest of one record. */
export interface ContestRun extends ContestParts {
  readonly key: string;
  readonly contest: Contest;
  /** An interrupted run may have posted more than the record has. */
  readonly mayHavePosted: boolean;
}

/** The zone of times in texts. */
export async function zoneAt(
  address: Address,
  { schedules, timeZone }: Pick<ContestParts, 'schedules' | 'timeZone'>,
): Promise<string> {
  return (await schedules.read(schedules.keyOf(address))).timeZone ?? timeZone;
}
