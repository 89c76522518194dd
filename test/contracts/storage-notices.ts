import { expect, test, vi } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

export function noticesContract(current: StorageUnderTest): void {
  test('are heard by those who listen for that job, until they stop listening', async () => {
    const heard: string[] = [];
    const stop = current.storage.notices.listen('a', () => heard.push('first'));
    current.storage.notices.listen('a', () => heard.push('second'));
    current.storage.notices.listen('b', () => heard.push('of another job'));
    await vi.waitFor(async () => {
      // Whoever has just opened the storage may not be connected for notices yet.
      await current.storage.notices.tell('a');
      expect(heard).toContain('first');
    });
    await expect.poll(() => new Set(heard)).toEqual(new Set(['first', 'second']));

    stop();
    heard.length = 0;
    await current.storage.notices.tell('a');
    await expect.poll(() => heard).toContain('second');
    expect(heard).not.toContain('first');
    expect(heard).not.toContain('of another job');
  });

  test('that nobody listens for are harmless', async () => {
    await expect(current.storage.notices.tell('nobody')).resolves.toBeUndefined();
  });
}
