import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { it } from 'vitest';
import { writePackets } from '../../../../src/media/opus/packets.ts';
import { createFolderStore } from '../../../../src/media/store/folder.ts';
import { createSoundReader } from '../../../../src/party/sound.ts';
import { oneSong, songJob } from '../../../storage/jobs.ts';
import { endOf, inCall, namesOf, PACE, read, song, startVoiceWorld, type VoiceWorld } from './world.ts';

/** In the bot's clock. */
const TEN_SECONDS = 10_000 * PACE;
/** 60 ms, in packets. */
const MAX_DELAY_PACKETS = 3;

/** Closes the voice connection from the server, and waits until the bot logged it. */
async function closeVoice({ server, log }: VoiceWorld, code: number): Promise<void> {
  server.closeAll(code);
  while (!log.lines.some(({ fields }) => 'code' in fields && fields.code === code)) await delay(10);
}

it.concurrent('plays every packet unchanged, and pauses, resumes and skips within 60 ms', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { server } = world;
  const { session, call, waitForPackets } = await inCall(world);
  const first = song('a', 90);
  const ended = session.play(read(first));
  await waitForPackets(20);
  const beforePause = session.playedMs / 20;
  session.pause();
  await server.until(() => call.speaking.at(-1)?.is === false, 'silence');
  const atPause = call.decrypted.length;
  expect(atPause - beforePause).toBeLessThanOrEqual(MAX_DELAY_PACKETS);
  session.resume();
  await waitForPackets(atPause + 20);
  const beforeSkip = session.playedMs / 20;
  const second = song('b', 30);
  const playing = session.play(read(second));
  expect(await ended).toBe('replaced');
  expect(await playing).toBe('ended');
  await server.until(() => namesOf(call.decrypted).at(-1) === 'b 29', 'the end of the other song');
  const skipped = namesOf(call.decrypted).findIndex((name) => name.startsWith('b'));
  expect(skipped - beforeSkip).toBeLessThanOrEqual(MAX_DELAY_PACKETS);
  expect(call.decrypted).toEqual([...first.slice(0, skipped), ...second]);
  expect(call.unencrypted).toBe(0);
  expect(server.mistakes).toEqual([]);
});

it.concurrent('keeps playing in new epochs when people join and leave, and despite lost packets', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server, channel } = world;
  const { session, call, waitForPackets } = await inCall(world);
  const packets = song('a', 200);
  const ended = session.play(read(packets));
  await waitForPackets(10);
  const guest = discord.world.addUser('Guest');
  discord.voice.join(guest, channel);
  await server.until(() => call.group.members.length === 3, 'a third member');
  await waitForPackets(60);
  discord.voice.leave(discord.user, discord.guild.id);
  await server.until(() => call.group.members.length === 2, 'two members');
  const { epoch } = call.group;
  expect(epoch).toBe(3);
  // From here on the guest decrypts, with the keys of the new epoch.
  await waitForPackets(100);
  server.loses = 10;
  expect(await ended).toBe('ended');
  await server.until(() => Number(namesOf(call.decrypted).at(-1)?.slice(2)) >= 195, 'the last packets');
  // The other packets arrive unchanged and in order. New members cannot decrypt some packets around a change.
  const known = new Set(packets.map((packet) => packet.toString('latin1')));
  expect(call.decrypted.every((packet) => known.has(packet.toString('latin1')))).toBe(true);
  expect(call.decrypted.length).toBeGreaterThan(170);
  expect(server.mistakes).toEqual([]);
  expect(world.events.filter((event) => event === 'listeners').length).toBeGreaterThanOrEqual(2);
});

it.concurrent('starts a song when the call is encrypted, so that no packet is lost or readable', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server, channel } = world;
  server.latencyMs = 80;
  discord.voice.join(discord.user, channel);
  const session = await world.join();
  const call = server.call(channel.id);
  const packets = song('a', 50);
  expect(await session.play(read(packets))).toBe('ended');
  await server.until(() => namesOf(call.decrypted).at(-1) === 'a 49', 'the end of the song');
  expect(call.decrypted).toEqual(packets);
  expect(call.unencrypted).toBe(0);
  expect(server.mistakes).toEqual([]);
});

