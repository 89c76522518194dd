/** Pages for people: a song with its players and words, and the songs of a channel. */
import type { FastifyReply } from 'fastify';
import { isPageSigned, type PageKind } from '../../core/http.ts';
import type { System } from '../../core/system.ts';
import { type Assets, pageHeaders } from '../assets.ts';
import { type Routes, sendNotFound } from '../server.ts';
import { createVisitLimit } from '../visit-limit.ts';
import { albumDocument } from './album.ts';
import type { Gone, PageSource } from './content.ts';
import { sentencePage } from './layout.ts';
import { type SongPlace, songDocument } from './song.ts';
import { webVtt } from './webvtt.ts';

/** Where the assets of pages are served. */
export const PAGE_ASSETS = {
  path: '/assets/pages',
  folders: [new URL('./browser/', import.meta.url)],
} as const;

export interface SongRoutesOptions extends Pick<System, 'elapsed' | 'log'> {
  readonly source: PageSource;
  readonly assets: () => Promise<Assets>;
  /** Those that may have signed: the present one and those before it that still count. */
  readonly secrets: readonly string[];
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

/** Requests of one page in a row before it answers 429, and how many come back each second. */
const VISITS = { most: 60, perSecond: 5 } as const;

/** What a page is made of, and its address. */
type Answer<Content> = (content: Content, asset: Assets['path']) => Promise<FastifyReply>;

export function songRoutes(options: SongRoutesOptions): Routes {
  const { source, secrets, log } = options;
  const publicUrl = options.publicUrl.replace(/(?<!\/)\/+$/, '');
  const visits = createVisitLimit({ ...VISITS, elapsed: options.elapsed });

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
      const asset = (await options.assets()).path;
      return reply
        .code(status)
        .headers(pageHeaders())
        .send(sentencePage({ title, sentence }, { root, asset }));
    };
    if (!visits.admits(`${kind} ${id}`)) {
      reply.header('retry-after', '5');
      return say(429, 'One moment', 'Very many people open this page right now. Please try again soon.');
    }
    try {
      const content = await read(id);
      if (typeof content === 'string') return await say(410, 'This page is gone', GONE[content]);
      return await answer(content, (await options.assets()).path);
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
