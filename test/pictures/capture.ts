/** Captures the bot's messages on the strict local chats, and its output in a terminal. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { assemble } from '../../src/app/assemble.ts';
import { readConfig } from '../../src/app/config/read.ts';
import { systemOf } from '../../src/app/system.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { createTerminal, type Terminal } from '../../src/platforms/terminal/adapter.ts';
import { PATIENCE_MS, startMinstrel } from '../end-to-end/minstrel.ts';
import { type StoredMessage, startDiscord } from '../servers/discord/index.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { RecordingLog } from '../storage/recording-log.ts';

const PROMPT = 'a tune for evening rain';
const STYLE = 'lofi, soft piano';
const QUESTION = 'Write a haiku about rain';
const CHANNEL = 'C0MUSIC';
/** Short, because the song is stored in the repository. */
const SONG_SECONDS = 8;
/** The width of the terminal. */
const COLUMNS = 92;

export type SlackMessage = ReturnType<SlackServer['botMessages']>[number];

export interface Captured {
  readonly discord: readonly StoredMessage[];
  /** A short instrumental. */
  readonly song: Uint8Array;
  readonly slack: readonly SlackMessage[];
  /** Returns the bytes of a Slack file by its id. */
  readonly slackFile: (id: string) => Uint8Array | undefined;
  /** Includes escape sequences for colours. */
  readonly terminal: string;
}

/** Sends the same requests on each platform. The emulator provides real sounds and images. */
export async function capture(): Promise<Captured> {
  const emulator = await startEmulator({ speed: 0.05 });
  try {
    const discord = await captureDiscord(emulator);
    const { slack, slackFile } = await captureSlack(emulator);
    return { discord, song: await captureSong(), slack, slackFile, terminal: await captureTerminal() };
  } finally {
    await emulator.close();
  }
}

type Emulator = Awaited<ReturnType<typeof startEmulator>>;

async function captureDiscord(emulator: Emulator): Promise<StoredMessage[]> {
  const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  try {
    const bot = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
    await using _running = await startMinstrel(bot, { emulator });
    await discord.until(() => discord.commands.length > 0, 'registered commands');
    const interaction = discord.command({ name: 'song', options: { prompt: PROMPT, style: STYLE } });
    await interaction.message(({ attachments }) => attachments.length >= 3);
    const answer = discord.command({ name: 'ask', options: { question: QUESTION } });
    await answer.message(({ components }) => JSON.stringify(components).includes('Again'));
    return discord.botMessages();
  } finally {
    await discord.close();
  }
}

async function captureSong(): Promise<Uint8Array> {
  const emulator = await startEmulator({ speed: 0.05, songSeconds: SONG_SECONDS });
  const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  try {
    const bot = { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl };
    await using _running = await startMinstrel(bot, { emulator });
    await discord.until(() => discord.commands.length > 0, 'registered commands');
    const interaction = discord.command({ name: 'song', options: { prompt: PROMPT, instrumental: true } });
    const { attachments } = await interaction.message(({ attachments }) => attachments.length >= 3);
    const song = attachments.find(({ contentType }) => contentType === 'audio/mpeg');
    if (song === undefined) throw new TypeError('Discord was given no song');
    return song.bytes;
  } finally {
    await emulator.close();
    await discord.close();
  }
}

async function captureSlack(emulator: Emulator): Promise<Pick<Captured, 'slack' | 'slackFile'>> {
  const slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  try {
    const bot = {
      ...slack.environment,
    };
    await using _running = await startMinstrel(bot, { emulator });
    await slack.slash('/song', `${PROMPT} --style ${STYLE}`);
    await slack.until(() => JSON.stringify(slack.botMessages(CHANNEL)).includes('Again'));
    await slack.slash('/ask', QUESTION);
    await slack.until(() => JSON.stringify(slack.botMessages(CHANNEL)).includes('ask.again'));
    return {
      slack: slack.botMessages(CHANNEL),
      slackFile: (id) => slack.workspace.files.get(id)?.bytes,
    };
  } finally {
    await slack.close();
  }
}

async function captureTerminal(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-pictures-'));
  const log = new RecordingLog();
  let shown = '';
  const paper = new Writable({
    write(chunk, _encoding, callback) {
      shown += chunk;
      callback();
    },
  });
  const output = Object.assign(paper, { isTTY: true, columns: COLUMNS });
  let terminal: Terminal | undefined;
  const minstrel = await assemble({
    config: readConfig({ PORT: '0', DATA_DIR: directory }),
    ...systemOf(log),
    emulatorOptions: { speed: 0.05 },
    platforms: ({ media, newId }) => {
      const folder = join(directory, 'minstrel-files');
      terminal = createTerminal({ output, folder, media, withoutLinks: true, newId });
      return [terminal];
    },
  });
  try {
    for (const line of [`/song ${PROMPT} --style ${STYLE}`, `/ask ${QUESTION}`]) {
      terminal?.announce(`\n› ${line}`);
      const ran = await terminal?.run(line);
      if (typeof ran !== 'object') throw new TypeError(`${line} began no job`);
      while (!/^(?:delivered|failed)$/.test((await minstrel.job(ran.job))?.state ?? '')) await delay(25);
    }
  } finally {
    await minstrel.stop();
    await rm(directory, { recursive: true, force: true });
  }
  return shown.replaceAll(`${directory}/`, '');
}
