/** The voices that a server keeps, each with the person who kept it. In direct messages the conversation keeps them. */
import { z } from 'zod';
import type { RemovedVoice, Voice } from '../core/bot/context.ts';
import { type Address, serverOf } from '../core/invocation.ts';
import type { SettingsStore } from '../storage/storage.ts';

const voiceSchema = z.object({
  personaId: z.string(),
  name: z.string(),
  description: z.string().exactOptional(),
  madeFrom: z.string().exactOptional(),
  audioId: z.string().exactOptional(),
  keptBy: z.object({ id: z.string(), displayName: z.string() }),
  keptAt: z.number(),
});
const voicesSchema = z.object({
  version: z.literal(1),
  voices: z.array(voiceSchema),
  /** Each audio gives one voice: what was removed here the gateway still has. */
  removed: z.array(z.object({ personaId: z.string(), audioId: z.string() })).default([]),
});
type KeptVoices = z.infer<typeof voicesSchema>;

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

/** Every method throws StorageError, and Error for voices that a newer version wrote. */
export function createVoices({ settings }: { readonly settings: SettingsStore }): Voices {
  return {
    list: async (where) =>
      read(await settings.get(keyOf(where))).voices.toSorted((one, other) =>
        one.name.localeCompare(other.name),
      ),

    removed: async (where) => read(await settings.get(keyOf(where))).removed,

    async keep(where, voice) {
      await settings.update(keyOf(where), (stored): unknown => {
        const { voices, removed, version } = read(stored);
        if (voices.some(({ personaId }) => personaId === voice.personaId)) return stored;
        return {
          version,
          voices: [...voices, { ...voice, name: freeName(voice.name, voices) }],
          removed: removed.filter(({ personaId }) => personaId !== voice.personaId),
        } satisfies KeptVoices;
      });
    },

    async remove(where, personaId) {
      let found: Voice | undefined;
      await settings.update(keyOf(where), (stored): unknown => {
        const { voices, removed, version } = read(stored);
        found = voices.find((voice) => voice.personaId === personaId);
        if (!found) return stored;
        const { audioId } = found;
        return {
          version,
          voices: voices.filter((voice) => voice !== found),
          removed: audioId === undefined ? removed : [...removed, { personaId, audioId }],
        } satisfies KeptVoices;
      });
      return found !== undefined;
    },

    async forget(platform, person) {
      const start = `${['voices', platform].map(encodeURIComponent).join(':')}:`;
      for await (const key of settings.keys()) {
        if (!key.startsWith(start)) continue;
        await settings.update(key, (stored): unknown => {
          const { voices, ...rest } = read(stored);
          const left = voices.filter(({ keptBy }) => keptBy.id !== person);
          return left.length === voices.length ? stored : ({ ...rest, voices: left } satisfies KeptVoices);
        });
      }
    },
  };
}

function keyOf(where: Conversation): string {
  const server = serverOf(where);
  const keeper = server === undefined ? ['conversation', where.channel] : ['server', server];
  return ['voices', where.platform, ...keeper].map(encodeURIComponent).join(':');
}

function read(stored: unknown): KeptVoices {
  if (stored === undefined || stored === null) return { version: 1, voices: [], removed: [] };
  const parsed = voicesSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new Error('The kept voices cannot be read by this version', { cause: parsed.error });
}

function freeName(name: string, taken: readonly Voice[]): string {
  const names = new Set(taken.map((voice) => voice.name.toLowerCase()));
  let free = name;
  for (let number = 2; names.has(free.toLowerCase()); number += 1) free = `${name} ${number}`;
  return free;
}
