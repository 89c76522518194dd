/** Measures how long hostile answers of 200 kB block the bot's event loop. */
import { setTimeout as sleep } from 'node:timers/promises';
import { hostileTexts } from '../hostile-texts.ts';
import { chatStream, events } from '../jobs/ask/upstream.ts';
import { atMost, type Figure, type Row } from './measure.ts';
import { type BenchWorld, type Chat, startWorld } from './world.ts';

const LENGTH = 200_000;
/** The size of a piece from a fast gateway. */
const PIECE = 1_000;
/** Concurrent answers; each blocks the loop separately. */
const TOGETHER = 4;
/** The file with the full text may arrive after the message. */
const SETTLED_MS = 2_000;

export const longText: Row = async () => {
  await using world = await startWorld();
  await using bot = await world.startBot();
  bot.watchLoop();
  const figures: Figure[] = [];
  for (const chat of world.chats) {
    await answer(world, chat, 'word '.repeat(LENGTH / 5));
    await bot.used();
    const texts = [...hostileTexts(LENGTH)].map(({ text }) => text);
    for (let first = 0; first < texts.length; first += TOGETHER)
      await Promise.all(texts.slice(first, first + TOGETHER).map((text) => answer(world, chat, text)));
    await sleep(SETTLED_MS);
    const { longestMs } = await bot.used();
    figures.push(atMost(100, 'ms', `${chat.name}, answers of 200 kB, longest block`, longestMs));
  }
  return figures;
};

async function answer({ gateway }: BenchWorld, chat: Chat, text: string): Promise<void> {
  const pieces = Array.from({ length: Math.ceil(text.length / PIECE) }, (_, index) =>
    text.slice(index * PIECE, (index + 1) * PIECE),
  );
  gateway.next('/chat/completions', (response) => void events(response).end(chatStream(pieces)));
  await chat.ask();
}
