/** Results whose channel closes before the interaction expires, and late results. */
import { afterEach, describe, expect, it } from 'vitest';
import type { JobDependencies } from '../../../../src/jobs/dependencies.ts';
import { advanceOnce, createWorld, SONG, songCallback, type World } from '../../../jobs/world.ts';
import type { Channel, DiscordServer } from '../../../servers/discord/index.ts';
import { accept, type Harness, startHarness } from '../harness.ts';

let harness: Harness;
let world: World;

afterEach(async () => {
  await harness.close();
  await world[Symbol.asyncDispose]();
});

const CLOSINGS: readonly [string, (thread: Channel, discord: DiscordServer) => void, code: number][] = [
  ['a thread that was locked', (thread) => Object.assign(thread, { archived: true, locked: true }), 50_083],
  ['a channel that was deleted', ({ id }, { world }) => world.channels.delete(id), 10_003],
];

/** Starts a song by slash command. */
async function startSong() {
  harness = await startHarness();
  world = await createWorld();
  const { discord, bot, media, platform } = harness;
  const thread = discord.world.addChannel('aside', {
    type: 11,
    guildId: discord.guild.id,
    parentId: discord.channel.id,
  });
  const started = accept(bot);
  discord.command({ name: 'song', options: { prompt: 'rain' }, channel: thread });
  const { address, person } = await started;
  const dependencies: JobDependencies = {
    ...world.dependencies,
    platform: () => platform,
    media: {
      ...world.dependencies.media,
      keep: async (url) => media.keep(url.split('/').at(-1) ?? '', Buffer.from(url)),
    },
  };
  const job = await world.start(SONG, { address, person });
  const run = () => advanceOnce(dependencies, job);
  await run();
  expect(discord.botMessages(thread)).toHaveLength(1);
  return { discord, thread, job, run, address, person };
}

/** Starts a song, closes its channel and completes it. */
async function completeAfterClosing(close: (thread: Channel, discord: DiscordServer) => void) {
  const song = await startSong();
  const { discord, thread, job } = song;
  close(thread, discord);
  await world.callback(job, songCallback('complete'));
  const files = () => discord.botMessages(discord.directChannel()).flatMap(({ attachments }) => attachments);
  return { ...song, files, titles: ['Rain_take_1.mp3', 'Rain_take_2.mp3'] };
}

describe.each(CLOSINGS)('a song for %s', (_name, close, code) => {
  it('is sent by direct message, with its files and the reason', async () => {
    const { discord, job, run, files, titles } = await completeAfterClosing(close);
    await run();
    expect(files().map(({ filename }) => filename)).toEqual(expect.arrayContaining(titles));
    expect(JSON.stringify(discord.botMessages(discord.directChannel()))).toMatch(
      /archived and locked|channel was deleted/,
    );
    expect(await world.read(job)).toMatchObject({ state: 'delivered' });
    expect((await world.read(job)).undelivered).toBeUndefined();
    expect(discord.refused.map((refused) => refused.code)).toContain(code);
  });

  it('is sent when Discord accepts direct messages again', async () => {
    const { discord, job, run, files, titles } = await completeAfterClosing(close);
    discord.faults.fail(503, { times: 4, path: /^POST .(users|channels)/ });
    expect(await run()).toBeGreaterThan(world.clock.now());
    expect(files()).toEqual([]);
    world.clock.advance(60_000);
    expect(await run()).toBeUndefined();
    expect(files().map(({ filename }) => filename)).toEqual(expect.arrayContaining(titles));
    expect((await world.read(job)).undelivered).toBeUndefined();
  });

  it('is listed under /jobs if the requester does not accept direct messages', async () => {
    const { discord, run, job, address, person, files } = await completeAfterClosing(close);
    discord.world.rejectsDirectMessages.add(discord.user.id);
    await run();
    expect(files()).toEqual([]);
    const undelivered = await world.storage.jobs.undelivered(address.platform, person.id, 5);
    expect(undelivered.map(({ id }) => id)).toEqual([job]);
  });
});

it('a song after its deadline mentions the requester when it is incomplete, and again when it is ready', async () => {
  const { discord, thread, job, run } = await startSong();
  const mentions = () => discord.botMessages(thread).filter(({ pinged }) => pinged.length > 0);
  const words = () => mentions().map(({ content }) => content.replace(`<@${discord.user.id}>`, '@Ada'));
  world.clock.advance(31 * 60_000);
  discord.advance(31 * 60_000);
  await run();
  expect((await world.read(job)).state).toBe('expired');
  expect(words()).toEqual(['@Ada this is incomplete.']);
  await world.callback(job, songCallback('complete'));
  for (let time = 0; time < 2; time += 1) await run();
  expect((await world.read(job)).state).toBe('delivered');
  expect(words()).toEqual(['@Ada this is incomplete.', '@Ada this is ready.']);
  expect(discord.botMessages(thread)[0]?.attachments).toHaveLength(3);
  expect(discord.refused).toEqual([]);
});

it('private messages beyond the follow-up limit are sent by direct message', async () => {
  harness = await startHarness();
  world = await createWorld();
  const { discord, bot, platform } = harness;
  const elsewhere = discord.world.addGuild('Elsewhere', { installed: false });
  const started = accept(bot);
  const channel = discord.world.addChannel('general', { guildId: elsewhere.id });
  const command = discord.command({ name: 'song', options: { prompt: 'rain' }, channel });
  const { address } = await started;
  for (let count = 1; count <= 6; count += 1) await platform.sendPrivately(address, { text: `${count}` });
  expect(command.followUps.map(({ content }) => content)).toEqual(['1', '2', '3', '4', '5']);
  expect(discord.botMessages(discord.directChannel()).map(({ content }) => content)).toEqual(['6']);
});

it('two private messages in the same millisecond both arrive', async () => {
  const at = Date.now();
  harness = await startHarness({ adapter: () => ({ now: () => at }) });
  world = await createWorld();
  const { discord, platform } = harness;
  const address = { platform: 'discord', channel: 'gone', person: discord.user.id };
  await Promise.all(['Rain', 'Snow'].map((text) => platform.sendPrivately(address, { text })));
  const messages = discord.botMessages(discord.directChannel()).map(({ content }) => content);
  expect(messages.toSorted()).toEqual(['Rain', 'Snow']);
});
