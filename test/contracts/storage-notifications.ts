import { expect, test } from 'vitest';
import type { StorageUnderTest } from './storage.ts';

export function notificationsContract(current: StorageUnderTest): void {
  test('reach the subscribers of a job until they unsubscribe', async () => {
    const received: string[] = [];
    const stop = current.storage.notifications.subscribe('a', () => received.push('first'));
    current.storage.notifications.subscribe('a', () => received.push('second'));
    current.storage.notifications.subscribe('b', () => received.push('of another job'));
    const publish = async () => {
      await current.storage.notifications.publish('a');
      return received;
    };
    // A storage that was just opened may not have subscribed yet.
    await expect.poll(publish).toContain('first');
    await expect.poll(() => new Set(received)).toEqual(new Set(['first', 'second']));

    stop();
    received.length = 0;
    await current.storage.notifications.publish('a');
    await expect.poll(() => received).toContain('second');
    expect(received).not.toContain('first');
    expect(received).not.toContain('of another job');
  });

  test('without a subscriber are harmless', async () => {
    await expect(current.storage.notifications.publish('unknown')).resolves.toBeUndefined();
  });
}
