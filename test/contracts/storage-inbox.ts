import { expect, test } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

export function inboxContract(current: StorageUnderTest): void {
  test('keeps callbacks in the order they came, also after a restart', async () => {
    expect(await current.storage.inbox.put('a', '{"stage":"text"}', 1_000)).toBe(true);
    expect(await current.storage.inbox.put('a', '{"stage":"first"}', 2_000)).toBe(true);
    await current.reopen();
    expect(await current.storage.inbox.put('a', '{"stage":"complete"}', 3_000)).toBe(true);
    expect(await current.storage.inbox.read('a', 0)).toEqual([
      { sequence: 1, receivedAt: 1_000, body: '{"stage":"text"}' },
      { sequence: 2, receivedAt: 2_000, body: '{"stage":"first"}' },
      { sequence: 3, receivedAt: 3_000, body: '{"stage":"complete"}' },
    ]);
    expect(await current.storage.inbox.read('a', 2)).toEqual([
      { sequence: 3, receivedAt: 3_000, body: '{"stage":"complete"}' },
    ]);
    expect(await current.storage.inbox.read('a', 3)).toEqual([]);
  });

  test('every job has its own', async () => {
    await current.storage.inbox.put('a', 'same', 1_000);
    await current.storage.inbox.put('b', 'same', 1_000);
    expect(await current.storage.inbox.read('a', 0)).toHaveLength(1);
    expect(await current.storage.inbox.read('b', 0)).toHaveLength(1);
    expect(await current.storage.inbox.read('c', 0)).toEqual([]);
  });

  test('a thousand duplicates at the same time are kept once', async () => {
    const kept = await Promise.all(
      Array.from({ length: 1_000 }, (_, index) => current.storage.inbox.put('a', 'same', index)),
    );
    expect(kept.every(Boolean)).toBe(true);
    expect(await current.storage.inbox.read('a', 0)).toMatchObject([{ sequence: 1, body: 'same' }]);
  });

  test('holds 64 entries a job; a duplicate of one of them is still fine', async () => {
    const kept = await Promise.all(
      Array.from({ length: 70 }, (_, index) => current.storage.inbox.put('a', `body ${index}`, index)),
    );
    expect(kept.filter(Boolean)).toHaveLength(64);
    expect(await current.storage.inbox.put('a', 'one more', 99)).toBe(false);
    const entries = await current.storage.inbox.read('a', 0);
    expect(entries.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 64 }, (_, n) => n + 1));
    expect(await current.storage.inbox.put('a', entries[0]?.body ?? '', 99)).toBe(true);
    expect(await current.storage.inbox.put('b', 'one more', 99)).toBe(true);
  });

  test('bodies come back to the letter', async () => {
    const body = `${'\u0000\r\n"\\🎵é'.repeat(20_000)}`;
    await current.storage.inbox.put('a', body, 1_000);
    expect((await current.storage.inbox.read('a', 0))[0]?.body).toBe(body);
  });
}
