/** What is kept for a place. One schema with versions: what an older version wrote is brought forward when it is read. */
import { z } from 'zod';
import { FAMILIES, LIMIT_PERIODS } from '../moderation.ts';

/** A role or a person list longer than this is a role that is missing. */
export const MOST_SUBJECTS = 100;
export const MOST_LIMITS = 100;

const actor = z.object({ id: z.string(), displayName: z.string() });
const subject = z.object({
  type: z.enum(['role', 'person']),
  id: z.string(),
  name: z.string().optional(),
});
const subjects = z.array(subject).default([]);

const chosenModel = z.object({
  id: z.string(),
  by: actor,
  at: z.number(),
  /** When moderators were told that the account no longer has it. */
  toldGoneAt: z.number().optional(),
});

const accessRule = z.object({ everyone: z.boolean().default(false), roles: subjects, people: subjects });

const limit = z.object({
  scope: z.enum(['person', 'channel', 'server']),
  who: subject.optional(),
  family: z.enum(FAMILIES).optional(),
  per: z.enum(LIMIT_PERIODS),
  of: z.enum(['requests', 'units']),
  most: z.number().min(0),
});

const change = z.object({
  id: z.string(),
  at: z.number(),
  by: actor,
  what: z.string(),
  from: z.string(),
  to: z.string(),
});

const placeSchema = z.object({
  version: z.number(),
  models: z.partialRecord(z.enum(FAMILIES), chosenModel).default({}),
  systemPrompt: z.string().optional(),
  assistant: z.boolean().optional(),
  footer: z.boolean().optional(),
  limits: z.array(limit).default([]),
  exemptModerators: z.boolean().optional(),
  access: z.record(z.string(), accessRule).default({}),
  blocked: subjects,
  moderators: subjects,
  /** A server's: the channels that have settings of their own. */
  channels: z.array(z.string()).default([]),
  /** Newest last. */
  changes: z.array(change).default([]),
});

/** The settings of a server or of a channel. */
export type PlaceSettings = z.infer<typeof placeSchema>;
export type KeptLimit = PlaceSettings['limits'][number];

/** What a version wrote, as the next one has it. */
export type SettingsMigration = (older: Record<string, unknown>) => Record<string, unknown>;

/** The first makes version 2 of version 1, and so on. Written once, never changed: every version is out there. */
export const SETTINGS_MIGRATIONS: readonly SettingsMigration[] = [];

/** What is stored cannot be used by this version. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

const versioned = z.looseObject({ version: z.number().int().min(1) });

/** The settings as this version knows them; empty ones where nothing is stored. Throws SettingsError. */
export function readSettings(
  key: string,
  stored: unknown,
  migrations: readonly SettingsMigration[] = SETTINGS_MIGRATIONS,
): PlaceSettings {
  const newest = migrations.length + 1;
  if (stored === undefined || stored === null) return placeSchema.parse({ version: newest });
  const found = versioned.safeParse(stored);
  if (!found.success) throw new SettingsError(`The settings ${key} are no settings`, { cause: found.error });
  const { version } = found.data;
  if (version > newest) {
    throw new SettingsError(
      `The settings ${key} have version ${version}; this Minstrel knows versions up to ${newest}`,
    );
  }
  const record = migrations
    .slice(version - 1)
    .reduce<Record<string, unknown>>((older, migrate) => migrate(older), found.data);
  const parsed = placeSchema.safeParse({ ...record, version: newest });
  if (!parsed.success) throw new SettingsError(`The settings ${key} cannot be read`, { cause: parsed.error });
  return parsed.data;
}
