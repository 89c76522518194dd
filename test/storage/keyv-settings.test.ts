import fc from 'fast-check';
import { Keyv } from 'keyv';
import { expect, test } from 'vitest';
import { keyvSettings } from '../../src/storage/keyv-settings.ts';

const NAMESPACE = 'settings';
/** JSON whose texts and names often begin or end with what JSON itself is written with. */
const json = fc.jsonValue({ stringUnit: fc.constantFrom(':', '"', ',', '[', '\\', 'a', '🎵', '\n') });

test('settings are stored as Keyv itself stores them, and read as they were', async () => {
  await fc.assert(
    fc.asyncProperty(json, async (value) => {
      const ours = new Map<string, unknown>();
      const theirs = new Map<string, unknown>();
      const atomic = { compareAndSet: async () => false, list: async () => [] };
      const settings = keyvSettings(new Keyv({ store: ours }).store, atomic, { namespace: NAMESPACE });
      await settings.set('key', value);
      await new Keyv({ store: theirs, namespace: NAMESPACE }).set('key', value);
      expect([...ours]).toEqual([...theirs]);
      expect(JSON.stringify(await settings.get('key'))).toBe(JSON.stringify(value));
    }),
  );
});