it.concurrent.for([
  'a move',
  'a new session',
  'a resumed session',
  'a new group',
  'an empty channel',
] as const)('sends nothing unencrypted after %s', async (change, { expect }) => {
  await using world = await startVoiceWorld();
  const { discord, server, channel } = world;
  const { guild, user } = discord;
  const other = discord.world.addChannel('Other', { guildId: guild.id, type: 2 });
  discord.gateway.announce(other);
  server.latencyMs = 80;
  const { session, call, waitForPackets } = await inCall(world);
  void session.play(read(song('a', 2_000)));
  await waitForPackets(10);
  switch (change) {
    case 'a move':
      discord.voice.join(user, other);
      discord.voice.moveBot(guild.id, other);
      break;
    case 'a new session':
      server.closeAll(4006);
      break;
    case 'a resumed session':
      server.drop();
      await server.until(() => server.resumes === 1, change);
      break;
    case 'a new group':
      call.group.recreate();
      break;
    case 'an empty channel':
      discord.voice.leave(user, guild.id);
      await server.until(() => call.group.members.length === 1, change);
      discord.voice.join(user, channel);
  }
  const current = server.call(session.channel === channel.id && change !== 'a move' ? channel.id : other.id);
  const before = current.decrypted.length;
  await server.until(() => current.decrypted.length >= before + 30, 'sound');
  expect([call.unencrypted, current.unencrypted]).toEqual([0, 0]);
  expect(server.mistakes).toEqual([]);
});

it.concurrent('connects again if the call is not encrypted in time, unless nobody else is there', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server, channel, pauses } = world;
  const call = server.call(channel.id);
  call.group.isStuck = true;
  const session = await world.join();
  const before = pauses.length;
  await expect.poll(() => pauses.length, { timeout: 10_000 }).toBe(before + 1);
  expect(server.identifies, 'alone').toBe(1);
  discord.voice.join(discord.user, channel);
  const packets = song('a', 30);
  const ended = session.play(read(packets));
  await server.until(() => server.identifies === 2, 'a new session');
  call.group.isStuck = false;
  expect(await ended).toBe('ended');
  await server.until(() => call.decrypted.length === packets.length, 'every packet');
  expect(call.unencrypted).toBe(0);
  expect(server.mistakes).toEqual([]);
});

it.concurrent('is heard by people who join while it resumes', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { server } = world;
  server.latencyMs = 80;
  const { session, call, waitForPackets } = await inCall(world);
  void session.play(read(song('a', 2_000)));
  await waitForPackets(10);
  server.drop();
  const guest = call.listen('424242');
  await server.until(() => server.identifies === 2, 'a new session');
  await server.until(() => call.group.members.length === 3, 'three members');
  await waitForPackets(call.decrypted.length + 10);
  const { failures } = guest;
  await waitForPackets(call.decrypted.length + 30);
  expect(guest.failures).toBe(failures);
  expect(call.unencrypted).toBe(0);
  expect(server.mistakes).toEqual([]);
});

it.concurrent('plays without encryption where Discord does not offer it, such as on a stage', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server, channel } = world;
  const call = server.call(channel.id);
  call.daveVersion = 0;
  discord.voice.join(discord.user, channel);
  const session = await world.join();
  const packets = song('a', 30);
  expect(await session.play(read(packets))).toBe('ended');
  await server.until(() => call.decrypted.length === packets.length, 'every packet');
});

