/** Measures the bot's resident memory. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Studio } from '../../src/emulator/studio/studio.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { atMost, type Row } from './measure.ts';
import { stream } from './streaming.ts';
import { startWorld } from './world.ts';

const SETTLED_MS = 3_000;
const ANSWERS = { count: 50, words: 3_000, perSecond: 100 } as const;
const FILES = { count: 20, bytes: 8_000_000 } as const;

export const memory: Row = async () => [
  atMost(200, 'MB', 'idle on both chats', await idle()),
  atMost(450, 'MB', '50 long answers at once, peak', await answers()),
  atMost(250, 'MB', '20 files of 8 MB at once, peak', await files()),
];

async function idle(): Promise<number> {
  await using world = await startWorld();
  // The first start fills Node's compile cache. Later starts are measured.
  await (await world.startBot())[Symbol.asyncDispose]();
  await using bot = await world.startBot();
  await sleep(SETTLED_MS);
  return (await bot.used()).rssMb;
}

async function answers(): Promise<number> {
  await using world = await startWorld();
  await using bot = await world.startBot({ CONCURRENCY: `ask=${ANSWERS.count}` });
  await Promise.all(
    Array.from({ length: ANSWERS.count }, (_, index) => {
      void stream(world, ANSWERS.words, ANSWERS.perSecond);
      return world.chats[index % world.chats.length]?.ask();
    }),
  );
  return (await bot.used()).peakMb;
}

async function files(): Promise<number> {
  await using world = await startWorld({ studio: largeVideos() });
  await using bot = await world.startBot({ CONCURRENCY: `video=${FILES.count}` });
  await Promise.all(
    Array.from({ length: FILES.count }, (_, index) => {
      const user = world.discord.world.addUser(`person${index}`);
      const options = { prompt: `film ${index}` };
      return world.discord
        .command({ name: 'video', options, user })
        .message(({ attachments }) => attachments.some(({ bytes }) => bytes.length >= FILES.bytes));
    }),
  );
  return (await bot.used()).peakMb;
}

/** Pads videos with a box that players skip: https://www.iana.org/assignments/media-types/video/mp4 */
function largeVideos(): Studio {
  const studio = createSampleStudio();
  const box = Buffer.alloc(FILES.bytes);
  box.writeUInt32BE(box.length);
  box.write('free', 4, 'latin1');
  return {
    ...studio,
    async produce(...commission) {
      const pieces = await studio.produce(...commission);
      return pieces.map((piece) => ({ ...piece, bytes: Uint8Array.from(Buffer.concat([piece.bytes, box])) }));
    },
  };
}
