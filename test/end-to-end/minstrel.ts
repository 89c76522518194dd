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
 * How long the strict platforms wait for an acknowledgement, in milliseconds, where a test is about something else: a slow
 * machine is no failure. Their own three seconds are tested with their adapters. Less than the five minutes that a request of
 * Slack can be on its way, so that one can come too late.
 */
export const PATIENCE_MS = 60_000;

export interface RunningMinstrel extends AsyncDisposable {
  readonly minstrel: Minstrel;
  readonly emulator: Emulator;
  readonly log: RecordingLog;
}

export interface StartOptions {
  /** Scales the emulator's delays; at once unless said. */
  readonly speed?: number;
  readonly songSeconds?: number;
  /** Where the bot writes its log; {@link RunningMinstrel.log} unless said. */
  readonly writeTo?: Log;
  /** A gateway that goes on when the bot ends; its owner closes it. */
  readonly emulator?: Emulator;
  /** Instead of those that the settings name. */
  readonly platforms?: readonly Platform[];
  readonly now?: () => number;
  /** How many times faster the chats' own waits pass, such as between two edits or after a Retry-After. */
  readonly pace?: number;
}

/**
 * The whole bot in this process, with the emulator as a gateway that it knows only by its address. A DATA_DIR in the
 * environment outlives it.
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
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
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

/** The bytes of every file that the emulator named in its callbacks and answers, by the word in front of its URL. */
export async function filesOf(body: string, key: RegExp): Promise<Buffer[]> {
  const urls = [...body.matchAll(/"(\w+)":"(http[^"]+)"/g)].flatMap(([, name = '', url = '']) =>
    key.test(name) ? [url] : [],
  );
  return Promise.all(
    [...new Set(urls)].map(async (url) => Buffer.from(await (await fetch(url)).arrayBuffer())),
  );
}
