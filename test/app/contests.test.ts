import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ContestRunner } from '../../src/app/contests/contests.ts';
import { createPageSource } from '../../src/app/routes/page-source.ts';
import { createTimers } from '../../src/app/timers.ts';
import type { Bot } from '../../src/core/bot/create-bot.ts';
import type { Outcome } from '../../src/core/bot/outcome.ts';
import type { Contest } from '../../src/core/contest.ts';
import type { Address, Invocation, Person } from '../../src/core/invocation.ts';
import { type Message, parseActionId } from '../../src/core/message.ts';
import type { PartyTools } from '../../src/core/music/party.ts';
import { type ChatPoll, PlatformError } from '../../src/platforms/platform.ts';
import { createContestStore } from '../../src/settings/contests/contests.ts';
import { createBotOn, createContestsOn } from '../core/bot-on-world.ts';
import { createWorld, songCallback, type World } from '../jobs/world.ts';
import { type Administered, administer } from '../settings/administration.ts';
import { ADA, HERE, MOD, person } from '../settings/samples.ts';

const BOB = person('bob');
const CID = person('cid');
const HOUR = 3_600_000;

let world: World;
let administered: Administered;
let contests: ContestRunner;
let bot: Bot;
let events = 0;

beforeEach(async () => {
  world = await createWorld();
  administered = administer(world);
  contests = createContestsOn(world);
  bot = createBotOn(world, { administered, contests });
  await run();
});
afterEach(async () => {
  await world.jobs.stop();
  await world[Symbol.asyncDispose]();
});

const run = () => world.jobs.run(bot.run, createTimers({ contests: contests.run }, world));

type Request = Partial<Invocation> & Pick<Invocation, 'command'>;
const ask = (by: Person, request: Request): Promise<Outcome> =>
  bot.run({
    id: `event-${++events}`,
    options: {},
    address: { ...HERE, person: by.id },
    person: by,
    ...request,
  });

async function replyText(outcome: Promise<Outcome>): Promise<string> {
  const found = await outcome;
  const message =
    found.type === 'accepted' ? found.reply : found.type === 'message' ? found.message : undefined;
  return (message?.text ?? `a ${found.type}`).replaceAll('\\', '');
}

const contest = (subcommand: string, options: Invocation['options'] = {}, by = MOD) =>
  replyText(ask(by, { command: 'contest', subcommand, options }));
const start = (options: Invocation['options'] = {}) =>
  contest('start', { theme: 'Rain', ends: 'in 3 hours', ...options });

const store = () => createContestStore(world.storage);
const KEY = () => store().keyOf(HERE);
const read = () => store().read(KEY());
async function current(): Promise<Contest> {
  const { current: found } = await read();
  if (!found) throw new Error('There is no contest');
  return found;
}

const song = (by: Person, more: Partial<Invocation> = {}) =>
  ask(by, { command: 'song', options: { prompt: `a song of ${by.id}` }, ...more });

/** Enters a song, and resolves to its job. */
async function enter(by: Person, where: Address = HERE): Promise<string> {
  const outcome = await song(by, { address: { ...where, person: by.id } });
  if (outcome.type !== 'accepted') throw new Error(JSON.stringify(outcome));
  outcome.begin();
  return outcome.job;
}

async function finishSong(job: string): Promise<void> {
  await expect.poll(async () => (await world.read(job)).state).toBe('waiting');
  const { taskId } = await world.read(job);
  await world.callback(job, songCallback('complete', taskId));
  await expect.poll(async () => (await world.read(job)).state).toBe('delivered');
}

async function finishedEntry(by: Person, where: Address = HERE): Promise<string> {
  const job = await enter(by, where);
  await finishSong(job);
  return job;
}

const shown = (title: string): Message | undefined =>
  [...world.platform.shown.values()].findLast((message) =>
    message.title?.startsWith(`Song contest: Rain${title}`),
  );
const announced = () =>
  [...world.platform.shown.values()].find(({ title }) => title === 'Song contest: Rain');
const ballot = () =>
  [...world.platform.shown.values()].find(({ title }) => /^Song contest: Rain: \d/.test(title ?? ''));
const result = () => shown(': the ');

