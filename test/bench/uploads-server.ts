/**
 * A gateway with files of `bytes` at `/file/N`, and a Discord that takes messages with files and reads them no further. Tells its
 * address. Each line of standard input asks how many files have come whole.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { programInput, tell } from './program.ts';

const { bytes } = programInput(z.object({ bytes: z.int() }));
/** The beginning of an MP4: https://www.iana.org/assignments/media-types/video/mp4 */
const HEAD = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2', 'latin1');
const FILE = Buffer.alloc(bytes - HEAD.length, 'film');
let whole = 0;

async function drained(request: IncomingMessage): Promise<number> {
  let length = 0;
  for await (const chunk of request) length += chunk.length;
  return length;
}

const server = createServer(async (request, response) => {
  const name = /^\/file\/(\d+)$/.exec(request.url ?? '')?.[1];
  if (name !== undefined) {
    // Each file is another: the number follows the first box.
    const head = Buffer.concat([HEAD.subarray(0, -name.length), Buffer.from(name)]);
    response.writeHead(200, { 'content-type': 'video/mp4', 'content-length': bytes });
    response.write(head);
    response.end(FILE);
    return;
  }
  if ((await drained(request)) > bytes) whole += 1;
  const channel = /\/channels\/(\d+)\//.exec(request.url ?? '')?.[1] ?? '';
  const attachments = [{ id: '1', filename: 'film.mp4' }];
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ id: channel, channel_id: channel, attachments }));
});
server.listen(0, '127.0.0.1', () => {
  // Sound: it listens on a port, not on a pipe.
  const { port } = server.address() as AddressInfo;
  tell(`http://127.0.0.1:${port}`);
});
for await (const _ of createInterface({ input: process.stdin })) tell(whole);
