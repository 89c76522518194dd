import { once } from 'node:events';
import { request as httpRequest } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { createMetrics, metricsRoutes } from '../../src/http/metrics.ts';
import { createHttpServer, type HttpServer } from '../../src/http/server.ts';
import { RecordingLog } from '../storage/recording-log.ts';

let server: HttpServer | undefined;
afterEach(() => server?.close());

test('serves metrics in the Prometheus format', async () => {
  const metrics = createMetrics();
  server = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log: new RecordingLog(),
    routes: [
      metricsRoutes(metrics, {
        host: '127.0.0.1',
        collect: async () => {
          metrics.measure('minstrel_platform_ready', { platform: 'discord' }, 1);
        },
      }),
    ],
  });
  const song = { platform: 'discord', family: 'song', model: 'V5' };
  for (const units of [2.5, 2.5]) {
    metrics.measure('minstrel_usage_requests_total', song);
    metrics.measure('minstrel_usage_units_total', song, units);
  }
  metrics.measure('minstrel_callback_read_seconds', {}, 0.02);
  const response = await fetch(`${server.url}/metrics`);
  expect(response.headers.get('content-type')).toContain('text/plain');
  const lines = (await response.text()).split('\n');
  expect(lines).toEqual(
    expect.arrayContaining([
      'minstrel_usage_requests_total{platform="discord",family="song",model="V5"} 2',
      'minstrel_usage_units_total{platform="discord",family="song",model="V5"} 5',
      'minstrel_callback_read_seconds_bucket{le="0.03"} 1',
      'minstrel_platform_ready{platform="discord"} 1',
    ]),
  );
  expect(lines.some((line) => line.startsWith('process_cpu_seconds_total'))).toBe(true);
  expect((await fetch(`${server.url}/healthz`)).status).toBe(404);
});

test('answers only to its own host name', async () => {
  const routes = [metricsRoutes(createMetrics(), { host: 'metrics.internal', collect: async () => {} })];
  server = await createHttpServer({ host: '127.0.0.1', port: 0, log: new RecordingLog(), routes });
  const { port } = new URL(server.url);
  const statusFor = async (host: string) => {
    const request = httpRequest({ host: '127.0.0.1', port, path: '/metrics', headers: { host } }).end();
    const [response] = await once(request, 'response');
    response.resume();
    return response.statusCode;
  };
  for (const host of ['127.0.0.1', 'localhost', '10.0.0.7', '[::1]', 'bot', 'metrics.internal'])
    for (const name of [host, `${host}:${port}`]) expect(await statusFor(name), name).toBe(200);
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    '127.0.0.1.evil.example',
    'a@evil.example',
    '%',
  ])
    expect(await statusFor(host), host).toBe(404);
});