it.concurrent('joins at once if the voice server is assigned before the voice state arrives', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server } = world;
  discord.voice.isServerFirst = true;
  const { session, waitForPackets } = await inCall(world);
  expect(discord.voice.requests, 'a single request').toBe(1);
  void session.play(read(song('a', 500)));
  await waitForPackets(10);
  const other = discord.world.addChannel('Other', { guildId: discord.guild.id, type: 2 });
  discord.gateway.announce(other);
  discord.voice.join(discord.user, other);
  discord.voice.moveBot(discord.guild.id, other);
  await server.until(() => server.call(other.id).decrypted.length > 20, 'sound in the other channel');
  expect(server.mistakes).toEqual([]);
});

it.concurrent('resumes a broken session, and joins again after the voice server crashed', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { server } = world;
  const { session, call, waitForPackets } = await inCall(world);
  const packets = song('a', 150);
  const ended = session.play(read(packets));
  await waitForPackets(10);
  server.drop();
  await server.until(() => server.resumes === 1, 'a resumed session');
  await waitForPackets(call.decrypted.length + 20);
  server.closeAll(4015);
  await server.until(() => server.resumes === 2, 'another resumed session');
  await waitForPackets(call.decrypted.length + 20);
  // The session is no longer valid, so a new one replaces it.
  server.closeAll(4006);
  await server.until(() => server.identifies === 2, 'a new session');
  await server.until(() => call.group.members.length === 2, 'an encrypted call');
  expect(await ended).toBe('ended');
  const names = namesOf(call.decrypted);
  expect(names.toSorted((one, other) => Number(one.slice(2)) - Number(other.slice(2)))).toEqual(names);
  expect(names.at(-1)).toBe('a 149');
  expect(world.events.filter((event) => event.startsWith('ended'))).toEqual([]);
});

it.concurrent('returns to a voice server after an outage, with few requests to Discord', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server } = world;
  const { session, call, waitForPackets } = await inCall(world);
  const packets = song('a', 500);
  const ended = session.play(read(packets));
  await waitForPackets(10);
  const before = discord.voice.requests;
  world.pauses.length = 0;
  const awaySince = performance.now();
  server.away = true;
  server.drop();
  await expect
    .poll(() => performance.now() - awaySince, { timeout: 60_000 })
    .toBeGreaterThanOrEqual(TEN_SECONDS);
  server.away = false;
  await server.until(() => server.identifies >= 2, 'a new session');
  // Retries after 0.5, 1, 2, 4 and 8 seconds, or half of that.
  expect(discord.voice.requests - before).toBeLessThanOrEqual(6);
  // Without the timeouts of each attempt.
  const pauses = world.pauses.filter((pause) => pause < 5_000);
  expect(Math.max(...pauses), 'pauses become longer').toBeGreaterThanOrEqual(750);
  expect(world.events.filter((event) => event.startsWith('ended'))).toEqual([]);
  session.pause();
  const countBefore = call.decrypted.length;
  session.resume();
  await waitForPackets(countBefore + 20);
  // Nothing was played while nobody could hear it.
  const names = namesOf(call.decrypted).map((name) => Number(name.slice(2)));
  expect((names.at(-1) ?? 0) - names.length).toBeLessThan(15);
  session.stop();
  expect(await ended).toBe('replaced');
});

it.concurrent('does not return if it was disconnected while its voice server was down', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server } = world;
  await inCall(world);
  server.away = true;
  server.drop();
  discord.voice.moveBot(discord.guild.id, undefined);
  server.away = false;
  await server.until(() => world.events.includes('ended removed') || server.identifies > 1, 'its end');
  expect(world.events).toContain('ended removed');
});

it.concurrent.for([
  ['breaks', undefined],
  ['is closed for the bot', 4014],
  ['is closed for all', 4022],
] as const)(
  'continues on another voice server when the first one fails: the connection %s',
  async ([, code], { expect }) => {
    await using world = await startVoiceWorld();
    const { discord, server } = world;
    const { session, call, waitForPackets } = await inCall(world);
    void session.play(read(song('a', 400)));
    await waitForPackets(10);
    if (code !== undefined) await closeVoice(world, code);
    discord.voice.loseServer(discord.guild.id);
    server.drop();
    discord.voice.findServer(discord.guild.id);
    await server.until(() => server.identifies === 2, 'a new session');
    const before = call.decrypted.length;
    await waitForPackets(before + 20);
    expect(world.events.filter((event) => event.startsWith('ended'))).toEqual([]);
  },
);

