import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { PROGRAM_ENVIRONMENT } from '../../servers/program.ts';
import { listen, mp3, temporaryFolder } from '../helpers.ts';
import { startBucket } from '../store/bucket.ts';

const mebibyte = 1024 * 1024;
const part = Buffer.concat([mp3(1), Buffer.alloc(256 * 1024, 0x55)]);

/** Sends the number of bytes in its path. The second number makes them unique. */
async function startOrigin(): Promise<string> {
  const { origin } = await listen(async (request, response) => {
    const [, size, seed] = (request.url ?? '').split('/').map(Number);
    let left = size ?? 0;
    response.setHeader('content-length', left);
    const first = Buffer.from(part);
    first.writeUInt32BE(seed ?? 0, 500);
    for (let next = first; left > 0; next = part) {
      const piece = next.subarray(0, left);
      left -= piece.length;
      if (!response.write(piece)) await once(response, 'drain');
    }
    response.end();
  });
  return origin;
}

let origin: string;
let bot: ChildProcess;

async function startBot(store: 'folder' | 'bucket'): Promise<void> {
  origin = await startOrigin();
  const directory = await temporaryFolder();
  const script = fileURLToPath(new URL('./large-file-process.ts', import.meta.url));
  const bucket = store === 'bucket' ? [String(await startBucket('media'))] : [];
  bot = fork(script, [directory, ...bucket], {
    env: PROGRAM_ENVIRONMENT,
    execArgv: ['--expose-gc'],
  });
  onTestFinished(async () => {
    if (bot.exitCode !== null || bot.signalCode !== null) return;
    bot.disconnect();
    await once(bot, 'exit');
  });
  await once(bot, 'message');
}

async function ask<Answer>(message: object | string): Promise<Answer> {
  const answer = once(bot, 'message');
  bot.send(message);
  // Each message has one answer (large-file-process.ts).
  return (await answer)[0] as Answer;
}

/** Fetches and stores the files, then reads all of them at once. */
async function fetchKeepAndServe(files: number, bytes: number, firstSeed: number): Promise<number[]> {
  const urls = Array.from({ length: files }, (_, index) => `${origin}/${bytes}/${firstSeed + index}`);
  const { links } = await ask<{ links: string[] }>({ urls });
  return Promise.all(
    links.map(async (link) => {
      const response = await fetch(link);
      let received = 0;
      for await (const chunk of response.body ?? []) received += chunk.length;
      return received;
    }),
  );
}

test.each([
  { files: 1, each: 100, store: 'folder' },
  { files: 10, each: 12, store: 'folder' },
  { files: 1, each: 80, store: 'bucket' },
] as const)(
  '$files of $each MiB go through fetch, keep ($store) and serve in under 64 MiB of memory',
  async (size) => {
    const { files, each, store } = size;
    await startBot(store);
    // The first files load code and fill pools that stay in memory.
    await fetchKeepAndServe(8, 4 * mebibyte, 1000);
    await ask('measure');
    const received = await fetchKeepAndServe(files, each * mebibyte, 1);
    const { addedBytes } = await ask<{ addedBytes: number }>('report');
    expect(received).toEqual(Array.from({ length: files }, () => each * mebibyte));
    expect(addedBytes).toBeLessThan(64 * mebibyte);
  },
  300_000,
);