function idOf(message: Message | undefined, label: string): string {
  const button = message?.actions?.find((each) => each.label === label);
  if (button?.type !== 'action') throw new Error(`There is no button ${label}`);
  return button.id;
}

function press(by: Person, message: Message | undefined, label: string, more: Partial<Invocation> = {}) {
  const { command = '', action = '', job = '', index = 0 } = parseActionId(idOf(message, label)) ?? {};
  return ask(by, { command, action: { name: action, job, index }, ...more });
}

const messageOf = (job: string) =>
  [...world.platform.shown.values()].find((message) => JSON.stringify(message).includes(`:${job}:`));

/** The number of an entry in the vote. */
const numberOf = async (job: string) => (await current()).ballot.findIndex((each) => each.job === job) + 1;
const voteFor = async (by: Person, job: string) =>
  replyText(press(by, ballot(), `Vote for entry ${await numberOf(job)}`));

async function toVote(): Promise<void> {
  await contest('end');
  await expect.poll(ballot).toBeDefined();
}

async function toResult(): Promise<Message> {
  await contest('end');
  await expect.poll(async () => (await read()).current).toBeUndefined();
  const message = result();
  if (!message) throw new Error('There is no result');
  return message;
}

test('accepts entries, holds an anonymous vote and posts the winner', async () => {
  expect(await start()).toContain(
    'Entries are open until Wed, 15 Nov 2023, 01:13 (UTC). Voting then lasts 1 day.',
  );
  await expect.poll(announced).toBeDefined();
  const [ada, bob] = [await finishedEntry(ADA), await finishedEntry(BOB)];
  await expect.poll(() => announced()?.fields).toContainEqual({ name: 'Entries so far', value: '2' });
  world.clock.advance(3 * HOUR);
  await expect.poll(ballot).toBeDefined();
  expect(announced()?.text).toContain('Entries are closed.');
  expect(ballot()?.media?.map(({ name, tags }) => [name, tags])).toEqual([
    ['Entry 1.mp3', undefined],
    ['Entry 2.mp3', undefined],
  ]);
  expect(JSON.stringify(ballot())).not.toMatch(/ada|bob/i);
  expect(await voteFor(CID, ada)).toContain('Your vote: entry');
  expect(await voteFor(CID, bob)).toContain('Your vote: entry');
  expect(await voteFor(MOD, bob)).toContain('Your vote: entry');
  world.clock.advance(24 * HOUR);
  await expect.poll(result).toBeDefined();
  expect(result()?.text).toContain('**Rain** by **Bob** wins with 2 votes.');
  expect(result()?.text).toMatch(/\| 2 \| \d \| Rain \| Bob \|\n\| 0 \| \d \| Rain \| Ada \|/);
  expect(result()?.media?.map(({ name }) => name)).toEqual(['Rain.mp3']);
  await expect.poll(async () => (await read()).current).toBeUndefined();
  expect((await read()).past[0]?.standings.map(({ votes }) => votes)).toEqual([2, 0]);
  expect(ballot()?.actions).toEqual([]);
  expect(world.platform.privateMessages).toEqual([]);
});