it.concurrent('reports that it was removed when its channel is deleted', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord } = world;
  await inCall(world);
  await closeVoice(world, 4022);
  discord.voice.moveBot(discord.guild.id, undefined);
  await expect.poll(() => world.events.at(-1)).toBe('ended removed');
});

it.concurrent('ends when it is removed from the server, and reports the server as gone', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, voice } = world;
  await inCall(world);
  discord.gateway.expel(discord.guild);
  await expect.poll(() => world.events.at(-1)).toBe('ended removed');
  expect(await voice.reach(discord.guild.id)).toBe('gone');
});

it.concurrent('sends no requests about a server with an outage', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord, voice, channel } = world;
  const { id } = discord.guild;
  discord.gateway.beginOutage(discord.guild);
  discord.voice.join(discord.user, channel);
  await expect.poll(() => voice.channelOf(id, discord.user.id)).toMatchObject({ id: channel.id });
  const before = discord.requests.length;
  expect(await voice.reach(id)).toBe('outage');
  expect(discord.requests.length).toBe(before);
});

it.concurrent('keeps playing during an outage of its server', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord, voice, channel } = world;
  const { guild, user } = discord;
  const { session, waitForPackets } = await inCall(world);
  void session.play(read(song('a', 2_000)));
  await waitForPackets(10);
  discord.gateway.beginOutage(guild);
  // Discord empties the channel, but its members still hear the song.
  const state = discord.voice.of(user, guild.id);
  if (!state) throw new Error('Nobody is there');
  world.events.length = 0;
  discord.gateway.dispatch({
    event: 'VOICE_STATE_UPDATE',
    guildId: guild.id,
    intents: 0,
    data: () => discord.world.voiceStateJson({ ...state, channelId: null }),
  });
  await expect.poll(() => world.events).toContain('listeners');
  expect(await voice.listeners(guild.id, channel.id), 'unknown').toBeUndefined();
  // Longer than the report of an outage may be delayed.
  await waitForPackets(40);
  discord.gateway.endOutage(guild);
  await expect.poll(() => voice.reach(guild.id)).toBe('here');
  expect(await voice.listeners(guild.id, channel.id)).toEqual([user.id]);
  expect(world.events.filter((event) => event.startsWith('ended'))).toEqual([]);
});

it.concurrent('reports a loss, not a removal, if an outage empties its channel, and joins again', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, voice } = world;
  const { guild } = discord;
  await inCall(world);
  discord.gateway.beginOutage(guild);
  discord.voice.moveBot(guild.id, undefined);
  expect(await endOf(world)).toBe('ended lost');
  discord.gateway.endOutage(guild);
  await expect.poll(() => voice.reach(guild.id)).toBe('here');

  await world.join();
  discord.voice.moveBot(guild.id, undefined);
  await expect.poll(() => discord.voice.requests).toBe(4);
  discord.gateway.beginOutage(guild);
  expect(await endOf(world)).toBe('ended lost');
  discord.gateway.endOutage(guild);
  await expect.poll(() => voice.reach(guild.id)).toBe('here');

  await world.join();
  discord.voice.moveBot(guild.id, undefined);
  expect(await endOf(world)).toBe('ended removed');
});

it.concurrent('reports a loss in an outage if the voice server closes the connection or does not respond', async ({
  expect,
}) => {
  await using world = await startVoiceWorld();
  const { discord, server } = world;
  await inCall(world);
  discord.gateway.beginOutage(discord.guild);
  server.closeAll(4014);
  expect(await endOf(world)).toBe('ended lost');
  server.away = true;
  await expect(world.join({ isAwaited: true })).rejects.toMatchObject({ reason: 'lost' });
});

