import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { assemble, type Minstrel } from '../../src/app/assemble.ts';
import { readConfig } from '../../src/app/config/read.ts';
import { platformsFor } from '../../src/app/platforms.ts';
import { systemOf } from '../../src/app/system.ts';
import type { Log } from '../../src/core/telemetry/log.ts';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import type { Platform } from '../../src/platforms/platform.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { RecordingLog } from '../storage/recording-log.ts';

/**
 * The acknowledgement deadline in milliseconds for tests about other things, so that a slow machine does not fail them. The
 * adapters' tests cover the real three seconds. Shorter than the five minutes after which a request from Slack is too old.
 */
export const PATIENCE_MS = 60_000;

export interface RunningMinstrel extends AsyncDisposable {
  readonly minstrel: Minstrel;
  readonly emulator: Emulator;
  readonly log: RecordingLog;
}

export interface StartOptions {
  /** Scales the emulator's delays. Default: no delays. */
  readonly speed?: number;
  readonly songSeconds?: number;
  /** Default: {@link RunningMinstrel.log}. */
  readonly writeTo?: Log;
  /** A gateway that outlives the bot; the caller closes it. */
  readonly emulator?: Emulator;
  /** False if the settings name other services. The emulator then has nothing to do. */
  readonly gateway?: false;
  /** Replaces the platforms in the settings. */
  readonly platforms?: readonly Platform[];
  readonly now?: () => number;
  /** Speeds up waits for the chats, such as between edits or after Retry-After. */
  readonly pace?: number;
}

/**
 * Runs the whole bot in this process, with the emulator as an external gateway. A DATA_DIR in the environment is not deleted.
 */
export async function startMinstrel(
  environment: Record<string, string>,
  options: StartOptions = {},
): Promise<RunningMinstrel> {
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-test-'));
  const { speed = 0, songSeconds = 3, pace = 1 } = options;
  const emulator =
    options.emulator ?? (await startEmulator({ speed, songSeconds, studio: createSampleStudio() }));
  const log = new RecordingLog();
  const allowed = [new URL(emulator.url).host, ...(environment.MEDIA_ALLOWED_HOSTS?.split(',') ?? [])];
  const config = readConfig({
    PORT: '0',
    DATA_DIR: directory,
    ...(options.gateway === undefined && {
      GATEWAY_BASE_URL: emulator.url,
      GATEWAY_API_KEY: emulator.apiKey,
      ASK_MODEL: 'chat:chat-small',
      IMAGE_MODEL: 'canvas-plus',
      VIDEO_MODEL: 'reel-standard',
    }),
    ...environment,
    MEDIA_ALLOWED_HOSTS: allowed.join(','),
  });
  const minstrel = await assemble({
    ...systemOf(options.writeTo ?? log),
    ...(options.now && { now: options.now }),
    config,
    platforms: (tools) => {
      const paced = {
        ...tools,
        patienceMs: PATIENCE_MS,
        elapsed: () => tools.elapsed() * pace,
        sleep: (ms: number, signal?: AbortSignal) => tools.sleep(ms / pace, signal),
      };
      return options.platforms ?? platformsFor(config, paced);
    },
  });
  return {
    minstrel,
    emulator,
    log,
    async [Symbol.asyncDispose]() {
      await minstrel.stop();
      if (!options.emulator) await emulator.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

/** Fetches every file that the emulator named in its callbacks and answers under the given keys. */
export async function filesOf(body: string, key: RegExp): Promise<Buffer[]> {
  const urls = [...body.matchAll(/"(\w+)":"(http[^"]+)"/g)].flatMap(([, name = '', url = '']) =>
    key.test(name) ? [url] : [],
  );
  return Promise.all(
    [...new Set(urls)].map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
  );
}
