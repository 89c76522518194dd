/** Pages for people: a song with its players and words, and the songs of a channel. */
import type { FastifyReply } from 'fastify';
import type { System } from '../../core/system.ts';
import { isPageSigned, type PageKind } from '../../core/web/page-url.ts';
import { type Assets, assetRoutes, lazyAssets, pageHeaders } from '../assets.ts';
import { sendNotFound } from '../not-found.ts';
import type { Routes } from '../server.ts';
import { albumDocument } from './album.ts';
import type { Gone, PageSource } from './content.ts';
import { sentencePage } from './layout.ts';
import { songDocument } from './song.ts';

const ASSETS = {
  path: '/assets/pages',
  folders: [new URL('./browser/', import.meta.url)],
} as const;

export interface SongRoutesOptions extends Pick<System, 'log'> {
  readonly source: PageSource;
  /** The current secret and previous ones that are still valid. */
  readonly secrets: readonly string[];
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

const GONE: Readonly<Record<Gone, string>> = {
  erased: 'This song was deleted, on request or after the retention period.',
  withdrawn: 'The requester or a moderator removed this page.',
  off: 'Moderators turned off song pages here.',
  files: 'Its files are no longer available.',
};

/** From a page to the root of the listener. */
const ROOT = '../../';

interface Signed {
  Params: { id: string; signature: string };
}

export function songRoutes({ source, secrets, publicUrl, log }: SongRoutesOptions): Routes {
  const assets = lazyAssets(ASSETS);

  /** Checks the signature before reading anything: 404 for invalid links, 410 for pages no longer available. */
  async function send<Content extends object>(
    kind: PageKind,
    { id, signature }: Signed['Params'],
    reply: FastifyReply,
    read: (id: string) => Promise<Content | Gone>,
    documentOf: (content: Content, asset: Assets['path']) => string,
  ): Promise<FastifyReply> {
    reply.header('cache-control', 'no-store');
    if (!isPageSigned(kind, id, signature, secrets)) return sendNotFound(reply);
    const say = async (status: number, title: string, sentence: string) => {
      const { path: asset } = await assets();
      return reply
        .code(status)
        .headers(pageHeaders())
        .send(sentencePage({ title, sentence }, { root: ROOT, asset }));
    };
    try {
      const content = await read(id);
      if (typeof content === 'string') return await say(410, 'Page not available', GONE[content]);
      return reply.headers(pageHeaders()).send(documentOf(content, (await assets()).path));
    } catch (error) {
      log.warn({ err: error }, 'Could not render a page');
      reply.header('retry-after', '30');
      return say(
        503,
        'Temporarily unavailable',
        "This page can't be shown right now. Try again in a minute.",
      );
    }
  }

  return (scope) => {
    assetRoutes(ASSETS.path, assets)(scope);

    scope.get<Signed>('/songs/:id/:signature', ({ params }, reply) =>
      send('songs', params, reply, source.song, (content, asset) =>
        songDocument(content, {
          root: ROOT,
          asset,
          url: `${publicUrl}/songs/${encodeURIComponent(params.id)}/${params.signature}`,
          absolute: (relative) => `${publicUrl}/${relative}`,
        }),
      ),
    );

    scope.get<Signed>('/albums/:id/:signature', ({ params }, reply) =>
      send('albums', params, reply, source.album, (content, asset) =>
        albumDocument(content, { root: ROOT, asset }),
      ),
    );
  };
}
