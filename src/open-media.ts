import { extname } from 'node:path';
import type { Log } from './command.ts';
import type { Config } from './config.ts';
import type { Emulator } from './emulator/server.ts';
import { MediaError } from './media/errors.ts';
import { createMediaFetcher } from './media/fetch.ts';
import { safeFileName } from './media/file-names.ts';
import { createFolderStore } from './media/folder-store.ts';
import { createMedia, type Media } from './media/media.ts';
import { createS3Store } from './media/s3-store.ts';
import type { MediaStore } from './media/store.ts';
import type { MediaReader } from './platforms/platform.ts';

/** A song is a few MB and a video rarely more than 100; anything past this is not a result. */
const FETCHING = {
  maximumBytes: 512 * 1024 * 1024,
  timeoutMs: 10 * 60_000,
  idleTimeoutMs: 30_000,
  maximumRedirects: 5,
  concurrency: 8,
} as const;

interface MediaTools {
  readonly publicUrl: string;
  readonly secrets: readonly string[];
  readonly now: () => number;
  readonly emulator: Emulator | undefined;
  readonly log: Log;
}

/** Fetching, checking and keeping of files, as the settings say. */
export function openMedia({ media }: Config, { publicUrl, secrets, now, emulator, log }: MediaTools): Media {
  // The emulator on loopback is the one address that is not public and yet allowed, only while it is the gateway.
  const emulatorHost = emulator ? [new URL(emulator.url).host] : [];
  return createMedia({
    store: openMediaStore(media, now),
    fetcher: createMediaFetcher({
      ...FETCHING,
      allowedHosts: [...media.allowedHosts, ...emulatorHost],
      now,
    }),
    publicUrl,
    secrets,
    linkTtlSeconds: media.linkTtlSeconds,
    now,
    log,
  });
}

function openMediaStore({ store, quotaBytes, retentionMs }: Config['media'], now: () => number): MediaStore {
  const bounds = { quotaBytes, ...(retentionMs === undefined ? {} : { retentionMs }), now };
  switch (store.type) {
    case 'folder':
      return createFolderStore({ directory: store.directory, ...bounds });
    case 's3': {
      const { type: _, ...place } = store;
      return createS3Store({ ...place, ...bounds });
    }
    default:
      return store satisfies never;
  }
}

/** How platforms read kept files. */
export function readerOf(media: Media): MediaReader {
  return {
    async open({ name }) {
      const opened = await media.open(name);
      if (!opened) throw new MediaError('missing', 'The file is not kept any more');
      return opened.stream;
    },
    link: ({ name }, title) =>
      media.link(name, { downloadName: safeFileName(title, extname(name).slice(1)) }),
  };
}
