import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import type { Log } from '../command.ts';
import type { FileLinkQuery } from '../media/links.ts';
import type { Media } from '../media/media.ts';
import type { ByteRange, StoredFile } from '../media/store.ts';
import { type Routes, sendNotFound } from './server.ts';

export interface FileRoutesOptions {
  media: Pick<Media, 'verifyLink' | 'stat' | 'open'>;
  log: Log;
  /** Milliseconds since the epoch. */
  now: () => number;
}

/** Files come from outside: whatever is in them, a browser shows or saves it and runs none of it. */
const safetyHeaders = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'referrer-policy': 'no-referrer',
  'x-robots-tag': 'noindex',
} as const;

/**
 * `GET` and `HEAD /files/:name`: a kept file by signed, expiring link, in whole or by one range.
 * Whatever is not signed here, has expired or is not kept is answered 404, all alike.
 */
export function fileRoutes({ media, log, now }: FileRoutesOptions): Routes {
  return (scope) => {
    scope.route<{ Params: { name: string }; Querystring: FileLinkQuery }>({
      method: ['GET', 'HEAD'],
      url: '/files/:name',
      handler: async (request, reply) => {
        reply.headers(safetyHeaders);
        const link = media.verifyLink(request.params.name, request.query);
        if (link === undefined) return notFound(reply);
        try {
          const file = await media.stat(link.name);
          if (file === undefined) return notFound(reply);
          const disposition = { type: dispositionOf(file.contentType) };
          reply.headers({
            'accept-ranges': 'bytes',
            'cache-control': `private, max-age=${Math.floor(link.expires - now() / 1000)}, immutable`,
            'content-disposition': contentDisposition(link.downloadName, disposition),
            'content-type': file.contentType,
            etag: entityTagOf(file),
          });
          return await sendFile(request, reply, file, (range) => media.open(file.name, range));
        } catch (error) {
          log.warn({ err: error, file: link.name }, 'A kept file could not be opened');
          return unavailable(reply);
        }
      },
    });
  };
}

type Open = (range?: ByteRange) => ReturnType<Media['open']>;

async function sendFile(request: FastifyRequest, reply: FastifyReply, file: StoredFile, open: Open) {
  const entityTag = entityTagOf(file);
  if (matches(request.headers['if-none-match'], entityTag)) return reply.code(304).send();
  const range = rangeOf(request, file.bytes, entityTag);
  if (range === 'unsatisfiable') {
    withoutFile(reply).header('content-range', `bytes */${file.bytes}`);
    return reply.code(416).send({ error: 'no such bytes in this file' });
  }
  if (range !== undefined) {
    reply.code(206).header('content-range', `bytes ${range.start}-${range.end}/${file.bytes}`);
  }
  reply.header('content-length', range === undefined ? file.bytes : range.end - range.start + 1);
  if (request.method === 'HEAD') return reply.send();
  const opened = await open(range);
  return opened === undefined ? notFound(reply) : reply.send(opened.stream);
}

/** The one range that is asked for. Several, or what cannot be read, get the whole file (RFC 9110 14.2). */
function rangeOf(
  { method, headers }: FastifyRequest,
  bytes: number,
  entityTag: string,
): Required<ByteRange> | 'unsatisfiable' | undefined {
  const condition = headers['if-range'];
  if (method !== 'GET' || headers.range === undefined) return undefined;
  if (condition !== undefined && condition !== entityTag) return undefined;
  const ranges = parseRange(bytes, headers.range, { combine: true });
  if (ranges === -1) return 'unsatisfiable';
  if (ranges === -2 || ranges.type !== 'bytes' || ranges.length !== 1) return undefined;
  return ranges[0];
}

/** The name is the hash of the content, which is all that an entity tag promises. */
function entityTagOf({ name }: StoredFile): string {
  return `"${name.slice(0, name.indexOf('.'))}"`;
}

function matches(condition: string | undefined, entityTag: string): boolean {
  if (condition === undefined) return false;
  return condition.split(',').some((tag) => ['*', entityTag, `W/${entityTag}`].includes(tag.trim()));
}

/** What people want to see or hear opens in place; the rest is saved. */
function dispositionOf(contentType: string): 'inline' | 'attachment' {
  return /^(?:audio|image|video)\//.test(contentType) ? 'inline' : 'attachment';
}

function notFound(reply: FastifyReply) {
  return sendNotFound(withoutFile(reply));
}

function unavailable(reply: FastifyReply) {
  return withoutFile(reply).code(503).header('retry-after', '30').send({ error: 'unavailable' });
}

/** Takes back what was already said about a file that is not sent after all. */
function withoutFile(reply: FastifyReply): FastifyReply {
  const said = [
    'accept-ranges',
    'content-disposition',
    'content-length',
    'content-range',
    'content-type',
    'etag',
  ];
  for (const name of said) reply.removeHeader(name);
  return reply.header('cache-control', 'no-store');
}
