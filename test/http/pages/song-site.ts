/** A listener with a song page, with files in memory. */
import { Readable } from 'node:stream';
import type { Log } from '../../../src/core/telemetry/log.ts';
import { pageUrl } from '../../../src/core/web/page-url.ts';
import { fileRoutes } from '../../../src/http/files.ts';
import { encodeWav } from '../../../src/http/pages/browser/mixing.js';
import type {
  AlbumPage,
  LinkedFile,
  PageSource,
  PageUnavailable,
  SongPage,
} from '../../../src/http/pages/content.ts';
import { songRoutes } from '../../../src/http/pages/routes.ts';
import { createHttpServer } from '../../../src/http/server.ts';

const RATE = 8_000;
const SECRET = 'a secret of this test';
/** The time of a visit. */
const NOW = Date.UTC(2031, 4, 5, 12);
/** A proxy removes the first part of the path. */
export const PUBLIC_URL = 'https://bot.example/minstrel';

/** A chirp per second. With a negative gain it cancels the positive one, so an offset of one sample is audible. */
function chirp(seconds: number, gain: number): Uint8Array {
  const samples = new Float32Array(seconds * RATE).map((_, index) => {
    const time = (index % RATE) / RATE;
    return gain * Math.sin(2 * Math.PI * (200 * time + 900 * time ** 2));
  });
  return new Uint8Array(encodeWav([samples], RATE));
}

function tone(seconds: number, { hertz = 440, gain = 0.5 } = {}): Uint8Array {
  const samples = new Float32Array(seconds * RATE).map(
    (_, index) => gain * Math.sin((2 * Math.PI * hertz * index) / RATE),
  );
  return new Uint8Array(encodeWav([samples], RATE));
}

const COVER = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 10 10"><rect width="10" height="10" fill="#274060"/><circle cx="5" cy="5" r="3" fill="#ffd166"/></svg>`;

/** Files by download name. */
export class Files {
  readonly #contents = new Map<string, { bytes: Uint8Array; contentType: string }>();

  keep(name: string, bytes: Uint8Array | string, contentType: string): LinkedFile {
    const data = typeof bytes === 'string' ? Buffer.from(bytes) : bytes;
    this.#contents.set(name, { bytes: data, contentType });
    const path = `files/${encodeURIComponent(name)}`;
    return { path, name, bytes: data.byteLength, contentType };
  }

  readonly media = {
    verifyLink: (name: string) => ({ name, downloadName: name, expires: 4e9 }),
    stat: async (name: string) => {
      const found = this.#contents.get(name);
      return found && { name: `${name}.x`, bytes: found.bytes.byteLength, contentType: found.contentType };
    },
    open: async (name: string, range?: { start: number; end: number }) => {
      const found = this.#contents.get(name.replace(/\.x$/, ''));
      return found && { stream: Readable.from([found.bytes.subarray(range?.start, range && range.end + 1)]) };
    },
  };
}

/** A song with a cover, two takes, synced lyrics, stems that cancel each other out, and related songs. */
export function sampleSong(files: Files, seconds = 6): SongPage {
  const words = [
    'Rain on the window',
    'A letter by the door',
    'I read it in the morning',
    'And I read it once more',
  ];
  const lines = words.map((text, index) => ({
    startSeconds: index * (seconds / words.length),
    text,
    ...(index === 0 ? { section: 'Verse 1' } : {}),
  }));
  const take = (number: number) => ({
    number,
    seconds,
    audio: files.keep(`take ${number}.wav`, tone(seconds, { hertz: 220 * number }), 'audio/wav'),
  });
  return {
    title: 'Rain on the Window',
    person: 'Ada',
    style: 'lofi, rainy, soft piano, brushed drums',
    model: 'V5',
    lyrics: words.join('\n'),
    cover: files.keep('cover.svg', COVER, 'image/svg+xml'),
    createdAt: NOW - 3 * 3_600_000,
    takes: [
      {
        ...take(1),
        lines,
        lrc: files.keep('words.lrc', 'words', 'text/plain'),
        wav: files.keep('lossless.wav', tone(1), 'audio/wav'),
        stems: [
          { name: 'vocals', file: files.keep('vocals.wav', chirp(seconds, 0.5), 'audio/wav') },
          { name: 'instrumental', file: files.keep('band.wav', chirp(seconds, -0.5), 'audio/wav') },
        ],
      },
      { ...take(2), lines: [], stems: [] },
    ],
    basedOn: { title: '“First Rain”, take 2', path: 'songs/other/signature' },
    derived: [{ title: 'Rain on the Window, part two', path: 'songs/more/signature' }],
  };
}

/** Songs of 1 second, newest first. */
export function sampleAlbum(files: Files, titles: readonly string[]): AlbumPage {
  const songs = titles.map((title, index) => ({
    title,
    person: 'Ada',
    path: `songs/song${index}/signature`,
    audio: files.keep(`song ${index}.wav`, tone(1), 'audio/wav'),
    createdAt: NOW - index * 86_400_000,
    seconds: 1.4,
    ...(index === 0 ? { cover: files.keep('cover.svg', COVER, 'image/svg+xml') } : {}),
  }));
  return { channel: 'music', songs };
}

export interface SongSiteOptions {
  readonly song: SongPage | PageUnavailable;
  readonly files?: Files;
  readonly album?: AlbumPage | PageUnavailable;
  readonly source?: Partial<PageSource>;
  readonly log?: Log;
}

const SILENT: Log = { debug() {}, info() {}, warn() {}, error() {} };

export interface SongSite extends AsyncDisposable {
  readonly url: string;
  /** URLs on this machine. */
  readonly songUrl: string;
  readonly albumUrl: string;
  /** The song's public URL. */
  readonly publicSongUrl: string;
}

export async function serveSong({
  song,
  album = 'withdrawn',
  files = new Files(),
  source,
  log = SILENT,
}: SongSiteOptions): Promise<SongSite> {
  const pages: PageSource = {
    song: async () => song,
    album: async () => album,
    isOpen: async () => true,
    ...source,
  };
  const listener = await createHttpServer({
    host: '127.0.0.1',
    port: 0,
    log,
    routes: [
      fileRoutes({ media: files.media, isPageOpen: pages.isOpen, log, now: () => 0 }),
      songRoutes({ source: pages, secrets: ['newer', SECRET], publicUrl: PUBLIC_URL, log, now: () => NOW }),
    ],
  });
  return {
    url: listener.url,
    songUrl: pageUrl(listener.url, 'songs', 'song1', SECRET),
    albumUrl: pageUrl(listener.url, 'albums', 'album1', SECRET),
    publicSongUrl: pageUrl(PUBLIC_URL, 'songs', 'song1', SECRET),
    [Symbol.asyncDispose]: () => listener.close(),
  };
}
