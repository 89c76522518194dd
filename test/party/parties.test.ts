import { beforeEach, expect, it } from 'vitest';
import { createPartyStore } from '../../src/party/store.ts';
import { VoiceError } from '../../src/platforms/voice.ts';
import type { SettingsStore } from '../../src/storage/storage.ts';
import { memoryStorage } from '../settings/memory-storage.ts';
import type { ManualClock } from '../storage/manual-clock.ts';
import { Building, GUILD, type PartyProcess, person, song, startProcess } from './world.ts';

const [ADA, BO, CY] = [person('ada'), person('bo'), person('cy')];
const MODERATOR = person('mo', true);

let clock: ManualClock;
let settings: SettingsStore;
let building: Building;
let first: PartyProcess;

beforeEach(async () => {
  const made = await memoryStorage();
  clock = made.clock;
  settings = made.storage.settings;
  building = new Building();
  building.people.set('ada', 'lounge').set('bo', 'lounge');
  first = startProcess('first', { building, settings, clock });
});

/** Runs everything that does not wait for a timer. */
async function settle(): Promise<void> {
  for (let n = 0; n < 60; n += 1) await new Promise((resolve) => setImmediate(resolve));
}

async function pass(seconds: number): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    clock.advance(1_000);
    await settle();
  }
}

const bot = () => {
  if (!building.bot) throw new Error('The bot has joined no channel');
  return building.bot;
};
const now = async () => {
  const view = await first.as(ADA).now();
  return view && `${view.party.current?.title ?? 'nothing'} at ${Math.round(view.seconds)}`;
};
const stored = () => settings.get(`party:discord:${GUILD}`);
const lastShown = () => JSON.stringify(first.shown.at(-1));

async function play(...jobs: string[]): Promise<void> {
  for (const job of jobs) await first.as(ADA).play(song(job));
  await settle();
}

it('plays songs in order and shows the current line', async () => {
  await play('rain', 'sun');
  await pass(12);
  expect(await now()).toBe('rain at 12');
  expect(lastShown()).toContain('and on the street');
  bot().session.end();
  await settle();
  await pass(1);
  expect(await now()).toBe('sun at 1');
  expect(lastShown()).toContain('Rain on the roof');
});

it('plays even if voice states arrive before it has joined', async () => {
  building.joining = async (options) => {
    options.onListeners();
    options.onSpeakable();
    options.onMoved('cellar');
    await settle();
  };
  await play('rain');
  await pass(5);
  expect(bot().session.isPlaying).toBe(true);
  expect(await now()).toBe('rain at 5');
  expect((await first.as(ADA).now())?.party.channel).toBe('cellar');
});

it('edits its message every few seconds, even for songs of unknown length', async () => {
  for (const seconds of [180, undefined]) {
    await first.as(ADA).play({ job: 'rain', index: 0, title: 'rain', ...(seconds && { seconds }) });
    await settle();
    first.shown.length = 0;
    await pass(60);
    expect(first.shown.length, `${seconds} seconds`).toBeLessThan(8);
    await first.as(MODERATOR).stop();
    await settle();
  }
});

it('skips immediately for the requester and moderators, for others by majority', async () => {
  building.people.set('cy', 'lounge');
  await play('rain', 'sun', 'snow', 'hail');
  expect(await first.as(BO).skip()).toContain('1 of 2 votes');
  expect(await first.as(BO).skip()).toContain('1 of 2 votes');
  expect(await first.as(CY).skip()).toContain('Skipped rain, because most');
  expect(await first.as(ADA).skip()).toContain('Skipped sun.');
  expect(await first.as(MODERATOR).skip()).toContain('Skipped snow.');
  await settle();
  expect(await now()).toBe('hail at 0');
});

it('lets only the requester and moderators skip or stop while the listeners are unknown', async () => {
  building.hasUnknownListeners = true;
  await play('rain', 'sun', 'snow');
  await expect(first.as(BO).skip()).rejects.toThrow("I can't see who is listening yet.");
  await expect(first.as(BO).stop()).rejects.toThrow("I can't see who is listening yet.");
  expect(await first.as(ADA).skip()).toContain('Skipped rain.');
  expect(await first.as(MODERATOR).skip()).toContain('Skipped sun.');
  expect(await first.as(ADA).stop()).toContain('Stopped.');
});

