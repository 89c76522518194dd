/** Everything that is stored about a person on one platform, erased. */
import type { Forgotten } from '../core/moderation.ts';
import type { System } from '../core/system.ts';
import { type ForgetDependencies, forgetPerson } from '../jobs/forget.ts';
import { createPartyStore } from '../party/store.ts';
import { createDecisionStore, type DecisionStore } from '../settings/decisions.ts';
import { createFeedback } from '../settings/feedback.ts';
import { createVoices, type Voices } from '../settings/voices.ts';
import type { Storage } from '../storage/storage.ts';
import type { Config } from './config/read.ts';
import { openExistingStorage, openMediaStore } from './services.ts';

interface Whose {
  readonly platform: string;
  readonly person: string;
}

export interface ForgetTools extends Pick<ForgetDependencies, 'removeFile'> {
  readonly storage: Storage;
  readonly voices: Voices;
  readonly decisions: DecisionStore;
  /** Takes the person out of what voice channels play. */
  readonly forgetParties: (who: Whose) => Promise<void>;
}

/** Throws UserError while something of theirs runs, and what could not be erased once everything else is. */
export async function forget(
  who: Whose,
  { storage, voices, decisions, removeFile, forgetParties }: ForgetTools,
): Promise<Forgotten> {
  const erased = await forgetPerson(who, { storage, removeFile });
  const erasures = await Promise.allSettled([
    voices.forget(who.platform, who.person),
    storage.usage.forget(who.platform, who.person),
    decisions.forget(who.platform, who.person),
    createFeedback(storage).forget(who.platform, who.person),
    forgetParties(who),
  ]);
  await storage.scrub();
  const failure = erasures.find((erasure) => erasure.status === 'rejected');
  if (failure) throw failure.reason;
  return erased;
}

/** The same for an operator, without a bot. Throws UserError while something of theirs is open, and StorageError. */
export async function forgetByOperator(
  who: Whose,
  config: Pick<Config, 'storage' | 'media'>,
  tools: System,
): Promise<Forgotten> {
  const storage = await openExistingStorage(config, tools);
  try {
    const store = await openMediaStore(config.media, tools);
    const { settings } = storage;
    const decisions = createDecisionStore({ store: settings, now: tools.now, newId: tools.newId });
    const removeFile = (name: string) => store.remove(name);
    return await forget(who, {
      storage,
      voices: createVoices({ settings }),
      decisions,
      removeFile,
      forgetParties: ({ platform, person }) =>
        createPartyStore({ settings, platform, now: tools.now }).forget(person),
    });
  } finally {
    await storage.close();
  }
}
