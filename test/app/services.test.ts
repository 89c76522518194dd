import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { openGateway, unmeasured } from '../../src/app/services.ts';
import { systemOf } from '../../src/app/system.ts';
import { gatewayAccounts } from '../../src/gateway/routes.ts';
import { RecordingLog } from '../storage/recording-log.ts';

it('never offers HTTP/2 to the gateway', async () => {
  const hello = Promise.withResolvers<Buffer>();
  const server = createServer((socket: Socket) => {
    socket
      .on('error', () => undefined)
      .once('data', (bytes) => {
        hello.resolve(bytes);
        socket.destroy();
      });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  // Sound: a TCP server that listens has an AddressInfo.
  const { port } = server.address() as AddressInfo;
  const gateway = openGateway(gatewayAccounts({ baseUrl: `https://127.0.0.1:${port}`, apiKey: 'key' }), {
    ...systemOf(new RecordingLog()),
    measure: unmeasured,
  });
  onTestFinished(() => gateway.close());
  await expect(gateway.music.styleGenerate({ content: 'rain' })).rejects.toThrow();
  // The client's first record lists the protocols in plain text: RFC 7301, section 3.1.
  const offered = /(?:.h2)?.http\/1\.1(?:.h2)?/.exec((await hello.promise).toString('latin1'))?.[0];
  expect(offered).toBe('\x08http/1.1');
});