it.concurrent('waits for a disconnected gateway to learn why it ended', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord } = world;
  await inCall(world);
  discord.gateway.helloAfterMs = 7_000 * PACE;
  discord.gateway.drop();
  discord.voice.moveBot(discord.guild.id, undefined);
  await expect.poll(() => world.events.at(-1)).toContain('ended');
  expect(world.events.at(-1)).toBe('ended removed');
  expect(discord.gateway.resumes).toBe(1);
});

it.concurrent.for([
  ['refuses connections', 'away'],
  ['is behind a firewall', 'blocksUdp'],
] as const)(
  'gives up after two attempts if a person is waiting and the voice server %s',
  async ([, fault], { expect }) => {
    await using world = await startVoiceWorld();
    const { discord, server } = world;
    server[fault] = true;
    world.pauses.length = 0;
    await expect(world.join({ isAwaited: true })).rejects.toMatchObject({ reason: 'unreachable' });
    // The time for each attempt, by the bot’s clock.
    expect(Math.max(...world.pauses)).toBe(5_000);
    await expect.poll(() => discord.voice.botIn(discord.guild.id)).toBeNull();
    // Two joins and a leave.
    expect(discord.voice.requests).toBe(3);
  },
);

it.concurrent('closes the files of songs that are replaced, stopped or too late', async ({
  expect,
  onTestFinished,
}) => {
  await using world = await startVoiceWorld();
  const directory = await mkdtemp(join(tmpdir(), 'minstrel-voice-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const store = createFolderStore({ directory, now: Date.now });
  const file = await store.put(writePackets(song('a', 5_000)), { extension: 'packets' });
  const opened: Readable[] = [];
  const url = 'https://gateway.example/a.mp3';
  const reader = createSoundReader({
    jobs: {
      read: async (id) =>
        songJob({
          id,
          result: { ...oneSong('Rain'), songs: [{ audioUrl: url }] },
          opus: { [url]: file },
        }),
    },
    rememberOpus: () => Promise.reject(new Error('It is stored already')),
    media: {
      stat: store.stat,
      async open(name) {
        const found = await store.open(name);
        if (found) opened.push(found.stream);
        return found;
      },
    },
    encoder: { encode: () => Promise.reject(new Error('It is encoded already')) },
    fileOf: () => Promise.reject(new Error('It is encoded already')),
  });
  const sound = () => reader({ job: 'a', index: 0 }, 0);
  const { session, waitForPackets } = await inCall(world);
  const replaced = session.play(await sound());
  const stopped = session.play(await sound());
  await waitForPackets(10);
  session.stop();
  const left = session.play(await sound());
  const late = await sound();
  session.leave();
  for (const outcome of [replaced, stopped, left, session.play(late)]) expect(await outcome).toBe('replaced');
  await expect.poll(() => opened.filter(({ closed }) => !closed)).toEqual([]);
  expect(opened.length).toBeGreaterThan(0);
});

it.concurrent('follows moves, and reports a removal or permanent rejection', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord, server, channel } = world;
  const { guild } = discord;
  const { session, waitForPackets } = await inCall(world);
  void session.play(read(song('a', 2_000)));
  await waitForPackets(10);
  const other = discord.world.addChannel('Other', { guildId: guild.id, type: 2 });
  discord.gateway.announce(other);
  discord.voice.join(discord.user, other);
  discord.voice.moveBot(guild.id, other);
  await server.until(() => server.call(other.id).decrypted.length > 20, 'sound in the other channel');
  expect(session.channel).toBe(other.id);
  expect(world.events).toContain(`moved ${other.id}`);
  discord.voice.moveBot(guild.id, undefined);
  await expect.poll(() => world.events.at(-1)).toBe('ended removed');
  // So far, the bot has joined and left.
  await expect.poll(() => discord.voice.requests).toBe(2);
  // Only 4014, as for a deleted channel: it waits for a move and does not rejoin.
  await world.join();
  world.events.length = 0;
  server.closeAll(4014);
  await expect.poll(() => world.events.at(-1), { timeout: 60_000 }).toBe('ended removed');
  await expect.poll(() => discord.voice.botIn(guild.id)).toBeNull();
  expect(discord.voice.requests).toBe(4);

  // The voice server requires a protocol that the library does not support.
  server.refusesWith = 4017;
  await expect(world.join()).rejects.toMatchObject({ name: 'VoiceError', reason: 'refused' });
  server.refusesWith = undefined;
  await expect.poll(() => discord.voice.botIn(guild.id)).toBeNull();
  expect(discord.voice.requests).toBe(6);
  const again = await world.join();
  server.refusesWith = 4017;
  server.closeAll(4006);
  await expect.poll(() => world.events.at(-1), { timeout: 60_000 }).toBe('ended refused');
  expect(again.channel).toBe(channel.id);
});