it('accepts commands only from listeners, and lets people remove only their own songs', async () => {
  await play('rain', 'sun');
  await expect(first.as(CY).pause()).rejects.toThrow('join the voice channel');
  await expect(first.as(BO).remove(1)).rejects.toThrow('Only a moderator or the person');
  await expect(first.as(ADA).remove(7)).rejects.toThrow('no song at position 7. The queue has');
  await expect(first.as(BO).stop()).rejects.toThrow('Ask a moderator to stop');
  building.people.set('cy', 'cellar');
  await expect(first.as(CY).play(song('snow'))).rejects.toThrow('another voice channel');
  expect((await first.as(ADA).now())?.party.queue.map(({ title }) => title)).toEqual(['sun']);
  building.people.set('cy', 'closed');
  await expect(first.as(CY).play(song('snow'))).rejects.toThrow('I need the Speak permission in closed.');
  building.people.set('cy', 'crowded');
  await expect(first.as(CY).play(song('snow'))).rejects.toThrow('crowded is full');
  expect(await first.as(ADA).remove(1)).toContain('sun');
  await first.as(MODERATOR).stop();
  await settle();
  expect(bot().session.hasLeft).toBe(true);
  expect(lastShown()).toContain('Someone stopped');
  expect(await now()).toBeUndefined();
});

it('pauses at its position, and while nobody is listening', async () => {
  await play('rain');
  await pass(10);
  await first.as(ADA).pause();
  await settle();
  await pass(30);
  expect(bot().session.isPlaying).toBe(false);
  expect(await now()).toBe('rain at 10');
  await first.as(BO).resume();
  await settle();
  await pass(5);
  building.people.clear();
  bot().options.onListeners();
  await settle();
  await pass(60);
  expect(await now()).toBe('rain at 15');
  building.people.set('bo', 'lounge');
  bot().options.onListeners();
  await settle();
  await pass(5);
  expect(bot().session.isPlaying).toBe(true);
  expect(await now()).toBe('rain at 20');
});

it('links to the song’s page in its message, and shows the votes and why it is silent', async () => {
  building.people.set('cy', 'lounge');
  await play('rain', 'sun');
  await pass(1);
  expect(first.shown.at(-1)).toMatchObject({
    title: 'Now playing: rain',
    titleUrl: 'https://bot.example/songs/rain',
    fields: [{ value: 'ada' }, { name: 'Up next', value: 'sun' }],
  });
  await first.as(BO).skip();
  await settle();
  expect(lastShown()).toContain('Skip (1 of 2 votes)');
  bot().session.isSpeakable = false;
  bot().options.onSpeakable();
  await settle();
  expect(lastShown()).toContain('Invite me to speak');
  bot().session.isSpeakable = true;
  building.people.clear();
  bot().options.onListeners();
  await settle();
  expect(first.shown.at(-1)?.title).toBe('Waiting: rain');
  expect(lastShown()).toContain('Nobody is listening');
});

it('forgets a person’s songs, name and vote', async () => {
  building.people.set('cy', 'lounge');
  const address = { platform: 'discord', guild: GUILD, channel: 'text', person: 'ada' };
  await first.as(ADA, { ...address, platformData: { interaction: 'token of hers' } }).play(song('rain'));
  await first.as(BO).play(song('sun'));
  await first.as(BO).skip();
  await settle();
  await first.parties.forget('bo');
  expect(JSON.stringify(await stored())).not.toContain('bo');
  await first.parties.forget('ada');
  expect(await stored()).toMatchObject({
    current: { title: 'rain' },
    queue: [],
    address: { channel: 'text' },
  });
  expect(JSON.stringify(await stored())).not.toMatch(/ada|token of hers/);
  await pass(3);
  expect(await now(), 'it goes on').toBe('rain at 3');
});

it('forgets people whom another process forgot while it plays', async () => {
  await first.as(ADA).play(song('rain'));
  await first.as(BO).play(song('sun'));
  await settle();
  await createPartyStore({ settings, platform: 'discord', now: clock.now }).forget('bo');
  await first.as(ADA).pause();
  await settle();
  expect(JSON.stringify(await stored())).not.toContain('bo');
  await first.as(ADA).resume();
  await settle();
  expect(await stored()).toMatchObject({ current: { title: 'rain' }, queue: [] });
});

it('is found after a restart, even if it started while another server’s party ended', async () => {
  await play('rain');
  const store = createPartyStore({ settings, platform: 'discord', now: clock.now });
  const party = await store.read(GUILD);
  if (!party) throw new Error('Nothing is stored');
  await Promise.all([store.remove(GUILD), store.write({ ...party, guild: 'other' })]);
  expect(await store.guilds()).toEqual(['other']);
});

it('leaves two minutes after the last listener, unless someone returns', async () => {
  await play('rain');
  building.people.clear();
  bot().options.onListeners();
  await settle();
  await pass(110);
  building.people.set('bo', 'lounge');
  bot().options.onListeners();
  await settle();
  await pass(100);
  expect(bot().session.hasLeft).toBe(false);
  building.people.clear();
  bot().options.onListeners();
  await settle();
  await pass(118);
  expect(bot().session.hasLeft).toBe(false);
  await pass(5);
  expect(bot().session.hasLeft).toBe(true);
  expect(lastShown()).toContain('obody was listening');
});

