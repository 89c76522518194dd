import { expect, test } from 'vitest';
import { healthParts } from '../../../src/app/routes/listener.ts';
import { healthRoutes } from '../../../src/http/health.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { StorageError } from '../../../src/storage/storage.ts';
import { RecordingLog } from '../../storage/recording-log.ts';

test('shows storage problems on /readyz only if an operator must fix them', async () => {
  await using cleanup = new AsyncDisposableStack();
  let failure: StorageError | undefined;
  const check = async () => {
    if (failure) throw failure;
  };
  let now = 0;
  const log = new RecordingLog();
  const routes = [healthRoutes({ parts: healthParts({ check }, []), elapsed: () => now, log })];
  const server = await createHttpServer({ host: '127.0.0.1', port: 0, log, routes });
  cleanup.defer(() => server.close());
  const ready = async () => {
    now += 60_000;
    const response = await fetch(`${server.url}/readyz`);
    return { status: response.status, body: await response.json() };
  };
  expect(await ready()).toMatchObject({ status: 200 });
  failure = new StorageError('schema', 'The database file /data/minstrel.sqlite is damaged.');
  const parts = { storage: 'The database file is damaged; its path is in the log', platforms: 'ready' };
  expect(await ready()).toEqual({ status: 503, body: { ready: false, parts } });
  failure = new StorageError('unavailable', 'Redis cannot be reached.');
  expect(JSON.stringify(await ready())).not.toContain('Redis');
});
