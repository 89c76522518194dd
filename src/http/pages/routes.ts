/** Pages for people: a song with its players and words, and the songs of a channel. */
import type { FastifyReply } from 'fastify';
import { isPageSigned, type PageKind } from '../../core/page-url.ts';
import type { System } from '../../core/system.ts';
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
  /** Those that may have signed: the present one and those before it that still count. */
  readonly secrets: readonly string[];
  /** Without a slash at its end. */
  readonly publicUrl: string;
}

const GONE: Readonly<Record<Gone, string>> = {
  erased: 'It was erased: the person who requested it asked for that, or it had been kept long enough.',
  withdrawn: 'The person who requested it, or a moderator, took its page away.',
  off: 'Moderators switched song pages off where it was made.',
  files: 'Its files are no longer kept.',
};

/** From a page to the root of the listener. */
const ROOT = '../../';

interface Signed {
  Params: { id: string; signature: string };
}

export function songRoutes({ source, secrets, publicUrl, log }: SongRoutesOptions): Routes {
  const assets = lazyAssets(ASSETS);

  /** Checks the signature before anything is read. What is not signed here is not found; what is gone is 410. */
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
      if (typeof content === 'string') return await say(410, 'This page is gone', GONE[content]);
      return reply.headers(pageHeaders()).send(documentOf(content, (await assets()).path));
    } catch (error) {
      log.warn({ err: error }, 'A page could not be made');
      reply.header('retry-after', '30');
      return say(503, 'Not right now', 'This page cannot be made at the moment. Please try again soon.');
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
