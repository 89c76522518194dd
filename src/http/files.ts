import type { Readable } from 'node:stream';
import { create as contentDisposition } from 'content-disposition';
import type { FastifyReply, FastifyRequest } from 'fastify';
import parseRange from 'range-parser';
import type { MediaFile } from '../core/message.ts';
import type { System } from '../core/system.ts';
import type { ByteRange, FileLink } from '../core/web/files.ts';
import { sendNotFound } from './not-found.ts';
import type { Routes } from './server.ts';

type LinkQuery = Partial<Record<'as' | 'expires' | 'page' | 'signature', unknown>>;
type Opened = Promise<{ readonly stream: Readable } | undefined>;

export interface FileRoutesOptions extends Pick<System, 'now' | 'log'> {
  media: {
    /** Undefined if the signature is invalid or the link has expired. */
    verifyLink(name: string, query: LinkQuery): FileLink | undefined;
    stat(name: string): Promise<MediaFile | undefined>;
    open(name: string, range?: ByteRange): Opened;
  };
  /** Whether the page of a song can be opened. */
  readonly isPageOpen: (song: string) => Promise<boolean>;
}

/** Files are untrusted: a browser may show or save them, but must not run scripts in them. */
const safetyHeaders = {
  'content-security-policy': "default-src 'none'; sandbox",
  'x-robots-tag': 'noindex',
} as const;

/**
 * `GET` and `HEAD /files/:name`: serves a stored file or one range of it, by a signed, expiring link.
 * Unsigned, expired and missing files all get the same 404, as do files of a page that was closed.
 */
export function fileRoutes({ media, isPageOpen, log, now }: FileRoutesOptions): Routes {
  return (scope) => {
    scope.route<{ Params: { name: string }; Querystring: LinkQuery }>({
      method: ['GET', 'HEAD'],
      url: '/files/:name',
      handler: async (request, reply) => {
        reply.headers(safetyHeaders);
        const link = media.verifyLink(request.params.name, request.query);
        if (link === undefined) return notFound(reply);
        try {
          if (link.page !== undefined && !(await isPageOpen(link.page))) return notFound(reply);
          const file = await media.stat(link.name);
          if (file === undefined) return notFound(reply);
          // Media opens in the browser; other files download.
          const type = /^(?:audio|image|video)\//.test(file.contentType) ? 'inline' : 'attachment';
          const headers = {
            'accept-ranges': 'bytes',
            'cache-control': `private, max-age=${Math.floor(link.expires - now() / 1000)}, immutable`,
            'content-disposition': contentDisposition(link.downloadName, { type }),
            'content-type': file.contentType,
            etag: entityTagOf(file),
          };
          return await sendFile(request, reply, {
            file,
            headers,
            open: (range) => media.open(file.name, range),
          });
        } catch (error) {
          log.warn({ err: error, file: link.name }, 'Could not open a stored file');
          reply.headers({ 'cache-control': 'no-store', 'retry-after': '30' });
          return reply.code(503).send({ error: 'unavailable' });
        }
      },
    });
  };
}

interface FileResponse {
  readonly file: MediaFile;
  readonly headers: Readonly<Record<string, string>>;
  readonly open: (range?: ByteRange) => Opened;
}

async function sendFile(request: FastifyRequest, reply: FastifyReply, { file, headers, open }: FileResponse) {
  const entityTag = entityTagOf(file);
  const range = rangeOf(request, file.bytes, entityTag);
  if (range === 'unsatisfiable') {
    reply.headers({ 'cache-control': 'no-store', 'content-range': `bytes */${file.bytes}` });
    return reply.code(416).send({ error: 'range not satisfiable' });
  }
  const opened = request.method === 'HEAD' ? undefined : await open(range);
  if (request.method !== 'HEAD' && opened === undefined) return notFound(reply);
  reply.headers(headers).header('content-length', file.bytes);
  if (range !== undefined) {
    reply.code(206).headers({
      'content-length': range.end - range.start + 1,
      'content-range': `bytes ${range.start}-${range.end}/${file.bytes}`,
    });
  }
  return reply.send(opened?.stream);
}

/** The requested range. Several ranges or an invalid header get the whole file (RFC 9110 14.2). */
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

/** The name is the hash of the content, so it identifies the content. */
function entityTagOf({ name }: MediaFile): string {
  return `"${name.slice(0, name.indexOf('.'))}"`;
}

function notFound(reply: FastifyReply) {
  return sendNotFound(reply.header('cache-control', 'no-store'));
}
