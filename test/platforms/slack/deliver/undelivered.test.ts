/** Results whose channel closes within the thirty minutes in which the command that asked for them can be answered, and late ones. */
import { afterEach, describe, expect, it } from 'vitest';
import type { JobDependencies } from '../../../../src/jobs/dependencies.ts';
import { advanceOnce, createWorld, SONG, songCallback, type World } from '../../../jobs/world.ts';
import { pings, readableText } from '../../../servers/slack/mentions.ts';
import type { SlackServer } from '../../../servers/slack/server.ts';
import { type Harness, startHarness } from '../harness.ts';

let harness: Harness;
let world: World;

afterEach(async () => {
  await harness.stop();
  await world[Symbol.asyncDispose]();
});

const CLOSINGS: readonly [string, (server: SlackServer) => void, refusal: string][] = [
  [
    'archived',
    ({ workspace }) => Object.assign(workspace.channels.get('C0MUSIC') ?? {}, { archived: true }),
    'is_archived',
  ],
  ['deleted', ({ workspace }) => workspace.channels.delete('C0MUSIC'), 'channel_not_found'],
];

/** A song that was asked for by a slash command. */
async function composing() {
  harness = await startHarness({ shareDelayMs: 0 });
  world = await createWorld();
  const { server, bot, slack } = harness;
  await server.slash('/song', 'rain');
  const { address, person } = await server.until(() => bot.invocations[0]);
  const kept = (name = '') => ({ name, bytes: 1, contentType: 'audio/mpeg' });
  const dependencies: JobDependencies = {
    ...world.dependencies,
    platform: () => slack,
    media: { ...world.dependencies.media, keep: async (url) => kept(url.split('/').at(-1)) },
  };
  const job = await world.start(SONG, { address, person });
  const run = () => advanceOnce(dependencies, job);
  await run();
  expect(server.botMessages()).toHaveLength(1);
  return { server, job, run, address, person };
}

/** A song whose channel closes while it is composed. */
async function composedFor(close: (server: SlackServer) => void) {
  const song = await composing();
  close(song.server);
  await world.callback(song.job, songCallback('complete'));
  const told = () => song.server.botMessages('D0ADA').map(readableText).join('\n');
  return { ...song, told };
}

describe.each(CLOSINGS)('a song for a channel that was %s', (_name, close, refusal) => {
  it('comes by direct message, with links to its files', async () => {
    const { server, job, run, told } = await composedFor(close);
    await run();
    for (const name of ['Rain (take 1).mp3', 'Rain (take 2).mp3']) expect(told()).toContain(`|${name}`);
    expect(await world.read(job)).toMatchObject({ state: 'delivered' });
    expect((await world.read(job)).undelivered).toBeUndefined();
    expect(server.refused.map(({ error }) => error)).toContain(refusal);
  });

  it('comes when Slack takes direct messages again', async () => {
    const { server, job, run, told } = await composedFor(close);
    server.faults.next('chat.postMessage', { type: 'ratelimited', retryAfter: 90 });
    expect(await run()).toBeGreaterThanOrEqual(world.clock.now() + 90_000);
    expect(told()).toBe('');
    world.clock.advance(91_000);
    expect(await run()).toBeUndefined();
    expect(told()).toContain('Rain (take 2)');
    expect((await world.read(job)).undelivered).toBeUndefined();
  });

  it('is listed under /jobs where its person takes no direct messages', async () => {
    const { server, job, run, address, person, told } = await composedFor(close);
    server.faults.every(1, 'chat.postMessage', { type: 'error', error: 'messages_tab_disabled' });
    await run();
    expect(told()).toBe('');
    const listed = await world.storage.jobs.undelivered(address.platform, person.id, 5);
    expect(listed.map(({ id }) => id)).toEqual([job]);
  });
});

it('a song that comes after its deadline mentions its person again: that it is not complete, then that it is ready', async () => {
  const { server, job, run } = await composing();
  const replies = () => server.botMessages().filter(({ threadTs }) => threadTs !== undefined);
  const mentions = () => replies().flatMap((reply) => (pings(reply).length > 0 ? [reply.text] : []));
  world.clock.advance(31 * 60_000);
  await run();
  expect((await world.read(job)).state).toBe('expired');
  expect(mentions()).toEqual(['<@U0ADA> Composing “rain”: this is incomplete.']);
  await world.callback(job, songCallback('complete'));
  for (let time = 0; time < 2; time += 1) await run();
  expect((await world.read(job)).state).toBe('delivered');
  expect(mentions()).toEqual(['<@U0ADA> Composing “rain”: this is incomplete.', '<@U0ADA> Rain']);
  expect(replies().map(({ files }) => files.length)).toEqual([0, 2]);
  expect(server.refused).toEqual([]);
});