it.concurrent('stays in the audience of a stage until it is invited', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord } = world;
  const stage = discord.world.addChannel('Stage', { guildId: discord.guild.id, type: 13 });
  discord.gateway.announce(stage);
  const session = await world.join({ channel: stage.id });
  expect(session.isSpeakable).toBe(false);
  discord.voice.inviteBot(discord.guild.id);
  await expect.poll(() => session.isSpeakable).toBe(true);
  discord.voice.suppressBot(discord.guild.id, true);
  await expect.poll(() => session.isSpeakable).toBe(false);
  expect(world.events.filter((event) => event === 'speakable')).toHaveLength(3);
});

it.concurrent('distinguishes a person without a channel from a failed look-up', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord, voice } = world;
  // Another replica is connected for this server, so the bot asks Discord.
  const elsewhere = discord.world.addGuild('Elsewhere');
  const lounge = discord.world.addChannel('Far', { guildId: elsewhere.id, type: 2 });
  const channelOf = () => voice.channelOf(elsewhere.id, discord.user.id);
  expect(await channelOf()).toBeUndefined();
  discord.voice.join(discord.user, lounge);
  expect(await channelOf()).toMatchObject({ id: lounge.id });
  discord.faults.fail(503, { path: /voice-states/, times: 4 });
  expect(await channelOf()).toBe('unknown');
  expect(await channelOf()).toMatchObject({ id: lounge.id });
});

it.concurrent('lists listeners without bots and deafened members', async ({ expect }) => {
  await using world = await startVoiceWorld();
  const { discord, voice, channel } = world;
  const { guild, user } = discord;
  const [guest, bot, deaf] = ['Guest', 'Robot', 'Deaf'].map((name) =>
    discord.world.addUser(name, { bot: name === 'Robot' }),
  );
  if (!guest || !bot || !deaf) throw new Error('No people');
  for (const person of [user, guest, bot]) discord.voice.join(person, channel);
  discord.voice.join(deaf, channel, { deaf: true });
  await expect.poll(() => voice.channelOf(guild.id, deaf.id)).toMatchObject({ id: channel.id, missing: [] });
  expect((await voice.listeners(guild.id, channel.id))?.toSorted()).toEqual([user.id, guest.id].toSorted());
  expect(await voice.channelOf(guild.id, 'nobody')).toBeUndefined();
  expect(await voice.channelOf(guild.id, user.id)).toMatchObject({ name: 'Lounge', isFull: false });
  const booth = discord.world.addChannel('Booth', {
    guildId: guild.id,
    type: 2,
    denied: ['Connect', 'Speak'],
  });
  booth.userLimit = 1;
  discord.gateway.announce(booth);
  discord.voice.join(user, booth);
  await expect
    .poll(() => voice.channelOf(guild.id, user.id))
    .toMatchObject({ name: 'Booth', isFull: true, missing: ['Connect', 'Speak'] });
  // This process does not know the server, so it asks Discord.
  expect(await voice.listeners('1', booth.id)).toBeUndefined();
  expect(await voice.channelOf('1', user.id)).toBe('gone');
});
