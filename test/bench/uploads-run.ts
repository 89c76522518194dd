/** One candidate of P10: brings files from the gateway into channels of Discord, all at once, and tells what that took. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { request } from 'undici';
import { z } from 'zod';
import { readConfig } from '../../src/app/config/config.ts';
import { openMedia, readerOf } from '../../src/app/services.ts';
import { createDiscord } from '../../src/platforms/discord/adapter.ts';
import { alone } from '../platforms/discord/harness.ts';
import { RecordingLog } from '../storage/recording-log.ts';
import { cpuSeconds } from './measure.ts';
import { programInput, tell } from './program.ts';

const { candidate, url, folder, files, bytes } = programInput(
  z.object({
    candidate: z.enum(['product', 'bare', 'bare kept']),
    url: z.url(),
    folder: z.string(),
    files: z.int(),
    bytes: z.int(),
  }),
);
const WARM_UP = 3;
const FILE_NAME = 'film.mp4';

/** Media and Discord as the settings open them; nothing else of the bot. */
async function product() {
  const tools = { log: new RecordingLog(), now: Date.now, random: Math.random };
  const { host } = new URL(url);
  const config = readConfig({ DATA_DIR: folder, MEDIA_ALLOWED_HOSTS: host });
  const secrets = ['a secret of the bench'];
  const media = await openMedia(config, { ...tools, publicUrl: url, listenerUrl: url, secrets });
  const discord = createDiscord({
    ...tools,
    token: 'token',
    apiUrl: `${url}/api`,
    media: readerOf(media),
    withLock: alone,
  });
  return async (index: number) => {
    const file = await media.keep(`${url}/file/${index}`, { kinds: ['video'], from: 'gateway' });
    const channel = String(10 ** 17 + index);
    const message = {
      media: [{ kind: 'video', name: FILE_NAME, source: { type: 'kept', file } }],
    } as const;
    const address = { platform: 'discord', channel, person: '1' };
    await discord.show(address, message, { key: randomUUID().slice(0, 20), remember: async () => {} });
  };
}

/** Only what cannot be avoided: the bytes go on as they come. */
async function bare(index: number): Promise<void> {
  const { body } = await request(`${url}/file/${index}`);
  await post(index, body);
}

/** The same with what a bot that must not lose a file does first: the whole file is on the disk, under its hash. */
async function bareKept(index: number): Promise<void> {
  const { body } = await request(`${url}/file/${index}`);
  const path = join(folder, String(index));
  const hash = createHash('sha256');
  await pipeline(
    body,
    async function* (chunks: AsyncIterable<Buffer>) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(path, { flush: true }),
  );
  hash.digest('hex');
  await post(index, createReadStream(path));
}

async function post(index: number, file: AsyncIterable<Buffer>): Promise<void> {
  const boundary = randomUUID();
  const head = Buffer.from(
    `--${boundary}\r\ncontent-disposition: form-data; name="files[0]"; filename="${FILE_NAME}"\r\ncontent-type: video/mp4\r\n\r\n`,
  );
  const tail = Buffer.from(`\r\n--${boundary}--\r\n`);
  const answer = await request(`${url}/api/v10/channels/${10 ** 17 + index}/messages`, {
    method: 'POST',
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(head.length + bytes + tail.length),
    },
    body: Readable.from(multipart(head, file, tail), { objectMode: false }),
  });
  await answer.body.dump();
}

async function* multipart(head: Buffer, file: AsyncIterable<Buffer>, tail: Buffer) {
  yield head;
  yield* file;
  yield tail;
}

async function open(): Promise<(index: number) => Promise<void>> {
  switch (candidate) {
    case 'product':
      return product();
    case 'bare':
      return bare;
    case 'bare kept':
      return bareKept;
    default:
      return candidate satisfies never;
  }
}

const bring = await open();
const all = async (first: number, count: number) => {
  await Promise.all(Array.from({ length: count }, (_, index) => bring(first + index)));
};
await all(0, WARM_UP);
const before = process.cpuUsage();
const began = performance.now();
await all(WARM_UP, files);
const seconds = (performance.now() - began) / 1_000;
tell({
  mbPerSecond: (files * bytes) / 1_000_000 / seconds,
  cpuSeconds: cpuSeconds(before),
  // Kibibytes: https://nodejs.org/api/process.html#processresourceusage
  peakMb: (process.resourceUsage().maxRSS * 1_024) / 1_000_000,
  files: WARM_UP + files,
});
process.exit();
