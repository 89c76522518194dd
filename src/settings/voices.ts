/** The voices that a server keeps, each with who kept it. In direct messages they belong to the conversation. */
import { z } from 'zod';
import type { Address, Voice } from '../command.ts';
import type { SettingsStore } from '../storage/storage.ts';

/** More than anybody finds their way in; the oldest of so many are still the gateway's, and can be kept again. */
const MOST_VOICES = 500;

const voiceSchema = z.object({
  personaId: z.string(),
  name: z.string(),
  description: z.string().optional(),
  madeFrom: z.string().optional(),
  audioId: z.string().optional(),
  keptBy: z.object({ id: z.string(), displayName: z.string() }),
  keptAt: z.number(),
});
const voicesSchema = z.object({ version: z.literal(1), voices: z.array(voiceSchema) });

type KeptVoices = z.infer<typeof voicesSchema>;
type Place = Pick<Address, 'platform' | 'guild' | 'channel'>;

export interface Voices {
  /** By name. */
  list(where: Place): Promise<readonly Voice[]>;
  /** The same persona again changes nothing. A name that is taken gets a number. */
  keep(where: Place, voice: Voice): Promise<void>;
  /** False when there was none. */
  remove(where: Place, personaId: string): Promise<boolean>;
  /** Lets go of every voice that a person kept, on one platform. */
  forget(platform: string, person: string): Promise<void>;
}

/** Every method throws StorageError, and Error for voices that a newer version wrote. */
export function createVoices({ settings }: { readonly settings: SettingsStore }): Voices {
  return {
    async list(where) {
      const { voices } = read(await settings.get(keyOf(where)));
      return voices.map(voiceOf).toSorted((one, other) => one.name.localeCompare(other.name));
    },

    async keep(where, voice) {
      await settings.update(keyOf(where), (stored) => {
        const { voices } = read(stored);
        if (voices.some(({ personaId }) => personaId === voice.personaId)) return stored;
        const named = { ...voice, name: freeName(voice.name, voices) };
        return { version: 1, voices: [...voices, named].slice(-MOST_VOICES) } satisfies KeptVoices;
      });
    },

    async remove(where, personaId) {
      let removed = false;
      await settings.update(keyOf(where), (stored) => {
        const { voices } = read(stored);
        const left = voices.filter((voice) => voice.personaId !== personaId);
        removed = left.length < voices.length;
        return removed ? ({ version: 1, voices: left } satisfies KeptVoices) : stored;
      });
      return removed;
    },

    async forget(platform, person) {
      const start = `${['voices', platform].map(encodeURIComponent).join(':')}:`;
      for (const [key] of await settings.entries()) {
        if (!key.startsWith(start)) continue;
        await settings.update(key, (stored) => {
          const { voices } = read(stored);
          const left = voices.filter(({ keptBy }) => keptBy.id !== person);
          return left.length < voices.length ? ({ version: 1, voices: left } satisfies KeptVoices) : stored;
        });
      }
    },
  };
}

function keyOf({ platform, guild, channel }: Place): string {
  const place = guild === undefined ? ['conversation', channel] : ['server', guild];
  return ['voices', platform, ...place].map(encodeURIComponent).join(':');
}

function read(stored: unknown): KeptVoices {
  if (stored === undefined || stored === null) return { version: 1, voices: [] };
  const parsed = voicesSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new Error('The kept voices cannot be read by this version', { cause: parsed.error });
}

function voiceOf({ description, madeFrom, audioId, ...voice }: KeptVoices['voices'][number]): Voice {
  return {
    ...voice,
    ...(description === undefined ? {} : { description }),
    ...(madeFrom === undefined ? {} : { madeFrom }),
    ...(audioId === undefined ? {} : { audioId }),
  };
}

function freeName(name: string, taken: readonly { readonly name: string }[]): string {
  const isTaken = (wanted: string) =>
    taken.some((voice) => voice.name.toLowerCase() === wanted.toLowerCase());
  if (!isTaken(name)) return name;
  for (let number = 2; ; number += 1) {
    const numbered = `${name} ${number}`;
    if (!isTaken(numbered)) return numbered;
  }
}
