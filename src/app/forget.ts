/** Erases everything stored about a person on one platform. */
import type { Forgotten } from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import { type ForgetDependencies, forgetPerson } from '../jobs/forget.ts';
import { createPartyStore } from '../party/store.ts';
import { type ContestStore, createContestStore } from '../settings/contests/contests.ts';
import { createDecisionStore, type DecisionStore } from '../settings/decisions.ts';
import { createFeedback } from '../settings/feedback.ts';
import { createScheduleStore, type ScheduleStore } from '../settings/schedules/schedules.ts';
import { createVoices, type Voices } from '../settings/voices.ts';
import type { Storage } from '../storage/storage.ts';
import type { Config } from './config/read.ts';
import { openExistingStorage, openMediaStore, unmeasured } from './services.ts';

interface Owner {
  readonly platform: string;
  readonly person: string;
}

export interface ForgetTools extends Pick<ForgetDependencies, 'removeFile' | 'measure' | 'log'> {
  readonly storage: Storage;
  readonly voices: Voices;
  readonly decisions: DecisionStore;
  readonly schedules: Pick<ScheduleStore, 'forget'>;
  readonly contests: Pick<ContestStore, 'forget'>;
  /** Removes the person's songs from parties. */
  readonly forgetParties: (owner: Owner) => Promise<void>;
}

/** Throws UserError while the person has running jobs. Other errors are thrown after everything else is erased. */
export async function forget(owner: Owner, tools: ForgetTools): Promise<Forgotten> {
  const { storage, voices, decisions, schedules, contests, forgetParties } = tools;
  const erased = await forgetPerson(owner, tools);
  const erasures = await Promise.allSettled([
    voices.forget(owner.platform, owner.person),
    schedules.forget(owner.platform, owner.person),
    contests.forget(owner.platform, owner.person),
    storage.usage.forget(owner.platform, owner.person),
    decisions.forget(owner.platform, owner.person),
    createFeedback(storage).forget(owner.platform, owner.person),
    forgetParties(owner),
  ]);
  await storage.scrub();
  const failure = erasures.find((erasure) => erasure.status === 'rejected');
  if (failure) throw failure.reason;
  return erased;
}

/** As {@link forget}, for operators and without a running bot. Throws UserError if the person has open jobs, and StorageError. */
export async function forgetByOperator(
  owner: Owner,
  config: Pick<Config, 'storage' | 'media'>,
  tools: System,
): Promise<Forgotten> {
  const storage = await openExistingStorage(config, tools);
  try {
    const store = await openMediaStore(config.media, tools);
    const { settings } = storage;
    const decisions = createDecisionStore({ store: settings, now: tools.now, newId: tools.newId });
    const removeFile = (name: string) => store.remove(name);
    return await forget(owner, {
      storage,
      voices: createVoices({ settings }),
      schedules: createScheduleStore({ settings }),
      contests: createContestStore({ settings }),
      decisions,
      removeFile,
      measure: unmeasured,
      log: tools.log,
      forgetParties: ({ platform, person }) =>
        createPartyStore({ settings, platform, now: tools.now }).forget(person),
    });
  } finally {
    await storage.close();
  }
}
