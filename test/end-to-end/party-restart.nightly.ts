import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { startEmulator } from '../../src/emulator/server.ts';
import { writePackets } from '../../src/media/opus/packets.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { PROGRAM_ENVIRONMENT, PROJECT, whileRuns } from '../servers/program.ts';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { CERTIFICATE, trustLocalVoice } from '../servers/voice/certificate.ts';
import { startVoiceServer } from '../servers/voice/server.ts';
import { PATIENCE_MS, startMinstrel } from './minstrel.ts';

const PACKETS = 1_500;
/** Packets per second. */
const SECOND = 50;

/** A song whose packets contain their number. */
async function numbered(): Promise<Buffer> {
  const packets = Array.from({ length: PACKETS }, (_, n) =>
    Buffer.from(`\xfc${n} ${'.'.repeat(40)}`, 'latin1'),
  );
  return Buffer.concat(await Array.fromAsync(writePackets(packets)));
}

const numberOf = (packet: Buffer | undefined): number =>
  Number.parseInt(packet?.subarray(1).toString('latin1') ?? '', 10);

/** A Discord with a song that the bot's processes play in Lounge. A listener reads the packet numbers. */
async function startWorld(settings: Readonly<Record<string, string>> = {}) {
  const [discord, voice, directory] = await Promise.all([
    startDiscord({ responseDeadlineMs: PATIENCE_MS }),
    startVoiceServer(),
    mkdtemp(join(tmpdir(), 'minstrel-party-')),
  ]);
  const emulator = await startEmulator({
    speed: 0,
    songSeconds: 30,
    studio: createSampleStudio(),
    callbackTimeoutSeconds: 600,
  });
  discord.voice.server = voice;
  const lounge = discord.world.addChannel('Lounge', { guildId: discord.guild.id, type: 2 });
  const certificate = join(directory, 'certificate.pem');
  await writeFile(certificate, CERTIFICATE);
  trustLocalVoice();
  const environment = {
    DATA_DIR: directory,
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: [new URL(emulator.url).host, new URL(discord.origin).host].join(','),
    ...settings,
  };
  const call = voice.call(lounge.id);
  const receivedNumbers = () => call.decrypted.map(numberOf).filter((number) => !Number.isNaN(number));
  const closing = new AsyncDisposableStack();
  closing.defer(() => rm(directory, { recursive: true, force: true }));
  for (const server of [discord, voice, emulator]) closing.defer(() => server.close());

  return {
    discord,
    voice,
    decrypted: receivedNumbers,

    /** Starts a bot process. Resolves to a function that ends it, once the bot listens. */
    async start() {
      const port = await freePort();
      const env = {
        ...PROGRAM_ENVIRONMENT,
        ...environment,
        NODE_EXTRA_CA_CERTS: certificate,
        PORT: String(port),
      };
      const bot = spawn(process.execPath, ['src/main.ts'], { cwd: PROJECT, env, stdio: 'ignore' });
      const exited = once(bot, 'exit');
      const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
        bot.kill(signal);
        await exited;
      };
      closing.defer(() => end('SIGKILL'));
      const isUp = () =>
        fetch(`http://127.0.0.1:${port}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        );
      await whileRuns(bot, expect.poll(isUp).toBe(true));
      return end;
    },

    /** Starts the bot in this process, which is a second faster if nothing kills it. */
    async startHere() {
      closing.use(await startMinstrel(environment, { emulator }));
    },

    /** Resolves after one second of the numbered song. */
    async play() {
      await discord.until(() => discord.commands.length > 0, 'registered commands');
      const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain', title: 'Rain' } });
      const card = await song.message(({ attachments }) => attachments.length >= 2);
      discord.voice.join(discord.user, lounge);
      discord.press('Play 1 in voice', card);
      await voice.until(() => call.decrypted.length > 5, 'sound');
      const packetFile = (await readdir(join(directory, 'media'))).find((name) => name.endsWith('.packets'));
      await writeFile(join(directory, 'media', packetFile ?? ''), await numbered());
      // Playing the same song again does not encode it again.
      discord.command({ name: 'party loop', options: { what: 'queue' } });
      discord.command({ name: 'party skip' });
      await voice.until(() => receivedNumbers().length > SECOND, 'the numbered song');
    },

    /** Resolves when the sound resumes, to the lengths of the silence and of the skipped part, in packets. */
    async gap() {
      const since = performance.now();
      const before = receivedNumbers();
      await voice.until(() => receivedNumbers().length > before.length, 'sound after the interruption');
      const silence = ((performance.now() - since) / 1000) * SECOND;
      await voice.until(() => receivedNumbers().length > before.length + SECOND, 'a second of it');
      return { silence, skipped: (receivedNumbers()[before.length] ?? 0) - (before.at(-1) ?? 0) };
    },

    [Symbol.asyncDispose]: () => closing.disposeAsync(),
  };
}

const panels = (discord: DiscordServer) =>
  discord.botMessages().filter(({ components }) => JSON.stringify(components).includes('party.pause'));

it.concurrent('a song resumes at its position after a stop, and as if it had kept playing after a kill', async ({
  expect,
}) => {
  await using world = await startWorld();
  const { discord, voice } = world;
  const killed = await world.start();
  await world.play();
  await killed('SIGKILL');
  const afterKill = world.gap();
  const stopped = await world.start();
  const { silence, skipped } = await afterKill;
  expect(Math.abs(skipped - silence)).toBeLessThanOrEqual(SECOND);
  await stopped('SIGTERM');
  const afterStop = world.gap();
  await world.startHere();
  expect(Math.abs((await afterStop).skipped)).toBeLessThanOrEqual(SECOND / 10);
  // All of it is shown in one message.
  expect(panels(discord)).toHaveLength(1);
  expect(voice.mistakes).toEqual([]);
});

it.runIf(noRedis === undefined).concurrent(
  'a second process on Redis takes over after a kill as if the song had kept playing',
  async ({ expect, onTestFinished }) => {
    const redis = await startRedisServer();
    onTestFinished(() => redis.dispose());
    await using world = await startWorld({ REDIS_URL: redis.url });
    const { discord, voice } = world;
    const kill = await world.start();
    await discord.until(() => discord.gateway.connected === 1, 'the shard');
    await world.startHere();
    await world.play();
    await kill('SIGKILL');
    const { silence, skipped } = await world.gap();
    expect(Math.abs(skipped - silence)).toBeLessThanOrEqual(SECOND);
    expect(panels(discord)).toHaveLength(1);
    expect(voice.mistakes).toEqual([]);
  },
);
