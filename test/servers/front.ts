/** A proxy with a stable URL for bots that restart on different ports. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pipeline } from 'node:stream';

export interface Front extends AsyncDisposable {
  readonly url: string;
  /** Forwards new connections to the URL; without one, they are dropped. */
  leadTo(url: string | undefined): void;
}

export async function startFront(): Promise<Front> {
  let port: number | undefined;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    if (port === undefined) return void socket.on('error', () => {}).destroy();
    // If one side closes, so does the other.
    pipeline(socket, connect(port, '127.0.0.1'), socket, () => socket.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  // Sound: a TCP server that listens has an AddressInfo.
  const { port: own } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${own}`,
    leadTo(url) {
      port = url === undefined ? undefined : Number(new URL(url).port);
    },
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
