import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import type { Log } from '../../src/core/telemetry/log.ts';
import { createHttpServer, type HttpServer, type HttpServerOptions } from '../../src/http/server.ts';

/** A log that records its lines. */
export function collectLog(): Log & { readonly lines: string[] } {
  const lines: string[] = [];
  const write = (level: string) => (fields: object, sentence: string) => {
    lines.push(`${level} ${sentence} ${JSON.stringify(fields)}`);
  };
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}

/** A listener on a free loopback port, closed after the test. */
export async function listen(options: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const server = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    routes: [],
    log: collectLog(),
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

export const portOf = ({ url }: HttpServer): number => Number(new URL(url).port);

export const connectTo = (server: HttpServer): Socket => connect(portOf(server), '127.0.0.1');

/** Writes raw bytes to a listener and reads until it ends the connection. */
export async function sendRaw(server: HttpServer, ...chunks: readonly string[]): Promise<string> {
  const socket = connectTo(server);
  // The server may close the connection while we write.
  socket.on('error', () => {});
  for (const chunk of chunks) socket.write(chunk);
  return text(socket).catch(() => '');
}