it('is silent in the audience of a stage, and follows the bot when it is moved', async () => {
  await play('rain');
  bot().session.isSpeakable = false;
  bot().options.onSpeakable();
  await pass(5);
  expect(bot().session.isPlaying).toBe(false);
  bot().session.isSpeakable = true;
  bot().options.onSpeakable();
  for (const who of ['ada', 'bo']) building.people.set(who, 'cellar');
  bot().session.channel = 'cellar';
  bot().options.onMoved('cellar');
  await pass(5);
  expect(bot().session.isPlaying).toBe(true);
  expect(await first.as(ADA).skip()).toContain('Skipped');
});

it.each([
  ['removed', 'A moderator disconnected me'],
  ['refused', 'refused the voice connection'],
  ['unreachable', 'voice server is'],
] as const)('says why it ended: %s', async (reason, sentence) => {
  await play('rain');
  bot().options.onEnded(reason);
  await settle();
  expect(lastShown()).toContain(sentence);
  expect(await now()).toBeUndefined();
  await play('sun');
  expect(await now()).toBe('sun at 0');
});

it('reports a channel that cannot be joined to the requester, and ends the stored party', async () => {
  await play('rain');
  await first.parties.stop();
  const second = startProcess('second', { building, settings, clock });
  building.joining = async () => {
    throw new VoiceError('unreachable');
  };
  const sentence = "Discord's voice server is";
  await expect(second.as(ADA).play(song('sun'))).rejects.toThrow(sentence);
  expect(second.shown).toMatchObject([
    { title: 'The party is over', text: expect.stringContaining(sentence) },
  ]);
  await expect(second.as(ADA).play(song('sun'))).rejects.toThrow(sentence);
  expect(second.shown).toHaveLength(1);
  expect(await second.as(ADA).now()).toBeUndefined();
});

it('does not queue a song if the channel cannot be joined, so a retry plays it once', async () => {
  building.joining = async () => {
    throw new VoiceError('lost');
  };
  await expect(first.as(ADA).play(song('rain'))).rejects.toThrow('I lost the connection to Discord');
  expect(await stored()).toBeUndefined();
  building.joining = async () => {};
  await play('rain');
  expect((await first.as(ADA).now())?.party).toMatchObject({ current: { title: 'rain' }, queue: [] });
});

it.each([
  ['unreachable', "Discord's voice server isn't responding. Try again in a minute."],
  ['lost', undefined],
] as const)(
  'starts again after the connection failed while the party was stored: %s',
  async (reason, failure) => {
    const storing = Promise.withResolvers<void>();
    const slow: SettingsStore = {
      ...settings,
      update: async (...change) => {
        await storing.promise;
        return await settings.update(...change);
      },
    };
    first = startProcess('slow', { building, settings: slow, clock });
    const begun = first
      .as(ADA)
      .play(song('rain'))
      .catch((error: Error) => error.message);
    await settle();
    bot().options.onEnded(reason);
    storing.resolve();
    expect(await begun).toBe(failure ?? 'Playing rain in lounge.');
    await settle();
    expect(await now()).toBeUndefined();
    if (failure === undefined) await first.parties.sweep();
    else await play('rain');
    await settle();
    expect((await first.as(ADA).now())?.party).toMatchObject({ current: { title: 'rain' }, queue: [] });
    expect(bot().session.isPlaying).toBe(true);
  },
);

it('two people who start at the same moment share one party', async () => {
  const begun = await Promise.all([first.as(ADA).play(song('rain')), first.as(BO).play(song('sun'))]);
  expect(begun).toEqual(['Playing rain in lounge.', 'Queued sun at position 1.']);
});

it('resumes at the same second after a new connection to the platform', async () => {
  await play('rain');
  await pass(10);
  bot().options.onEnded('lost');
  await settle();
  clock.advance(20_000);
  await first.parties.sweep();
  await settle();
  await pass(2);
  expect(await now()).toBe('rain at 12');
});

it('plays through an outage of its server, starts nothing during it, and resumes afterwards', async () => {
  await play('rain');
  building.hasOutage = true;
  await pass(10);
  expect(bot().session.isPlaying).toBe(true);
  bot().options.onEnded('lost');
  await settle();
  building.bot = undefined;
  const before = await stored();
  await first.parties.sweep();
  await settle();
  expect(before).toMatchObject({ current: { title: 'rain' } });
  expect(building.bot, 'nothing is begun').toBeUndefined();
  expect(await stored()).toEqual(before);
  building.hasOutage = false;
  await first.parties.sweep();
  await settle();
  await pass(2);
  expect(await now()).toBe('rain at 12');
});

