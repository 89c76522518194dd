import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../src/emulator/server.ts';
import { writeOggOpus } from '../../src/media/opus/ogg.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { startDiscord } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { PROGRAM_ENVIRONMENT, PROJECT } from '../servers/program.ts';
import { CERTIFICATE } from '../servers/voice/certificate.ts';
import { startVoiceServer } from '../servers/voice/server.ts';

const PACKETS = 1_500;
/** A second, in packets. */
const SECOND = 50;

/** A song whose packets tell which they are. */
function numbered(): Buffer {
  const packets = Array.from({ length: PACKETS }, (_, n) =>
    Buffer.from(`\xfc${n} ${'.'.repeat(40)}`, 'latin1'),
  );
  return Buffer.concat([...writeOggOpus(packets, { preSkip: 312, samples: PACKETS * 960, channels: 2 })]);
}

const numberOf = (packet: Buffer | undefined): number =>
  Number.parseInt(packet?.subarray(1).toString('latin1') ?? '', 10);

it('killed in the middle of a song, or stopped, the next process goes on at the second where it was', async () => {
  const [discord, voice, directory] = await Promise.all([
    startDiscord(),
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
  const environment = {
    ...PROGRAM_ENVIRONMENT,
    NODE_EXTRA_CA_CERTS: certificate,
    PORT: String(await freePort()),
    DATA_DIR: directory,
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    MEDIA_ALLOWED_HOSTS: [new URL(emulator.url).host, new URL(discord.origin).host].join(','),
  };
  const bots: ChildProcess[] = [];
  const start = () =>
    bots.push(spawn(process.execPath, ['src/main.ts'], { cwd: PROJECT, env: environment, stdio: 'ignore' }));
  const end = async (signal: 'SIGKILL' | 'SIGTERM') => {
    const bot = bots.at(-1);
    if (!bot || bot.exitCode !== null || bot.signalCode !== null) return;
    const ended = once(bot, 'exit');
    bot.kill(signal);
    await ended;
  };
  onTestFinished(async () => {
    await end('SIGKILL');
    await Promise.all([emulator.close(), voice.close(), discord.close()]);
    await rm(directory, { recursive: true, force: true });
  });

  start();
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain', title: 'Rain' } });
  const card = await song.message(({ attachments }) => attachments.length >= 2);
  discord.voice.join(discord.user, lounge);
  const call = voice.call(lounge.id);
  discord.press('Play here take 1', card);
  await voice.until(() => call.heard.length > 5, 'sound');
  const kept = (await readdir(join(directory, 'media'))).find((name) => name.endsWith('.opus'));
  await writeFile(join(directory, 'media', kept ?? ''), numbered());
  const heard = () => call.heard.map(numberOf).filter((number) => !Number.isNaN(number));
  // The same song again: it is not made anew.
  discord.command({ name: 'party loop', options: { what: 'queue' } });
  discord.command({ name: 'party skip' });
  await voice.until(() => heard().length > 3 * SECOND, 'the numbered song');

  await end('SIGKILL');
  const killedAt = heard().at(-1) ?? 0;
  const before = heard().length;
  start();
  await voice.until(() => heard().length > before + SECOND, 'sound after the crash');
  expect(Math.abs((heard()[before] ?? 0) - killedAt)).toBeLessThanOrEqual(SECOND);

  await end('SIGTERM');
  const stoppedAt = heard().at(-1) ?? 0;
  const then = heard().length;
  start();
  await voice.until(() => heard().length > then + SECOND, 'sound after the restart');
  expect(Math.abs((heard()[then] ?? 0) - stoppedAt)).toBeLessThanOrEqual(SECOND / 10);
  // One message tells of it all.
  expect(
    discord.said().filter(({ components }) => JSON.stringify(components).includes('party.pause')),
  ).toHaveLength(1);
  expect(voice.mistakes).toEqual([]);
});
