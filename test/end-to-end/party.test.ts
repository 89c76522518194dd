import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Channel,
  type DiscordServer,
  labelsOf,
  type StoredMessage,
  startDiscord,
} from '../servers/discord/index.ts';
import { trustLocalVoice } from '../servers/voice/certificate.ts';
import { startVoiceServer, type VoiceServer } from '../servers/voice/server.ts';
import { type RunningMinstrel, startMinstrel } from './minstrel.ts';

/** All tests share one bot, one Discord and one voice server. */
let discord: DiscordServer;
let voice: VoiceServer;
let lounge: Channel;
let stage: Channel;
/** Hidden from most people. */
let backstage: Channel;
let running: RunningMinstrel;
let directory: string;
let card: StoredMessage;

beforeAll(async () => {
  trustLocalVoice();
  [discord, voice] = await Promise.all([startDiscord(), startVoiceServer()]);
  discord.voice.server = voice;
  lounge = discord.world.addChannel('Lounge', { guildId: discord.guild.id, type: 2 });
  backstage = discord.world.addChannel('backstage', { guildId: discord.guild.id });
  backstage.deniedToPeople.add('ViewChannel');
  stage = discord.world.addChannel('stage', { guildId: discord.guild.id });
  directory = await mkdtemp(join(tmpdir(), 'minstrel-party-'));
  await start();
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const song = discord.command({ name: 'song', options: { prompt: 'a tune for rain', title: 'Rain' } });
  card = await song.message(({ attachments }) => attachments.length >= 2);
});

afterAll(async () => {
  await running[Symbol.asyncDispose]();
  await voice.close();
  await discord.close();
  await rm(directory, { recursive: true, force: true });
});

async function start(): Promise<void> {
  running = await startMinstrel(
    {
      DATA_DIR: directory,
      DISCORD_TOKEN: discord.token,
      DISCORD_API_URL: discord.apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(discord.origin).host,
    },
    { songSeconds: 20 },
  );
}

const call = () => voice.call(lounge.id);
const replyText = async (handle: ReturnType<DiscordServer['command']>) =>
  JSON.stringify(await handle.message(({ embeds, content }) => embeds.length > 0 || content !== ''));
const panel = () =>
  discord.botMessages().findLast((message) => JSON.stringify(message.components).includes('party.pause'));

it('offers songs only from channels the person can read', async () => {
  const createSong = async (title: string, channel: Channel) => {
    const request = discord.command({ name: 'song', options: { prompt: 'a tune', title }, channel });
    await request.message(({ attachments }) => attachments.length >= 2);
  };
  await createSong('Secret', backstage);
  await createSong('Sun', stage);
  const suggestionsIn = async (channel: Channel, typed = '') =>
    (await discord.autocomplete({ name: 'party play', option: 'song', typed, channel })).map(
      ({ name }) => name,
    );
  const rain = ['Rain (take 1)', 'Rain (take 2)'];
  const sun = ['Sun (take 1)', 'Sun (take 2)'];
  // Songs of the current channel come first.
  await expect.poll(() => suggestionsIn(discord.channel)).toEqual([...rain, ...sun]);
  expect(await suggestionsIn(stage)).toEqual([...sun, ...rain]);
  expect(await suggestionsIn(backstage, 'secret')).toHaveLength(2);
  const named = discord.command({ name: 'party play', options: { song: 'Secret' } });
  expect(await replyText(named)).toContain('There is no song named “Secret” here');
});

it('Play in voice requires a voice channel, plays in it, and shows the song', async () => {
  const press = () => discord.press('Play 1 in voice', card);
  const paidRequests = () => running.emulator.requests.filter(({ method }) => method === 'POST').length;
  const before = paidRequests();
  expect(before).toBeGreaterThan(0);
  const limit = (change: 'set' | 'reset', most: object) =>
    discord.command({
      name: `limits ${change}`,
      options: { what: 'party', where: 'server', ...most },
      moderator: true,
    });
  expect(await replyText(limit('set', { most: 1 }))).toContain(
    '1 song in a voice channel per person per day',
  );
  expect(await replyText(press())).toContain('Join a voice channel first');
  discord.voice.join(discord.user, lounge);
  // A press without a voice channel does not count.
  expect(await replyText(press())).toContain('Playing Rain in Lounge');
  await voice.until(() => call().decrypted.length > 50, 'sound');
  const partyMessage = await discord.until(() => panel(), 'the message of the party');
  expect(JSON.stringify(partyMessage)).toContain('Now playing: Rain');
  await discord.until(
    () =>
      panel()?.attachments.some(({ description = '' }) => /Prompt: a tune for rain/.test(description ?? '')),
    'the cover, described',
  );
  // Playing requests nothing from the gateway, not even synced lyrics.
  expect(await replyText(discord.command({ name: 'party now' }))).toContain('Rain');
  expect(paidRequests()).toBe(before);
  expect(await replyText(press())).toContain('Limit reached: 1 song in a voice channel');
  await replyText(limit('reset', {}));
  expect(voice.mistakes).toEqual([]);
  expect(discord.refused).toEqual([]);
});

