/** Records in the settings store, parsed with a schema and changed by compare-and-set. */

import type { z } from 'zod';
import { OperatorError } from '../core/errors.ts';
import { type Address, serverOf } from '../core/invocation.ts';
import type { SettingsStore } from '../storage/storage.ts';

/** This version cannot read the stored settings. */
export class SettingsError extends OperatorError {
  override readonly name = 'SettingsError';
}

export interface Records<Value> {
  /** Throws StorageError, or SettingsError for a record of a newer version. */
  read(key: string): Promise<Value>;
  /** Writes the result of `change`, unless it returns its argument. Calls it again if another change was first. Throws like {@link read}. */
  change(key: string, change: (value: Value) => Value): Promise<void>;
  /** Changes all records whose keys begin with `start`. Skips unreadable records and throws SettingsError at the end. */
  changeAll(start: string, change: (value: Value) => Value): Promise<void>;
}

/** `parse` returns the empty record for undefined, and throws SettingsError for an unreadable one. */
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

/** Creates a parser that returns `empty` if nothing is stored. */
export function recordParser<Value>(schema: z.ZodType<Value>, empty: Value) {
  return (key: string, stored: unknown): Value => {
    if (stored === undefined || stored === null) return empty;
    const parsed = schema.safeParse(stored);
    if (parsed.success) return parsed.data;
    throw new SettingsError(`This version cannot read the settings ${key}`, { cause: parsed.error });
  };
}

export const keyOfParts = (...parts: readonly string[]): string => parts.map(encodeURIComponent).join(':');

/** Returns the key of a server's record, or of the conversation's in direct messages. */
export function keyOfScope(
  kind: string,
  where: Pick<Address, 'platform' | 'guild' | 'channel' | 'direct'>,
  ...more: readonly string[]
): string {
  const server = serverOf(where);
  const scope = server === undefined ? ['conversation', where.channel] : ['server', server];
  return keyOfParts(kind, where.platform, ...scope, ...more);
}
