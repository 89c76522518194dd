import { expect, test } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

const LONG = 60_000;
const SHORT = 100;

export function leasesContract(current: StorageUnderTest): void {
  test('have one holder at a time, which may extend and release them', async () => {
    const { leases } = current.storage;
    const holders = Array.from({ length: 8 }, (_, index) => `holder ${index}`);
    const results = await Promise.all(holders.map((holder) => leases.take('task', holder, LONG)));
    expect(results.filter(Boolean)).toHaveLength(1);
    const holder = holders[results.indexOf(true)] ?? '';
    expect(await leases.take('task', holder, LONG)).toBe(true);
    await leases.release('task', 'another');
    expect(await leases.take('task', 'another', LONG)).toBe(false);
    expect(await leases.take('another task', 'another', LONG)).toBe(true);
    await leases.release('task', holder);
    expect(await leases.take('task', 'another', LONG)).toBe(true);
  });

  test('are free after they expire', async () => {
    const { leases } = current.storage;
    await leases.take('brief', 'one', SHORT);
    await expect.poll(() => leases.take('brief', 'other', LONG)).toBe(true);
    expect(await leases.take('brief', 'one', SHORT)).toBe(false);
  });
}
