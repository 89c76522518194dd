/** Late results, and results whose channel closes while the command can still be answered. */
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

const CLOSED_CHANNELS: readonly [string, (server: SlackServer) => void, expectedError: string][] = [
  [
    'archived',
    ({ workspace }) => Object.assign(workspace.channels.get('C0MUSIC') ?? {}, { archived: true }),
    'is_archived',
  ],
  ['deleted', ({ workspace }) => workspace.channels.delete('C0MUSIC'), 'channel_not_found'],
];

/** A song requested with a slash command. */
async function startComposing() {
  harness = await startHarness({ shareDelayMs: 0 });
  world = await createWorld();
  const { server, bot, slack } = harness;
  await server.slash('/song', 'rain');
  const { address, person } = await server.until(() => bot.invocations[0]);
  const storedFile = (name = '') => ({ name, bytes: 1, contentType: 'audio/mpeg' });
  const dependencies: JobDependencies = {
    ...world.dependencies,
    platform: () => slack,
    media: { ...world.dependencies.media, keep: async (url) => storedFile(url.split('/').at(-1)) },
  };
  const job = await world.start(SONG, { address, person });
  const run = () => advanceOnce(dependencies, job);
  await run();
  expect(server.botMessages()).toHaveLength(1);
  return { server, job, run, address, person };
}

/** A finished song whose channel closed while it was composed. */
async function composeAndClose(close: (server: SlackServer) => void) {
  const song = await startComposing();
  close(song.server);
  await world.callback(song.job, songCallback('complete'));
  const directText = () => song.server.botMessages('D0ADA').map(readableText).join('\n');
  return { ...song, directText };
}

describe.each(CLOSED_CHANNELS)('a song for a channel that was %s', (_name, close, expectedError) => {
  it('is sent as a direct message, with links to its files', async () => {
    const { server, job, run, directText } = await composeAndClose(close);
    await run();
    for (const name of ['Rain (take 1).mp3', 'Rain (take 2).mp3']) expect(directText()).toContain(`|${name}`);
    expect(await world.read(job)).toMatchObject({ state: 'delivered' });
    expect((await world.read(job)).undelivered).toBeUndefined();
    expect(server.refused.map(({ error }) => error)).toContain(expectedError);
  });

  it('is sent when Slack accepts direct messages again', async () => {
    const { server, job, run, directText } = await composeAndClose(close);
    server.faults.next('chat.postMessage', { type: 'ratelimited', retryAfter: 90 });
    expect(await run()).toBeGreaterThanOrEqual(world.clock.now() + 90_000);
    expect(directText()).toBe('');
    world.clock.advance(91_000);
    expect(await run()).toBeUndefined();
    expect(directText()).toContain('Rain (take 2)');
    expect((await world.read(job)).undelivered).toBeUndefined();
  });

  it('is listed under /jobs if the requester cannot receive direct messages', async () => {
    const { server, job, run, address, person, directText } = await composeAndClose(close);
    server.faults.every(1, 'chat.postMessage', { type: 'error', error: 'messages_tab_disabled' });
    await run();
    expect(directText()).toBe('');
    const listed = await world.storage.jobs.undelivered(address.platform, person.id, 5);
    expect(listed.map(({ id }) => id)).toEqual([job]);
  });
});

it('mentions the requester of a late song twice: when it is incomplete, and when it is ready', async () => {
  const { server, job, run } = await startComposing();
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
