/**
 * A strict Discord that tells its limits in headers, and a gateway that streams numbered words at a pace. Each line of standard input is
 * a run `{ answers, words }`: so many people ask at once, each in a channel of their own. Tells when each word was said and shown.
 */
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { startEmulator } from '../../src/emulator/server.ts';
import { chatEvent, chatStream, events, startUpstream } from '../jobs/ask/upstream.ts';
import { type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { quantile } from './measure.ts';
import { tell } from './program.ts';

const WORDS_PER_SECOND = 50;
/** Of one interaction, an assumption: Discord documents no figure, and its headers showed five: https://github.com/bwmarrin/discordgo/issues/1384. */
const EDITS = { limit: 5, perMs: 2_000 } as const;

const discord = await startDiscord();
discord.faults.limitEdits(EDITS.limit, EDITS.perMs);
const emulator = await startEmulator({ speed: 0 });
const upstream = await startUpstream();
upstream.gateway = emulator.url;

/** When each word was sent, in milliseconds since the epoch. */
async function say(words: number, write: (event: string) => void): Promise<number[]> {
  const said: number[] = [];
  const begunAt = Date.now();
  while (said.length < words) {
    const due = Math.min(words, Math.floor(((Date.now() - begunAt) / 1_000) * WORDS_PER_SECOND) + 1);
    for (; said.length < due; said.push(Date.now()))
      write(chatEvent(`${sentence(said.length)}w${said.length} `));
    await sleep(1_000 / WORDS_PER_SECOND);
  }
  return said;
}

/** Paragraphs, as models write them. */
const sentence = (word: number): string => (word > 0 && word % 60 === 0 ? '\n\n' : '');

function highestIn({ content, embeds }: StoredMessage['history'][number]): number {
  const shown = `${content} ${embeds.map(({ description }) => description ?? '').join(' ')}`;
  return Math.max(-1, ...[...shown.matchAll(/\bw(\d+)\b/g)].map(([, number]) => Number(number)));
}

async function ask(words: number) {
  const user = discord.world.addUser('Asker');
  const channel = discord.world.addChannel('questions', { guildId: discord.guild.id });
  const over = Promise.withResolvers<number[]>();
  upstream.next('/chat/completions', async (response) => {
    // The progress message is there by now.
    await sleep(500);
    events(response);
    const said = await say(words, (event) => response.write(event));
    response.end(chatStream([]));
    over.resolve(said);
  });
  const handle = discord.command({ name: 'ask', options: { question: 'Why?' }, user, channel });
  // Messages of further pages may be removed in the end.
  const messages = new Set<StoredMessage>();
  let said: number[] | undefined;
  over.promise.then((all) => {
    said = all;
  });
  const isDone = () => JSON.stringify(handle.original?.components ?? []).includes('ask.again');
  while (!isDone()) {
    for (const message of handle.messages) messages.add(message);
    await sleep(50);
  }
  for (const message of handle.messages) messages.add(message);
  const states = [...messages].flatMap(({ history }) => history).toSorted((one, other) => one.at - other.at);
  const all = said ?? (await over.promise);
  let shown = -1;
  const lags: number[] = [];
  for (const state of states) {
    const highest = highestIn(state);
    for (; shown < highest; lags.push(state.at - (all[shown] ?? Number.NaN))) shown += 1;
  }
  const endedAt = states.at(-1)?.at ?? Number.NaN;
  return {
    lags,
    firstMs: lags[0] ?? Number.NaN,
    endMs: endedAt - (all.at(-1) ?? Number.NaN),
    edits: states.length,
  };
}

tell({
  environment: {
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    GATEWAY_BASE_URL: upstream.url,
    GATEWAY_API_KEY: emulator.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
  },
});

const run = z.object({ answers: z.int().positive(), words: z.int().positive() });
for await (const line of createInterface({ input: process.stdin })) {
  const { answers, words } = run.parse(JSON.parse(line));
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const asked = await Promise.all(Array.from({ length: answers }, () => ask(words)));
  const lags = asked.flatMap((one) => one.lags);
  tell({
    lagMs: lags.reduce((sum, lag) => sum + lag, 0) / lags.length,
    firstMs: quantile(
      asked.map(({ firstMs }) => firstMs),
      0.5,
    ),
    worstEndMs: Math.max(...asked.map(({ endMs }) => endMs)),
    edits: asked.reduce((sum, { edits }) => sum + edits, 0),
    refused: discord.refused.length + discord.faults.limited.length,
  });
}
