/** Saved voices of a server, or of the conversation in direct messages, with the person who saved each. */
import { z } from 'zod';
import type { Address } from '../core/invocation.ts';
import { type RemovedVoice, removedVoiceSchema, type Voice, voiceSchema } from '../core/music/voice.ts';
import { present } from '../core/util/present.ts';
import type { SettingsStore } from '../storage/storage.ts';
import { createRecords, keyOfParts, keyOfScope, recordParser } from './records.ts';

const voicesSchema = z.object({
  version: z.literal(1),
  voices: z.array(voiceSchema),
  /** Removed voices, which the gateway still stores. Each audio can create only one voice. */
  removed: z.array(removedVoiceSchema).default([]),
});

const parse = recordParser(voicesSchema, voicesSchema.parse({ version: 1, voices: [] }));

type Conversation = Pick<Address, 'platform' | 'guild' | 'channel' | 'direct'>;

export interface Voices {
  /** Returns the voices sorted by name. */
  list(where: Conversation): Promise<readonly Voice[]>;
  /** Saves a voice, unless its persona is saved already. Adds a number to a taken name. */
  save(where: Conversation, voice: Voice): Promise<void>;
  /** Removes a voice, which can be saved again. Resolves to false if it was not saved. */
  remove(where: Conversation, personaId: string): Promise<boolean>;
  /** Returns the removed voices with the audio that each was created from. */
  removed(where: Conversation): Promise<readonly RemovedVoice[]>;
  /** Removes all voices that a person saved on one platform, and the titles of their songs from other voices. */
  forget(platform: string, person: string): Promise<void>;
}

/** Every method throws StorageError, or SettingsError for voices of a newer version. */
export function createVoices({ settings }: { readonly settings: SettingsStore }): Voices {
  const records = createRecords(settings, parse);
  return {
    list: async (where) =>
      (await records.read(keyOf(where))).voices.toSorted((one, other) => one.name.localeCompare(other.name)),

    removed: async (where) => (await records.read(keyOf(where))).removed,

    save: (where, voice) =>
      records.change(keyOf(where), (stored) => {
        const { voices, removed } = stored;
        if (voices.some(({ personaId }) => personaId === voice.personaId)) return stored;
        return {
          ...stored,
          voices: [...voices, { ...voice, name: freeName(voice.name, voices) }],
          removed: removed.filter(({ personaId }) => personaId !== voice.personaId),
        };
      }),

    async remove(where, personaId) {
      let found: Voice | undefined;
      await records.change(keyOf(where), (stored) => {
        const { voices, removed } = stored;
        found = voices.find((voice) => voice.personaId === personaId);
        if (!found) return stored;
        const { audioId } = found;
        return {
          ...stored,
          voices: voices.filter((voice) => voice !== found),
          removed: audioId === undefined ? removed : [...removed, { personaId, audioId }],
        };
      });
      return found !== undefined;
    },

    forget: (platform, person) =>
      records.changeAll(`${keyOfParts('voices', platform)}:`, (stored) => {
        const { voices } = stored;
        if (!voices.some(({ savedBy, songBy }) => [savedBy.id, songBy].includes(person))) return stored;
        const kept = voices.filter(({ savedBy }) => savedBy.id !== person);
        return {
          ...stored,
          voices: kept.map((voice) => (voice.songBy === person ? withoutTitle(voice) : voice)),
        };
      }),
  };
}

function withoutTitle({ savedFrom, songBy: _, description, ...voice }: Voice): Voice {
  // The description may repeat the title, as the default one does.
  const cleaned = savedFrom === undefined ? description : description?.replaceAll(savedFrom, 'a song');
  return { ...voice, ...present({ description: cleaned }) };
}

const keyOf = (where: Conversation): string => keyOfScope('voices', where);

function freeName(name: string, taken: readonly Voice[]): string {
  const names = new Set(taken.map((voice) => voice.name.toLowerCase()));
  let free = name;
  for (let number = 2; names.has(free.toLowerCase()); number += 1) free = `${name} ${number}`;
  return free;
}