describe('entries', () => {
  test('stay secret until the vote is over', async () => {
    await start();
    const job = await finishedEntry(ADA);
    const [id = ''] = [...world.platform.shown].find(([, message]) => message === messageOf(job)) ?? [];
    expect(world.platform.addresses.get(id)).toMatchObject({
      channel: 'channel',
      person: 'ada',
      toPerson: true,
    });
    expect(await world.storage.jobs.recentSongs(HERE, 9)).toEqual([]);
    expect(await world.storage.jobs.recentServerSongs({ platform: 'discord', guild: 'guild' }, 9)).toEqual(
      [],
    );
    await toVote();
    expect(await world.storage.jobs.recentSongs(HERE, 9)).toEqual([]);
    await toResult();
    expect(await world.storage.jobs.recentSongs(HERE, 9)).toHaveLength(1);
    expect((await world.read(job)).hidden).toBe(false);
  });

  test('are limited per person, even with two simultaneous requests', async () => {
    await start();
    const answers = await Promise.all([replyText(song(ADA)), replyText(song(ADA))]);
    expect(answers.toSorted()).toEqual([
      expect.stringMatching(/^You've already entered\. To enter another song, first press/),
      "Your entry is being made. I'll send it to you in a direct message.",
    ]);
    expect(await Array.fromAsync(world.storage.jobs.all())).toHaveLength(1);
    expect(await replyText(song(BOB))).toContain('Your entry is being made');
  });

  test('can be several per person if the contest allows it', async () => {
    await start({ entries: 2 });
    await enter(ADA);
    await enter(ADA);
    expect(await replyText(song(ADA))).toContain("You've already entered twice.");
  });

  test('count once if the request is delivered twice', async () => {
    await start();
    const [first, second] = [await song(ADA, { id: 'same' }), await song(ADA, { id: 'same' })];
    expect(first).toMatchObject({ type: 'accepted' });
    expect(second).toMatchObject({ type: 'accepted', job: first.type === 'accepted' ? first.job : '' });
    expect((await current()).entries).toHaveLength(1);
  });

  test('do not count if the song is refused, cancelled or fails', async () => {
    await start();
    const limits = (most: number) =>
      ask(MOD, { command: 'limits', subcommand: 'set', options: { what: 'song', most, where: 'server' } });
    await limits(0);
    expect(await replyText(song(ADA))).toContain('limit');
    expect((await current()).entries).toEqual([]);
    await limits(9);
    const job = await enter(ADA);
    await expect.poll(async () => (await world.read(job)).state).toBe('waiting');
    await press(ADA, messageOf(job), 'Cancel');
    await expect.poll(async () => (await world.read(job)).state).toBe('cancelled');
    expect(await replyText(song(ADA))).toContain('Your entry is being made');
    expect((await current()).entries).toHaveLength(1);
  });

  test('can be retried with Again in the direct message', async () => {
    await start();
    const job = await enter(ADA);
    await expect.poll(async () => (await world.read(job)).state).toBe('waiting');
    await press(ADA, messageOf(job), 'Cancel');
    await expect.poll(() => messageOf(job)?.text).toBe('Cancelled.');
    const address = { platform: 'discord', channel: 'direct', direct: true, person: 'ada' };
    expect(await replyText(press(ADA, messageOf(job), 'Again', { address }))).toContain(
      'Your entry is being made',
    );
    const [entry] = (await current()).entries;
    expect(entry?.job).not.toBe(job);
    expect(await world.read(entry?.job ?? '')).toMatchObject({
      address: { channel: 'channel', toPerson: true },
    });
  });

  test('can be made with the Enter button, whose form suggests the theme', async () => {
    await start();
    await expect.poll(announced).toBeDefined();
    expect(await press(ADA, announced(), 'Enter')).toMatchObject({
      type: 'form',
      form: { id: 'song', title: 'Enter the contest', initial: { prompt: 'Rain' } },
    });
  });

  test('can be switched to the other take until entries close', async () => {
    await start();
    const job = await finishedEntry(ADA);
    expect(await replyText(press(ADA, messageOf(job), 'Enter take 2'))).toBe('Take 2 is your entry.');
    await toVote();
    expect((await current()).ballot[0]?.take).toBe(1);
    expect(ballot()?.media?.[0]?.source).toMatchObject({ file: { name: 'two.mp3' } });
    expect(await replyText(press(ADA, messageOf(job), 'Enter take 1'))).toContain('Entries are closed');
  });

  test('can be withdrawn before and during the vote', async () => {
    await start();
    const [ada, bob] = [await finishedEntry(ADA), await finishedEntry(BOB)];
    expect(await replyText(press(ADA, messageOf(ada), 'Withdraw entry'))).toContain('withdrawn');
    const again = await finishedEntry(ADA);
    await toVote();
    await voteFor(CID, again);
    const number = await numberOf(again);
    await press(ADA, messageOf(again), 'Withdraw entry');
    await expect.poll(() => ballot()?.text).toContain(`Entry ${number} was withdrawn.`);
    expect(ballot()?.media).toHaveLength(1);
    await voteFor(MOD, bob);
    expect((await toResult()).text).toContain('by **Bob** wins with 1 vote.');
    expect(result()?.text).not.toContain('Ada');
    expect(await replyText(press(ADA, messageOf(again), 'Withdraw entry'))).toContain('There is no contest');
    expect((await world.read(again)).hidden).toBe(true);
  });

  test('delay the vote while their songs are unfinished', async () => {
    await start();
    const job = await enter(ADA);
    await contest('end');
    await expect.poll(() => announced()?.text).toContain('The vote starts when the last song is finished.');
    expect(await contest('show')).toContain('Entries are closed.');
    expect(await replyText(song(BOB))).toBe('a accepted');
    await finishSong(job);
    world.clock.advance(60_000);
    await expect.poll(ballot).toBeDefined();
  });

  test('delay the vote for 20 minutes at most', async () => {
    await start();
    await finishedEntry(ADA);
    await enter(BOB);
    await contest('end');
    await expect.poll(() => announced()?.text).toContain('The vote starts when');
    world.clock.advance(21 * 60_000);
    await expect.poll(() => ballot()?.media).toHaveLength(1);
  });

  test('do not include songs that a model requested', async () => {
    await start();
    const outcome = await song(ADA, { isAutomatic: true });
    expect(outcome).not.toHaveProperty('reply');
    expect((await current()).entries).toEqual([]);
  });

  test('are refused for people who may not use the command', async () => {
    await start();
    await ask(MOD, { command: 'limits', subcommand: 'deny', options: { what: 'contest', who: '<@ada>' } });
    expect(await song(ADA)).not.toHaveProperty('reply');
    await expect.poll(announced).toBeDefined();
    expect(await replyText(press(ADA, announced(), 'Enter'))).toContain("You can't use /contest here");
  });

  test('are listed in /jobs if direct messages are closed, but shown only in direct messages', async () => {
    await start();
    const job = await enter(ADA);
    await expect.poll(async () => (await world.read(job)).state).toBe('waiting');
    const closed = () => new PlatformError('gone', 'closed');
    world.platform.failures.push(...Array.from({ length: 2 }, closed));
    world.platform.privateFailures.push(closed());
    await world.callback(job, songCallback('complete', (await world.read(job)).taskId));
    await expect.poll(async () => (await world.read(job)).undelivered).toBe(true);
    const list = await ask(ADA, { command: 'jobs' });
    const listed = list.type === 'message' ? list.message : undefined;
    expect(await replyText(press(ADA, listed, 'Show 1 here'))).toContain('send me /jobs in a direct message');
  });
});

describe('the end of a contest', () => {
  test('is immediate without entries', async () => {
    await start();
    await contest('end');
    await expect.poll(() => announced()?.text).toBe('The contest is over. It had no entries.');
    await expect.poll(async () => (await read()).current).toBeUndefined();
    expect(result()).toBeUndefined();
  });

  test('has no winner if nobody voted', async () => {
    await start();
    await finishedEntry(ADA);
    await toVote();
    expect((await toResult()).text).toContain('Nobody voted, so there is no winner.');
    expect(result()?.text).toContain('| 0 | 1 | Rain | Ada |');
  });

  test('names everyone who tied', async () => {
    await start();
    const [ada, bob] = [await finishedEntry(ADA), await finishedEntry(BOB)];
    await toVote();
    await voteFor(ADA, ada);
    await voteFor(BOB, bob);
    const { text, media, title } = await toResult();
    expect(title).toBe('Song contest: Rain: the result');
    expect(text).toContain("It's a tie:");
    expect(text).toMatch(/by \*\*Ada\*\*/);
    expect(text).toMatch(/by \*\*Bob\*\*/);
    expect(media).toHaveLength(2);
  });

  test('is delayed if the bot was down, and the vote still lasts its full time', async () => {
    await start();
    await finishedEntry(ADA);
    await world.jobs.stop();
    world.clock.advance(30 * HOUR);
    await run();
    await expect.poll(ballot).toBeDefined();
    expect((await current()).votingEndsAt).toBe(world.clock.now() + 24 * HOUR);
  });

  test('posts the ballot once, even if the process died before recording it', async () => {
    await start();
    await finishedEntry(ADA);
    await world.jobs.stop();
    world.clock.advance(3 * HOUR);
    world.platform.crash = (point) => {
      if (point === 'after show' && ballot()) throw new Error('the process died');
    };
    await expect(contests.run(KEY(), { interrupted: false })).rejects.toThrow('the process died');
    world.platform.crash = () => undefined;
    await contests.run(KEY(), { interrupted: true });
    expect(
      [...world.platform.shown.values()].filter(({ title }) => /: 1 entry/.test(title ?? '')),
    ).toHaveLength(1);
  });

  test('is counted and posted once with two replicas', async () => {
    await start();
    await finishedEntry(ADA);
    await toVote();
    await world.jobs.stop();
    world.clock.advance(25 * HOUR);
    const replica = createContestsOn(world);
    await Promise.all([
      contests.run(KEY(), { interrupted: true }),
      replica.run(KEY(), { interrupted: true }),
    ]);
    expect((await read()).past).toHaveLength(1);
    expect((await read()).current).toBeUndefined();
  });

  test('is sent to the moderator who started the contest if the channel was deleted', async () => {
    await start();
    await finishedEntry(ADA);
    await toVote();
    await world.jobs.stop();
    world.clock.advance(25 * HOUR);
    world.platform.failures.push(...Array.from({ length: 4 }, () => new PlatformError('gone', 'deleted')));
    await contests.run(KEY(), { interrupted: false });
    expect(world.platform.privateMessages.map(({ title }) => title)).toEqual([
      'Song contest: Rain: the result',
    ]);
    expect((await read()).current).toBeUndefined();
  });

  test('is reported to its moderator if the bot cannot announce the contest', async () => {
    const advice = 'Invite me with /invite.';
    world.platform.failures.push(new PlatformError('not-invited', 'not in the channel', { advice }));
    await start();
    await expect.poll(read).toEqual({ version: 1, past: [] });
    expect(world.platform.privateMessages.map(({ text = '' }) => text.replaceAll('\\', ''))).toEqual([
      "I can't post in that channel, so the contest did not start. Invite me with /invite.",
    ]);
  });

  test('is delayed while the chat is down', async () => {
    await start();
    await finishedEntry(ADA);
    await toVote();
    await world.jobs.stop();
    world.clock.advance(25 * HOUR);
    world.platform.failures.push(new PlatformError('unavailable', 'down'));
    await expect(contests.run(KEY(), { interrupted: false })).rejects.toThrow('down');
    await contests.run(KEY(), { interrupted: true });
    expect(result()).toBeDefined();
  });

  test('has no winner if a moderator cancels the contest', async () => {
    await start();
    const job = await finishedEntry(ADA);
    expect(await contest('cancel', {}, ADA)).toBe('Only moderators can start, end or cancel a contest.');
    expect(await contest('cancel')).toContain('The contest is cancelled.');
    await expect.poll(() => announced()?.text).toBe('Cancelled by Mod.');
    await expect.poll(async () => (await world.read(job)).hidden).toBe(false);
    await expect.poll(read).toEqual({ version: 1, past: [] });
    expect(await start()).toContain('Entries are open until');
  });
});

describe('polls', () => {
  interface Opened extends ChatPoll {
    readonly key: string;
    votes: number[];
    isFinal: boolean;
    isDeleted: boolean;
  }
  const opened: Opened[] = [];
  beforeEach(() => {
    opened.length = 0;
    world.platform.polls = {
      mostAnswers: 2,
      async open(_address, poll, key) {
        opened.push({ ...poll, key, votes: poll.answers.map(() => 0), isFinal: true, isDeleted: false });
        return { index: opened.length - 1 };
      },
      async close(_address, { index }) {
        const { votes = [], isFinal = true, isDeleted } = opened[Number(index)] ?? {};
        return isDeleted ? undefined : { votes, isFinal };
      },
    };
  });
  const question = 'Rain: which entry is the best?';

  test('replace the vote buttons, and split the entries if one poll is too short', async () => {
    await start({ voting: '48' });
    for (const by of [ADA, BOB, CID]) await finishedEntry(by);
    await toVote();
    await expect.poll(() => opened).toHaveLength(2);
    expect(opened.map((poll) => [poll.question, poll.answers, poll.hours])).toEqual([
      [question, ['Entry 1', 'Entry 2'], 49],
      [question, ['Entry 3'], 49],
    ]);
    expect(ballot()?.actions).toEqual([]);
    expect(ballot()?.text).toContain('You have one vote in each poll below.');
    const [first, second] = opened;
    if (first) first.votes = [1, 2];
    if (second) second.votes = [5];
    const winner = (await current()).ballot[2]?.job;
    const names = new Map(
      (await current()).entries.map(({ job, person: { displayName } }) => [job, displayName]),
    );
    expect((await toResult()).text).toContain(`by **${names.get(winner ?? '')}** wins with 5 votes.`);
  });

  test('are read once the platform has counted their votes', async () => {
    await start();
    await finishedEntry(ADA);
    await toVote();
    await expect.poll(() => opened).toHaveLength(1);
    const [poll] = opened;
    if (poll) poll.isFinal = false;
    await contest('end');
    await expect.poll(() => world.clock.next).toBeDefined();
    expect(result()).toBeUndefined();
    if (poll) Object.assign(poll, { isFinal: true, votes: [7] });
    await expect
      .poll(() => {
        world.clock.advance(1_000);
        return result()?.text;
      })
      .toContain('wins with 7 votes');
  });

  test('are reported if a moderator deleted them', async () => {
    await start();
    await finishedEntry(ADA);
    await toVote();
    await expect.poll(() => opened).toHaveLength(1);
    if (opened[0]) opened[0].isDeleted = true;
    const { text } = await toResult();
    expect(text).toContain('Nobody voted, so there is no winner.');
    expect(text).toContain('A poll was deleted before the end, so its votes are missing.');
  });

  test('are replaced by buttons if the bot may not create them', async () => {
    if (world.platform.polls)
      world.platform.polls = {
        ...world.platform.polls,
        open: () => Promise.reject(new PlatformError('gone', 'no permission')),
      };
    await start();
    const ada = await finishedEntry(ADA);
    await toVote();
    await expect.poll(() => ballot()?.actions).toHaveLength(1);
    await voteFor(CID, ada);
    expect((await toResult()).text).toContain('wins with 1 vote');
  });
});

test('links to the pages of the songs, and marks the page of the winner', async () => {
  contests = createContestsOn(world, { pageUrl: async ({ id }) => `https://bot.example/songs/${id}` });
  await world.jobs.stop();
  await run();
  await start();
  const address = { ...HERE, public: true };
  const [ada, bob] = [await finishedEntry(ADA, address), await finishedEntry(BOB, address)];
  await toVote();
  await voteFor(CID, bob);
  const { actions = [], text } = await toResult();
  expect(text).toContain(`[Rain](<https://bot.example/songs/${ada}>)`);
  const links = actions.flatMap((action) => (action.type === 'link' ? [action] : []));
  expect(links.map(({ label }) => label)).toEqual(['Listen to Rain', 'All entries']);
  const source = createPageSource({
    storage: world.storage,
    media: {
      stat: async (name) => ({ name, bytes: 1, contentType: 'audio/mpeg' }),
      path: (name) => `files/${name}`,
    },
    decisions: administered.decisions,
    contests: store(),
    pathOf: ({ id }) => `songs/${id}`,
  });
  expect(await source.album(links[1]?.url.split('/').at(-1) ?? '')).toMatchObject({
    title: 'Song contest: Rain',
    songs: [
      { title: 'Rain', person: 'Bob', note: '1 vote', path: `songs/${bob}` },
      { title: 'Rain', person: 'Ada', note: '0 votes', path: `songs/${ada}` },
    ],
  });
  expect(await source.song(bob)).toMatchObject({ award: 'Winner of the song contest “Rain”' });
  expect(await source.song(ada)).not.toHaveProperty('award');
  await store().prune(world.clock.now() + 1);
  expect(await source.album(links[1]?.url.split('/').at(-1) ?? '')).toBe('erased');
});

test('plays the entries in a voice channel, in order and without titles', async () => {
  const played: string[] = [];
  const unused = () => Promise.reject(new TypeError('not used in this test'));
  const tools: PartyTools = {
    async play({ job, index, title }) {
      played.push(`${title}: ${job} ${index}`);
      return `Queued ${title}.`;
    },
    ...{ skip: unused, remove: unused, shuffle: unused, loop: unused, radio: unused },
    ...{ pause: unused, resume: unused, stop: unused, now: unused },
  };
  bot = createBotOn(world, { administered, contests, partiesOn: () => ({ toolsFor: () => tools }) });
  const party = () => replyText(ask(CID, { command: 'party', subcommand: 'contest' }));
  await start();
  const [ada] = [await finishedEntry(ADA), await finishedEntry(BOB), await finishedEntry(MOD)];
  expect(await party()).toContain('There is no vote in this channel right now.');
  await toVote();
  const gone = await numberOf(ada);
  await press(ADA, messageOf(ada), 'Withdraw entry');
  const first = gone === 1 ? 2 : 1;
  expect(await party()).toBe(`Queued Entry ${first}. 1 more entry follows.`);
  const { ballot: entries } = await current();
  expect(played).toEqual(
    entries.flatMap(({ job, take }, index) => (job === ada ? [] : [`Entry ${index + 1}: ${job} ${take}`])),
  );
});

test('allows one contest at a time per channel, in servers only', async () => {
  expect(await contest('show')).toContain('There is no contest in this channel.');
  await start();
  expect(await start()).toContain('There is already a contest in this channel.');
  expect(await contest('start', { theme: 'Snow', ends: 'in 3 hours' }, ADA)).toContain('Only moderators');
  const direct = { address: { platform: 'discord', channel: 'direct', person: 'mod' } };
  expect(
    await replyText(
      ask(MOD, {
        command: 'contest',
        subcommand: 'start',
        options: { theme: 'a', ends: 'in 3 hours' },
        ...direct,
      }),
    ),
  ).toContain('A contest needs other people.');
  expect(await contest('show', {}, ADA)).toContain('Enter a song about this theme');
});

test('refuses times that are unclear, recurring, past or too far away', async () => {
  expect(await start({ ends: 'soon' })).toBe(
    "I don't understand the time “soon”. Try “friday at 18:00”, “tomorrow at 9:00” or “in 3 hours”.",
  );
  expect(await start({ ends: 'every day at 9:00' })).toContain('Try “friday at 18:00”');
  expect(await start({ ends: '2020-01-01 10:00' })).toContain('already passed');
  expect(await start({ ends: '2024-03-01 10:00' })).toContain('up to 30 days');
});

test('erases the entries, votes and name of a forgotten person', async () => {
  await start();
  const [ada, bob] = [await finishedEntry(ADA), await finishedEntry(BOB)];
  await toVote();
  await voteFor(ADA, bob);
  await voteFor(CID, ada);
  const forget = (by: Person) =>
    ask(by, { command: 'minstrel', subcommand: 'forget', options: { confirm: true } });
  await forget(ADA);
  await forget(MOD);
  expect(JSON.stringify(await read())).not.toMatch(/"ada"|"Ada"|"mod"|"Mod"/);
  expect((await current()).votes).toEqual({});
  await toResult();
  await forget(BOB);
  expect(JSON.stringify(await read())).not.toMatch(/"bob"|"Bob"/);
});

test('deletes results after the retention period of songs', async () => {
  await start();
  await finishedEntry(ADA);
  await toVote();
  await toResult();
  await store().prune(world.clock.now() - 1);
  expect((await read()).past).toHaveLength(1);
  await store().prune(world.clock.now() + 1);
  expect((await read()).past).toEqual([]);
});

test('sets the timers of contests restored from a backup', async () => {
  await start();
  await using restored = await createWorld();
  await restored.storage.settings.set(KEY(), await world.storage.settings.get(KEY()));
  const runner = createContestsOn(restored);
  const timers = createTimers({ contests: runner.run }, restored);
  await restored.jobs.run(bot.run, timers);
  await timers.setAll();
  await expect.poll(() => restored.clock.next).toBeDefined();
  restored.clock.advance(3 * HOUR);
  await expect
    .poll(async () => (await createContestStore(restored.storage).read(KEY())).current)
    .toBeUndefined();
  await restored.jobs.stop();
});
