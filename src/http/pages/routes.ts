/** Pages for people: a song with its players and words, and the songs of a channel. */
import type { FastifyReply } from 'fastify';
import { isPageSigned, type PageKind } from '../../core/http.ts';
import type { System } from '../../core/system.ts';
import { type Assets, assetRoutes, lazyAssets, pageHeaders } from '../assets.ts';
import { type Routes, sendNotFound } from '../server.ts';
import { albumDocument } from './album.ts';
import type { Gone, PageSource } from './content.ts';
import { sentencePage } from './layout.ts';
import { type SongPlace, songDocument } from './song.ts';
import { webVtt } from './webvtt.ts';

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
  erased: 'It was erased: who asked for it wanted that, or its time was over.',
  withdrawn: 'Who asked for it, or a moderator, took its page away.',
  off: 'Moderators switched the pages of songs off where it was made.',
  files: 'Its files are not kept any more.',
};

interface Signed {
  Params: { id: string; signature: string };
}

/** What is asked for: `root` leads from its address to the root of the listener. */
interface Asked {
  readonly kind: PageKind;
  readonly id: string;
  readonly signature: string;
  readonly root: string;
}

/** What a page is made of, and its address. */
type Answer<Content> = (content: Content, asset: Assets['path']) => Promise<FastifyReply>;

export function songRoutes(options: SongRoutesOptions): Routes {
  const { source, secrets, publicUrl, log } = options;
  const assets = lazyAssets(ASSETS);

  /** Checks the signature before anything is read. What is not signed here is not found; what is gone is 410. */
  async function send<Content extends object>(
    reply: FastifyReply,
    { kind, id, signature, root }: Asked,
    read: (id: string) => Promise<Content | Gone>,
    answer: Answer<Content>,
  ): Promise<FastifyReply> {
    reply.header('cache-control', 'no-store');
    if (!isPageSigned(kind, id, signature, secrets)) return sendNotFound(reply);
    const say = async (status: number, title: string, sentence: string) => {
      const asset = (await assets()).path;
      return reply
        .code(status)
        .headers(pageHeaders())
        .send(sentencePage({ title, sentence }, { root, asset }));
    };
    try {
      const content = await read(id);
      if (typeof content === 'string') return await say(410, 'This page is gone', GONE[content]);
      return await answer(content, (await assets()).path);
    } catch (error) {
      log.warn({ err: error }, 'A page could not be made');
      reply.header('retry-after', '30');
      return say(503, 'Not right now', 'This page cannot be made at the moment. Please try again soon.');
    }
  }

  function placeOf({ id, signature, root }: Omit<Asked, 'kind'>, asset: Assets['path']): SongPlace {
    const path = `songs/${encodeURIComponent(id)}/${signature}`;
    const url = `${publicUrl}/${path}`;
    return {
      root,
      asset,
      url,
      wordsOf: (take) => `${path}/words-${take}.vtt`,
      absolute: (relative) => `${publicUrl}/${relative}`,
    };
  }

  return (scope) => {
    assetRoutes(ASSETS.path, assets)(scope);

    scope.get<Signed>('/songs/:id/:signature', ({ params }, reply) => {
      const asked = { ...params, root: '../../' };
      return send(reply, { kind: 'songs', ...asked }, source.song, async (content, asset) =>
        reply.headers(pageHeaders()).send(songDocument(content, placeOf(asked, asset))),
      );
    });

    scope.get<{ Params: Signed['Params'] & { take: string } }>(
      '/songs/:id/:signature/words-:take(^\\d+).vtt',
      ({ params: { take, ...params } }, reply) =>
        send(reply, { kind: 'songs', ...params, root: '../../../' }, source.song, async (content) => {
          const found = content.takes.find(({ number }) => String(number) === take);
          if (!found?.lines.length) return sendNotFound(reply);
          return reply.type('text/vtt; charset=utf-8').send(webVtt(found.lines));
        }),
    );

    scope.get<Signed>('/albums/:id/:signature', ({ params }, reply) => {
      const root = '../../';
      return send(reply, { kind: 'albums', ...params, root }, source.album, async (content, asset) =>
        reply.headers(pageHeaders()).send(albumDocument(content, { root, asset })),
      );
    });
  };
}
