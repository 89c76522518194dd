import { expect, test } from 'vitest';
import { forget } from '../../src/app/forget.ts';
import { unmeasured } from '../../src/app/services.ts';
import { createContestStore } from '../../src/settings/contests/contests.ts';
import { createDecisionStore } from '../../src/settings/decisions.ts';
import { createFeedback } from '../../src/settings/feedback.ts';
import { SettingsError } from '../../src/settings/records.ts';
import { createScheduleStore } from '../../src/settings/schedules/schedules.ts';
import { createVoices } from '../../src/settings/voices.ts';
import { memoryStorage } from '../settings/memory-storage.ts';
import { RecordingLog } from '../storage/recording-log.ts';

const server = (guild: string) => ({ platform: 'discord', guild, channel: 'music' });
const ada = { platform: 'discord', person: 'ada' };

test('erases everything except records of a newer version, and reports those', async () => {
  const { storage, clock } = await memoryStorage();
  const voices = createVoices(storage);
  const feedback = createFeedback(storage);
  const decisions = createDecisionStore({ store: storage.settings, now: clock.now, newId: () => 'id' });
  const newer = { version: 2, voices: 'otherwise' };
  await storage.settings.set('voices:discord:server:a', newer);
  await voices.save(server('b'), {
    personaId: 'p1',
    name: 'Rainy',
    savedBy: { id: 'ada', displayName: 'Ada' },
    savedAt: 1,
  });
  const day = '2026-11-20';
  await feedback.vote(server('b'), { job: 'j', model: 'seer', day, person: 'ada', judgement: 'good' });
  let leftParties = false;
  const forgotten = forget(ada, {
    storage,
    voices,
    schedules: createScheduleStore(storage),
    contests: createContestStore(storage),
    decisions,
    removeFile: async () => {},
    measure: unmeasured,
    log: new RecordingLog(),
    forgetParties: async () => {
      leftParties = true;
    },
  });
  await expect(forgotten).rejects.toThrow(SettingsError);
  expect(await voices.list(server('b'))).toEqual([]);
  expect(await feedback.summary(server('b'), day, 1)).toEqual([]);
  expect(leftParties).toBe(true);
  expect(await storage.settings.get('voices:discord:server:a')).toEqual(newer);
  await storage.close();
});