it('buttons work for listeners but not for denied people, and Stop ends the party with a message', async () => {
  const partyMessage = await discord.until(() => panel(), 'the message of the party');
  const guest = discord.world.addUser('Guest');
  expect(await replyText(discord.press('Pause', partyMessage, { user: guest }))).toContain(
    'join the voice channel',
  );
  discord.voice.join(guest, lounge);
  await voice.until(() => call().group.members.length === 3, 'the guest');
  expect(await replyText(discord.press('Pause', partyMessage, { user: guest }))).toContain('Paused');
  await voice.until(() => call().speaking.at(-1)?.is === false, 'silence');
  expect(await replyText(discord.press('Skip', partyMessage, { user: guest }))).toContain('1 of 2 votes');
  const block = discord.command({
    name: 'limits deny',
    options: { what: 'all', who: guest.id, where: 'server' },
    moderator: true,
  });
  expect(await replyText(block)).toContain("can't use any command");
  const counted = 'Skip (1 of 2 votes)';
  await discord.until(() => labelsOf(partyMessage).includes(counted), 'the vote under the message');
  expect(await replyText(discord.press(counted, partyMessage, { user: guest }))).toContain(
    'here, because a moderator turned it off for you. If you think this is a mistake, ask a moderator.',
  );
  expect(await replyText(discord.press('Stop', partyMessage, { moderator: true }))).toContain(
    'Stopped. I left the',
  );
  await discord.until(() => discord.voice.botIn(discord.guild.id) === null, 'the bot to leave');
  await discord.until(
    () => discord.botMessages().some(({ embeds }) => JSON.stringify(embeds).includes('The party is over')),
    'the sentence about its end',
  );
  expect(discord.refused).toEqual([]);
});

it('plays on a stage once the bot is invited to speak', async () => {
  const theatre = discord.world.addChannel('Theatre', { guildId: discord.guild.id, type: 13 });
  discord.gateway.announce(theatre);
  discord.voice.join(discord.user, theatre);
  const before = panel();
  const interaction = discord.press('Play 1 in voice', card);
  expect(await replyText(interaction)).toContain('Playing Rain in Theatre');
  const waiting = await discord.until(() => panel() !== before && panel(), 'the message of the party');
  await discord.until(() => JSON.stringify(waiting).includes('Invite me to speak'), 'why it is silent');
  discord.voice.inviteBot(discord.guild.id);
  await voice.until(() => voice.call(theatre.id).decrypted.length > 50, 'sound on the stage');
  expect(await replyText(discord.press('Stop', waiting, { moderator: true }))).toContain(
    'Stopped. I left the',
  );
  await discord.until(() => discord.voice.botIn(discord.guild.id) === null, 'the bot to leave');
  await discord.until(() => JSON.stringify(waiting).includes('The party is over'), 'its end');
});

it.each(['Play in voice', '/party play'])('%s reports privately if the bot cannot join', async (how) => {
  discord.voice.join(discord.user, lounge);
  const publicly = () => discord.botMessages().filter(({ onlyFor }) => onlyFor === null).length;
  const before = publicly();
  const identified = voice.identifies;
  voice.blocksUdp = true;
  const request =
    how === '/party play' ? discord.command({ name: 'party play' }) : discord.press('Play 1 in voice', card);
  expect(await request.acknowledged(), 'it waits').toBe(5);
  expect(request.ephemeral).toBe(true);
  await expect.poll(() => voice.identifies).toBeGreaterThan(identified);
  voice.closeAll(4017);
  expect((await request.response()).onlyFor).toBe(discord.user.id);
  expect(await replyText(request)).toContain('Discord refused the voice connection');
  expect(publicly()).toBe(before);
  voice.blocksUdp = false;
});
