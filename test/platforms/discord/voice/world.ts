/** The real adapter, discord.js and @discordjs/voice, between a strict Discord and a strict voice server. */
import { setTimeout as delay } from 'node:timers/promises';
import { createDiscord } from '../../../../src/platforms/discord/adapter.ts';
import type { Platform } from '../../../../src/platforms/platform.ts';
import type { JoinOptions, VoiceChannels, VoiceSession } from '../../../../src/platforms/voice.ts';
import { type Channel, type DiscordServer, startDiscord } from '../../../servers/discord/index.ts';
import { trustLocalVoice } from '../../../servers/voice/certificate.ts';
import { startVoiceServer, type VoiceServer } from '../../../servers/voice/server.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';
import { FakeBot, singleReplica } from '../harness.ts';

/** Scales the bot's own pauses. Audio and Discord run in real time. */
export const PACE = 1 / 5;

export interface VoiceWorld extends AsyncDisposable {
  readonly discord: DiscordServer;
  readonly server: VoiceServer;
  readonly platform: Platform;
  readonly voice: VoiceChannels;
  readonly channel: Channel;
  readonly log: RecordingLog;
  /** The events of the session, in order. */
  readonly events: string[];
  /** The requested pauses of the platform, in milliseconds. */
  readonly pauses: number[];
  join(options?: Partial<JoinOptions>): Promise<VoiceSession>;
}

export async function startVoiceWorld(): Promise<VoiceWorld> {
  trustLocalVoice();
  const [discord, server] = await Promise.all([startDiscord(), startVoiceServer()]);
  discord.voice.server = server;
  const channel = discord.world.addChannel('Lounge', { guildId: discord.guild.id, type: 2 });
  const log = new RecordingLog();
  const pauses: number[] = [];
  const platform = createDiscord({
    token: discord.token,
    apiUrl: discord.apiUrl,
    withLock: singleReplica,
    media: { open: () => Promise.reject(new Error('No files')), link: () => '' },
    log,
    measure: () => {},
    now: Date.now,
    elapsed: () => performance.now(),
    random: () => 0,
    async sleep(ms, signal) {
      pauses.push(ms);
      await delay(ms * PACE, undefined, { signal }).catch(() => undefined);
    },
  });
  await platform.start(new FakeBot());
  const voice = await platform.voice?.();
  if (!voice) throw new Error('The platform has no voice');
  while ((await voice.reach(discord.guild.id)) !== 'here') await delay(10);
  const events: string[] = [];
  const sessions: VoiceSession[] = [];
  return {
    discord,
    server,
    platform,
    voice,
    channel,
    log,
    events,
    pauses,
    async join(options = {}) {
      const session = await voice.join({
        guild: discord.guild.id,
        channel: channel.id,
        isAwaited: false,
        onMoved: (to) => events.push(`moved ${to}`),
        onListeners: () => events.push('listeners'),
        onSpeakable: () => events.push('speakable'),
        onEnded: (reason) => events.push(`ended ${reason}`),
        ...options,
      });
      sessions.push(session);
      return session;
    },
    async [Symbol.asyncDispose]() {
      for (const session of sessions) session.leave();
      await platform.close();
      await server.close();
      await discord.close();
    },
  };
}

/** Joins a channel with one listener. */
export async function inCall(world: VoiceWorld) {
  const { discord, server, channel } = world;
  discord.voice.join(discord.user, channel);
  const session = await world.join();
  const call = server.call(channel.id);
  await server.until(() => call.group.members.length === 2, 'an encrypted call');
  const waitForPackets = (count: number) =>
    server.until(() => call.decrypted.length >= count, `${count} packets`);
  return { session, call, waitForPackets };
}

/** Waits for the end of the session, returns its event and clears the events. */
export async function endOf({ events }: VoiceWorld): Promise<string> {
  for (;;) {
    const last = events.at(-1);
    if (last?.startsWith('ended')) {
      events.length = 0;
      return last;
    }
    await delay(10);
  }
}

/** Packets of the song `name`: a valid first byte (stereo, 20 ms), then the packet's name. */
export function song(name: string, packets: number): Buffer[] {
  return Array.from({ length: packets }, (_, n) =>
    Buffer.from(`\xfc${name} ${n} ${'.'.repeat(40)}`, 'latin1'),
  );
}

export async function* read(packets: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* packets;
}

/** Returns the names of the packets that were heard. */
export function namesOf(decrypted: readonly Buffer[]): string[] {
  return decrypted.map((packet) => packet.toString('latin1').slice(1).split(' .')[0] ?? '');
}
