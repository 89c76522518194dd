import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { type InteractionHandle, startDiscord } from '../servers/discord/index.ts';
import { noRedis, startRedisServer } from '../servers/redis.ts';
import { trustLocalVoice } from '../servers/voice/certificate.ts';
import { startVoiceServer } from '../servers/voice/server.ts';
import { startMinstrel } from './minstrel.ts';

const replyText = async (handle: InteractionHandle) =>
  JSON.stringify(await handle.message(({ embeds, content }) => embeds.length > 0 || content !== ''));

it.runIf(noRedis === undefined)(
  'the connected replica plays, and the other continues after it stops',
  async () => {
    trustLocalVoice();
    const [discord, voice, redis] = await Promise.all([
      startDiscord(),
      startVoiceServer(),
      startRedisServer(),
    ]);
    const emulator = await startEmulator({ speed: 0, songSeconds: 20, studio: createSampleStudio() });
    // A shared folder, so that each song is encoded once.
    const directory = await mkdtemp(join(tmpdir(), 'minstrel-party-'));
    const replicas: Awaited<ReturnType<typeof startMinstrel>>[] = [];
    onTestFinished(async () => {
      for (const replica of replicas) await replica[Symbol.asyncDispose]();
      await Promise.all([emulator.close(), voice.close(), discord.close()]);
      await redis.dispose();
      await rm(directory, { recursive: true, force: true });
    });
    discord.voice.server = voice;
    const lounge = discord.world.addChannel('Lounge', { guildId: discord.guild.id, type: 2 });
    const start = async () => {
      const environment = {
        REDIS_URL: redis.url,
        DATA_DIR: directory,
        DISCORD_TOKEN: discord.token,
        DISCORD_API_URL: discord.apiUrl,
        MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
      };
      const replica = await startMinstrel(environment, { emulator });
      replicas.push(replica);
      return replica;
    };
    const first = await start();
    await discord.until(
      () => discord.gateway.connected === 1 && discord.commands.length > 0,
      'the connection',
    );
    await start();
    const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain', title: 'Rain' } });
    const card = await song.message(({ attachments }) => attachments.length >= 2);
    const guest = discord.world.addUser('Guest');
    expect(await replyText(discord.press('Play 1 in voice', card))).toContain('Join a voice channel first');
    for (const person of [discord.user, guest]) discord.voice.join(person, lounge);
    expect(await replyText(discord.press('Play 1 in voice', card))).toContain('Playing Rain in Lounge');
    const call = voice.call(lounge.id);
    await voice.until(() => call.decrypted.length > 20, 'sound');
    await replyText(discord.command({ name: 'party loop', options: { what: 'song' } }));
    expect(discord.refused).toEqual([]);
    const panel = await discord.until(
      () =>
        discord
          .botMessages()
          .findLast(({ components }) => JSON.stringify(components).includes('party.pause')),
      'the message of the party',
    );
    await replyText(discord.press('Pause', panel));
    await voice.until(() => call.speaking.at(-1)?.is === false, 'silence');
    await replyText(discord.command({ name: 'party resume' }));
    await voice.until(() => call.speaking.at(-1)?.is === true, 'sound after the pause');
    const vote = () => replyText(discord.command({ name: 'party skip', user: guest }));
    expect(await vote()).toContain('1 of 2 votes');

    await first.minstrel.stop();
    const before = call.decrypted.length;
    await voice.until(() => call.decrypted.length > before + 20, 'sound from the other replica');
    await expect.poll(vote).toContain('1 of 2 votes');
    expect(voice.mistakes).toEqual([]);
  },
);
