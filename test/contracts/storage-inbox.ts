import { expect, test } from 'vitest';
import { songJob } from '../storage/jobs.ts';
import type { StorageUnderTest } from './storage.ts';

export function inboxContract(current: StorageUnderTest): void {
  const receive = (job: string, body: string, receivedAt: number) =>
    current.storage.receive({ job, body, receivedAt });
  test('stores callbacks in order, even after a restart', async () => {
    await current.storage.jobs.create(songJob({ id: 'a' }));
    await receive('a', '{"stage":"text"}', 1_000);
    await receive('a', '{"stage":"first"}', 2_000);
    await current.reopen();
    await receive('a', '{"stage":"complete"}', 3_000);
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

  test('separates callbacks by job', async () => {
    for (const id of ['a', 'b']) await current.storage.jobs.create(songJob({ id }));
    await receive('a', 'same', 1_000);
    await receive('b', 'same', 1_000);
    expect(await current.storage.inbox.read('a', 0)).toHaveLength(1);
    expect(await current.storage.inbox.read('b', 0)).toHaveLength(1);
    expect(await current.storage.inbox.read('c', 0)).toEqual([]);
  });

  test('stores bodies unchanged', async () => {
    const body = `${'\u0000\r\n"\\🎵é'.repeat(20_000)}`;
    await current.storage.jobs.create(songJob({ id: 'a' }));
    await receive('a', body, 1_000);
    expect((await current.storage.inbox.read('a', 0))[0]?.body).toBe(body);
  });
}
