import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { readPackets } from '../../../src/media/opus/packets.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import { PROGRAM_ENVIRONMENT, whileRuns } from '../../servers/program.ts';
import { chunks, temporaryFolder } from '../helpers.ts';

/** The longest audio in the fewest bytes: MPEG-2 layer III at 8 kbit/s and 24 kHz, 576 samples in 24 bytes. */
const FRAME = Buffer.concat([Buffer.from([0xff, 0xf3, 0x14, 0x00]), Buffer.alloc(20)]);
const FRAME_SECONDS = 0.024;
const MEBIBYTE = 1024 * 1024;

const silence = (seconds: number) => Buffer.alloc(Math.round(seconds / FRAME_SECONDS) * FRAME.length, FRAME);

it('a song of four minutes is encoded completely in less than 100 MiB', async () => {
  const directory = await temporaryFolder();
  const store = await createFolderStore({ directory, now: Date.now });
  const { name } = await store.put(chunks(silence(240)), { extension: 'mp3' });
  const script = fileURLToPath(new URL('./memory-process.ts', import.meta.url));
  const program = fork(script, [directory, name], { env: PROGRAM_ENVIRONMENT });
  const exit = once(program, 'exit');
  const [{ opus, addedBytes }] = await whileRuns(program, once(program, 'message'));
  await exit;
  expect(addedBytes).toBeLessThan(100 * MEBIBYTE);
  const opened = await store.open(opus.name);
  const packets = await Array.fromAsync(readPackets(opened?.stream ?? chunks()));
  expect(Math.abs(packets.length - 240 * 50)).toBeLessThan(8);
  await store.close();
}, 120_000);
