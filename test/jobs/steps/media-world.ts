import { onTestFinished } from 'vitest';
import type { Address } from '../../../src/core/invocation.ts';
import type { Message } from '../../../src/core/message.ts';
import type { JobDependencies } from '../../../src/jobs/dependencies.ts';
import { MediaError } from '../../../src/media/errors.ts';
import { createMedia, type Media } from '../../../src/media/media.ts';
import type { MediaStore } from '../../../src/media/store/media-store.ts';
import type { PostState, ShowOptions } from '../../../src/platforms/platform.ts';
import { samples } from '../../fixtures/media-samples.ts';
import { bytesOf, fetcherFor, listen, mp3 } from '../../media/helpers.ts';
import { RecordingPlatform } from '../recording-platform.ts';
import { advanceOnce, createWorld, songCallback, type World } from '../world.ts';

/** A platform that reads every file it posts, as an upload does. */
export class UploadingPlatform extends RecordingPlatform {
  /** Reads the files of a message. */
  rejectFiles: (() => Error) | undefined;
  readonly #media: Media;

  constructor(media: Media) {
    super();
    this.#media = media;
  }

  override async show(address: Address, message: Message, options: ShowOptions): Promise<PostState> {
    const files = (message.media ?? []).flatMap(({ source }) =>
      source.type === 'stored' ? [source.file] : [],
    );
    if (files.length > 0 && this.rejectFiles) throw this.rejectFiles();
    for (const { name } of files) {
      const opened = await this.#media.open(name);
      if (opened === undefined) throw new MediaError('missing', 'The file is no longer available');
      await bytesOf(opened.stream);
    }
    return super.show(address, message, options);
  }
}

export interface MediaWorld extends World {
  readonly media: Media;
  readonly platform: UploadingPlatform;
  readonly dependencies: JobDependencies;
  /** The gateway's file server. */
  readonly origin: string;
  /** Responses of the gateway's file server, by path. */
  readonly served: Map<string, Buffer>;
  /** Status for every other path. */
  readonly absent: { status: number };
  /** The callback of the finished song, with files on the server of this test. */
  readonly complete: object;
  /** Delivers a first take before the song is complete. */
  readonly first: object;
  /** Advances the job up to this many times, whenever it is due; stops when nothing is left to do. */
  advanceTimes(job: string, times: number): Promise<void>;
  shown(): Message;
}

/** Jobs with real media: a real fetcher, a real file server, and the store of the test. */
export async function createMediaWorld(store: MediaStore): Promise<MediaWorld> {
  const world = await createWorld();
  onTestFinished(() => world[Symbol.asyncDispose]());
  const served = new Map<string, Buffer>([
    ['/one.mp3', mp3(100)],
    ['/two.mp3', mp3(200)],
    ['/cover.png', samples.png],
  ]);
  const absent = { status: 404 };
  const { origin } = await listen((request, response) => {
    const file = served.get(request.url ?? '');
    if (file) response.end(file);
    else response.writeHead(absent.status).end();
  });
  const media = createMedia({
    store,
    fetcher: fetcherFor(),
    publicUrl: 'https://bot.example',
    secrets: ['secret'],
    linkTtlSeconds: 3600,
    now: world.clock.now,
    log: world.log,
  });
  onTestFinished(() => media.close());
  const platform = new UploadingPlatform(media);
  const dependencies: JobDependencies = {
    ...world.dependencies,
    media,
    platform: () => platform,
    fileUrl: ({ name }, downloadName) => media.link(name, { downloadName }),
  };
  const withLocalFiles = (callback: object): object =>
    JSON.parse(JSON.stringify(callback).replaceAll('https://gateway.example', origin));
  const run = (job: string) => advanceOnce(dependencies, job);
  return {
    ...world,
    media,
    platform,
    dependencies,
    served,
    absent,
    origin,
    advance: run,
    complete: withLocalFiles(songCallback('complete')),
    first: withLocalFiles(songCallback('first')),
    async advanceTimes(job, times) {
      for (let time = 0; time < times; time += 1) {
        const next = await run(job);
        if (next === undefined) return;
        world.clock.advance(Math.max(0, next - world.clock.now()));
      }
    },
    shown() {
      const message = [...platform.shown.values()].at(-1);
      if (!message) throw new TypeError('The channel is empty');
      return message;
    },
  };
}
