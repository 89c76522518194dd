/** Records of one kind among the settings: read by a schema, changed by compare-and-set. */

import type { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import { type Address, serverOf } from '../core/invocation.ts';
import type { SettingsStore } from '../storage/storage.ts';

/** What is stored cannot be used by this version. */
export class SettingsError extends OperatorError {
  override readonly name = 'SettingsError';
}

export interface Records<Value> {
  /** Throws StorageError, and SettingsError for what a newer version wrote. */
  read(key: string): Promise<Value>;
  /** `change` returns its argument to write nothing, and is called again when another change was first. Throws as {@link read}. */
  change(key: string, change: (value: Value) => Value): Promise<void>;
  /** Changes all records whose keys begin like this. Those that cannot be read stay, and are thrown as SettingsError at the end. */
  changeAll(start: string, change: (value: Value) => Value): Promise<void>;
}

/** `parse` gives the empty record for undefined, and throws SettingsError for what it cannot read. */
export function createRecords<Value>(
  store: SettingsStore,
  parse: (key: string, stored: unknown) => Value,
): Records<Value> {
  async function change(key: string, edit: (value: Value) => Value): Promise<void> {
    await store.update(key, (stored) => {
      const value = parse(key, stored);
      const edited = edit(value);
      return edited === value ? stored : edited;
    });
  }
  return {
    read: async (key) => parse(key, await store.get(key)),
    change,
    async changeAll(start, edit) {
      let unreadable: SettingsError | undefined;
      for await (const key of store.keys(start)) {
        try {
          await change(key, edit);
        } catch (error) {
          if (!(error instanceof SettingsError)) throw error;
          unreadable ??= error;
        }
      }
      if (unreadable) throw unreadable;
    },
  };
}

/** Reads records as the schema has them; where nothing is stored, the `empty` one. */
export function recordParser<Value>(schema: z.ZodType<Value>, empty: Value) {
  return (key: string, stored: unknown): Value => {
    if (stored === undefined || stored === null) return empty;
    const parsed = schema.safeParse(stored);
    if (parsed.success) return parsed.data;
    throw new SettingsError(`This version cannot read the settings ${key}`, { cause: parsed.error });
  };
}

export const keyOfParts = (...parts: readonly string[]): string => parts.map(encodeURIComponent).join(':');

/** What a server keeps of one kind. In direct messages the conversation keeps it. */
export function keyOfKeeper(
  kind: string,
  where: Pick<Address, 'platform' | 'guild' | 'channel' | 'direct'>,
  ...more: readonly string[]
): string {
  const server = serverOf(where);
  const keeper = server === undefined ? ['conversation', where.channel] : ['server', server];
  return keyOfParts(kind, where.platform, ...keeper, ...more);
}
