import { afterEach, expect, test } from 'vitest';
import { createMetrics, metricsRoutes } from '../../src/http/metrics.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';
import { RecordingLog } from '../storage/recording-log.ts';

let server: HttpServer | undefined;
afterEach(() => server?.close());

test('operators read usage, refusals and connections over HTTP', async () => {
  let ready = false;
  const metrics = createMetrics({ process: true, platforms: () => [{ name: 'discord', ready }] });
  server = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: new RecordingLog(),
    routes: [metricsRoutes(metrics)],
  });
  metrics.settled({ platform: 'discord', family: 'song', model: 'V5', units: 2.5 });
  metrics.settled({ platform: 'discord', family: 'song', model: 'V5', units: 2.5 });
  metrics.settled({ platform: 'slack', family: 'song', model: undefined, units: 0 });
  metrics.refused({ platform: 'discord', scope: 'person', family: 'song' });
  metrics.denied({ platform: 'slack', command: 'video' });
  ready = true;
  const answer = await fetch(`${server.url}/metrics`);
  expect(answer.headers.get('content-type')).toContain('text/plain');
  const lines = (await answer.text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'minstrel_usage_requests_total{platform="discord",family="song",model="V5"} 2',
      'minstrel_usage_units_total{platform="discord",family="song",model="V5"} 5',
      'minstrel_usage_requests_total{platform="slack",family="song",model="none"} 1',
      'minstrel_limit_refusals_total{platform="discord",scope="person",family="song"} 1',
      'minstrel_access_denials_total{platform="slack",command="video"} 1',
      'minstrel_platform_ready{platform="discord"} 1',
    ]),
  );
  expect(lines.some((line) => line.startsWith('process_cpu_seconds_total'))).toBe(true);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(404);
});
