import type { FastifyInstance } from 'fastify';
import type { EmulatorContext } from './context.ts';
import { Refusal } from './refusal.ts';

/** `GET /files/<name>`: the generated files, with single byte ranges; temporary URLs stop working in time. */
export function registerFileRoute(server: FastifyInstance, context: EmulatorContext): void {
  server.get<{ Params: { name: string } }>('/files/:name', async (request, reply) => {
    const { name } = request.params;
    const file = context.files.get(name);
    if (file === undefined) throw new Refusal('not found', `no file ${name}; it may have been forgotten`);
    const query = new URL(request.url, 'http://emulator').searchParams;
    if (!context.files.allows(name, query, context.now())) {
      return reply
        .code(403)
        .type('application/xml')
        .send(
          '<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>AccessDenied</Code><Message>Request has expired.</Message></Error>',
        );
    }
    reply
      .type(file.contentType)
      .header('accept-ranges', 'bytes')
      .header('cache-control', 'private, max-age=3600');
    const range = readRange(request.headers.range, file.bytes.length);
    if (range === null) return reply.send(file.bytes);
    if (range === 'unsatisfiable') {
      return reply.code(416).header('content-range', `bytes */${file.bytes.length}`).send();
    }
    return reply
      .code(206)
      .header('content-range', `bytes ${range.first}-${range.last}/${file.bytes.length}`)
      .send(file.bytes.subarray(range.first, range.last + 1));
  });
}

/** One range of a Range header (RFC 9110, 14.1); null when the whole file is to be sent. */
function readRange(
  header: string | undefined,
  size: number,
): { first: number; last: number } | 'unsatisfiable' | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  if (match === null) return null;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return null;
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from);
  const last = from === '' || to === '' ? size - 1 : Math.min(size - 1, Number(to));
  return first > last || first >= size ? 'unsatisfiable' : { first, last };
}
