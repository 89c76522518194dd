/** Public pages: a song with players and lyrics, and the songs of a channel. */
import type { FastifyReply } from 'fastify';
import type { System } from '../../core/system.ts';
import { isPageSigned, type PageKind } from '../../core/web/page-url.ts';
import { type Assets, assetRoutes, lazyAssets, pageHeaders } from '../assets.ts';
import { sendNotFound } from '../not-found.ts';
import type { Routes } from '../server.ts';
import { albumDocument } from './album.ts';
import type { PageSource, PageUnavailable } from './content.ts';
import { sentencePage } from './layout.ts';
import { songDocument } from './song.ts';

const ASSETS = {
  path: '/assets/pages',
  folders: [new URL('./browser/', import.meta.url)],
  styles: ['shared.css', 'page.css'],
} as const;

export interface SongRoutesOptions extends Pick<System, 'log' | 'now'> {
  readonly source: PageSource;
  /** The current secret and previous ones that are still valid. */
  readonly secrets: readonly string[];
  /** Without a trailing slash. */
  readonly publicUrl: string;
}

const UNAVAILABLE_SENTENCES: Readonly<Record<PageUnavailable, string>> = {
  erased: 'This song was deleted, on request or after the retention period.',
  failed: 'This song was not finished. Its message in the chat has the reason.',
  withdrawn: 'The requester or a moderator removed this page.',
  off: 'The moderators turned off song pages for this channel.',
  files: 'The files of this song are no longer available.',
};

/** Relative path from a page to the listener's root. */
const ROOT = '../../';

interface SignedRoute {
  Params: { id: string; signature: string };
}

export function songRoutes({ source, secrets, publicUrl, log, now }: SongRoutesOptions): Routes {
  const assets = lazyAssets(ASSETS);

  /** Checks the signature before reading anything. 404 for invalid links, 410 for pages that are no longer available. */
  async function send<Content extends object>(
    kind: PageKind,
    { id, signature }: SignedRoute['Params'],
    reply: FastifyReply,
    read: (id: string) => Promise<Content | PageUnavailable>,
    documentOf: (content: Content, asset: Assets['path']) => string,
  ): Promise<FastifyReply> {
    reply.header('cache-control', 'no-store');
    if (!isPageSigned(kind, id, signature, secrets)) return sendNotFound(reply);
    const sendSentence = async (status: number, title: string, sentence: string) => {
      const { path: asset } = await assets();
      return reply
        .code(status)
        .headers(pageHeaders())
        .send(sentencePage({ title, sentence }, { root: ROOT, asset }));
    };
    try {
      const content = await read(id);
      if (typeof content === 'string')
        return await sendSentence(410, 'Page not available', UNAVAILABLE_SENTENCES[content]);
      return reply.headers(pageHeaders()).send(documentOf(content, (await assets()).path));
    } catch (error) {
      log.warn({ err: error }, 'Could not render a page');
      reply.header('retry-after', '30');
      return sendSentence(
        503,
        'Temporarily unavailable',
        "This page can't be shown right now. Try again in a minute.",
      );
    }
  }

  return (scope) => {
    assetRoutes(ASSETS.path, assets)(scope);

    scope.get<SignedRoute>('/songs/:id/:signature', ({ params }, reply) =>
      send('songs', params, reply, source.song, (content, asset) =>
        songDocument(content, {
          root: ROOT,
          asset,
          url: `${publicUrl}/songs/${encodeURIComponent(params.id)}/${params.signature}`,
          absolute: (relative) => `${publicUrl}/${relative}`,
          now: now(),
        }),
      ),
    );

    scope.get<SignedRoute>('/albums/:id/:signature', ({ params }, reply) =>
      send('albums', params, reply, source.album, (content, asset) =>
        albumDocument(content, { root: ROOT, asset, now: now() }),
      ),
    );
  };
}
