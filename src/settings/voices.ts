/** The voices that a server keeps, each with the person who kept it. In direct messages the conversation keeps them. */
import { z } from 'zod';
import type { Address } from '../core/invocation.ts';
import { type RemovedVoice, removedVoiceSchema, type Voice, voiceSchema } from '../core/music/voice.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { createRecords, keyOfKeeper, keyOfParts, recordParser } from './records.ts';

const voicesSchema = z.object({
  version: z.literal(1),
  voices: z.array(voiceSchema),
  /** Each audio gives one voice: what was removed here the gateway still has. */
  removed: z.array(removedVoiceSchema).default([]),
});

const parse = recordParser(voicesSchema, voicesSchema.parse({ version: 1, voices: [] }));

type Conversation = Pick<Address, 'platform' | 'guild' | 'channel' | 'direct'>;

export interface Voices {
  /** By name. */
  list(where: Conversation): Promise<readonly Voice[]>;
  /** The same persona again changes nothing. A name that is taken gets a number. */
  keep(where: Conversation, voice: Voice): Promise<void>;
  /** False when there was none. It can be kept again. */
  remove(where: Conversation, personaId: string): Promise<boolean>;
  /** The voices that were removed, by the audio that they were taken from. */
  removed(where: Conversation): Promise<readonly RemovedVoice[]>;
  /** Removes every voice that a person kept, on one platform. */
  forget(platform: string, person: string): Promise<void>;
}

/** Every method throws StorageError, and SettingsError for voices that a newer version wrote. */
export function createVoices({ settings }: { readonly settings: SettingsStore }): Voices {
  const records = createRecords(settings, parse);
  return {
    list: async (where) =>
      (await records.read(keyOf(where))).voices.toSorted((one, other) => one.name.localeCompare(other.name)),

    removed: async (where) => (await records.read(keyOf(where))).removed,

    keep: (where, voice) =>
      records.change(keyOf(where), (kept) => {
        const { voices, removed } = kept;
        if (voices.some(({ personaId }) => personaId === voice.personaId)) return kept;
        return {
          ...kept,
          voices: [...voices, { ...voice, name: freeName(voice.name, voices) }],
          removed: removed.filter(({ personaId }) => personaId !== voice.personaId),
        };
      }),

    async remove(where, personaId) {
      let found: Voice | undefined;
      await records.change(keyOf(where), (kept) => {
        const { voices, removed } = kept;
        found = voices.find((voice) => voice.personaId === personaId);
        if (!found) return kept;
        const { audioId } = found;
        return {
          ...kept,
          voices: voices.filter((voice) => voice !== found),
          removed: audioId === undefined ? removed : [...removed, { personaId, audioId }],
        };
      });
      return found !== undefined;
    },

    forget: (platform, person) =>
      records.changeAll(`${keyOfParts('voices', platform)}:`, (kept) => {
        const voices = kept.voices.filter(({ keptBy }) => keptBy.id !== person);
        return voices.length === kept.voices.length ? kept : { ...kept, voices };
      }),
  };
}

const keyOf = (where: Conversation): string => keyOfKeeper('voices', where);

function freeName(name: string, taken: readonly Voice[]): string {
  const names = new Set(taken.map((voice) => voice.name.toLowerCase()));
  let free = name;
  for (let number = 2; names.has(free.toLowerCase()); number += 1) free = `${name} ${number}`;
  return free;
}