it('ends when the bot is removed from the server, even while offline, and stays ended after a new invitation', async () => {
  await play('rain');
  await pass(3);
  building.isGone = true;
  await pass(1);
  expect(bot().session.hasLeft).toBe(true);
  expect(lastShown()).toContain('A moderator disconnected me');
  expect(await now()).toBeUndefined();

  building.isGone = false;
  await play('sun');
  bot().options.onEnded('lost');
  await settle();
  building.isGone = true;
  building.bot = undefined;
  await first.parties.sweep();
  building.isGone = false;
  await first.parties.sweep();
  await settle();
  expect(building.bot).toBeUndefined();
  expect(await settings.get('parties:discord')).toEqual([]);
});

it('ends when no process has played it for an hour', async () => {
  await play('rain', 'snow');
  await first.parties.stop();
  clock.advance(59 * 60_000);
  const second = startProcess('second', { building, settings, clock });
  await second.parties.sweep();
  await settle();
  expect(second.shown.at(-1)?.title).toBe('Now playing: rain');
  await second.parties.stop();
  clock.advance(61 * 60_000);
  building.bot = undefined;
  const third = startProcess('third', { building, settings, clock });
  await third.parties.sweep();
  await settle();
  expect(building.bot).toBeUndefined();
  expect(JSON.stringify(third.shown.at(-1))).toContain('I was offline for over an hour');

  first = startProcess('fourth', { building, settings, clock });
  await play('sun');
  await first.parties.stop();
  clock.advance(61 * 60_000);
  expect(await third.as(ADA).play(song('hail')), 'what was queued before is not played').toBe(
    'Playing hail in lounge.',
  );
});

it('asks to be added if it is not a member of the server', async () => {
  building.isGone = true;
  await expect(first.as(ADA).play(song('rain'))).rejects.toThrow('Ask a moderator to add me');
});

it('reports that a person’s channel is unknown, instead of asking them to join one', async () => {
  await play('rain', 'sun');
  building.isChannelUnknown = true;
  const channelUnknown = 'which voice channel you are in right now. Try again in a minute';
  await expect(first.as(ADA).play(song('snow'))).rejects.toThrow(channelUnknown);
  await expect(first.as(BO).skip()).rejects.toThrow(channelUnknown);
  expect(await first.as(MODERATOR).skip()).toBe('Skipped rain.');
});

it('skips unplayable songs, and ends after several', async () => {
  building.broken.add('rain');
  await play('rain', 'sun');
  await pass(1);
  expect(await now()).toMatch(/^sun/);
  for (const job of ['a', 'b', 'c', 'd', 'e']) building.broken.add(job);
  await play('a', 'b', 'c', 'd', 'e');
  await first.as(ADA).skip();
  await pass(1);
  expect(lastShown()).toContain('Several songs in a row failed to play');
});

it('plays the channel’s songs if the radio is on and the queue is empty', async () => {
  first = startProcess('radio', { building, settings, clock, radio: [song('old'), song('older')] });
  await play('rain');
  await first.as(BO).radio(true);
  bot().session.end();
  await settle();
  await pass(1);
  expect(await now()).toMatch(/^old at/);
  expect(lastShown()).toContain('Radio');
  bot().session.end();
  await settle();
  await pass(1);
  expect(await now()).toMatch(/^old/);
});

it('continues at the same second in the process that gets the connection', async () => {
  await play('rain', 'sun');
  await pass(20);
  const { session: old } = bot();
  const second = startProcess('second', { building, settings, clock, serves: false });
  await second.parties.sweep();
  expect(bot().session, 'it is not connected').toBe(old);
  await first.parties.stop();
  expect(old.hasLeft).toBe(true);
  clock.advance(3_000);
  const third = startProcess('third', { building, settings, clock });
  await third.parties.sweep();
  await settle();
  await pass(5);
  expect(bot().session.isPlaying).toBe(true);
  const view = await third.as(ADA).now();
  expect(Math.round(view?.seconds ?? 0)).toBe(25);
  expect(view?.party.queue.map(({ title }) => title)).toEqual(['sun']);
});

it('continues after a crash as if it had kept playing', async () => {
  await play('rain');
  await pass(20);
  const second = startProcess('second', { building, settings, clock });
  clock.advance(15_000);
  await second.parties.sweep();
  await settle();
  await pass(1);
  expect(Math.round((await second.as(ADA).now())?.seconds ?? 0)).toBe(36);
});

it('leaves and stops writing when another process gets the connection', async () => {
  await play('rain', 'sun');
  await pass(1);
  const before = await stored();
  building.isElsewhere = true;
  await pass(2);
  expect(bot().session.hasLeft).toBe(true);
  expect(await stored()).toEqual(before);
  expect(first.shown.at(-1)?.title).toBe('Now playing: rain');
});
