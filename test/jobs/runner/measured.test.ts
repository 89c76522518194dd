/** Tests the metrics of jobs: durations, ends and usage. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PlatformError } from '../../../src/platforms/platform.ts';
import { gatewayError } from '../scripted-gateway.ts';
import { createWorld, QUESTION, SONG, songCallback, type World } from '../world.ts';

let world: World;
beforeEach(async () => {
  world = await createWorld();
});
afterEach(() => world[Symbol.asyncDispose]());

const measured = (name: string) =>
  world.measured.flatMap(([known, ...rest]) => (known === name ? [rest] : []));

it('a song is measured once: its submission, each callback and its end', async () => {
  const job = await world.start(SONG);
  world.clock.advance(2_000);
  await world.advance(job);
  world.clock.advance(30_000);
  await world.callback(job, songCallback('complete'));
  world.clock.advance(1_000);
  await world.advance(job);
  // A repeated callback is not measured.
  await world.callback(job, songCallback('complete'));
  await world.advance(job);
  expect(measured('minstrel_submitted_seconds')).toEqual([[{ family: 'song' }, 2]]);
  expect(measured('minstrel_ended_seconds')).toEqual([[{ family: 'song', state: 'delivered' }, 33]]);
  expect(measured('minstrel_callback_read_seconds')).toEqual([[{}, 1]]);
  expect(measured('minstrel_undelivered_total')).toEqual([]);
  expect(measured('minstrel_gateway_tokens_total')).toEqual([]);
});

it('a failure is measured as such', async () => {
  const job = await world.start(SONG);
  world.gateway.replies.push(gatewayError('nonsense'));
  await world.advance(job);
  expect(measured('minstrel_ended_seconds')).toEqual([[{ family: 'song', state: 'failed' }, 0]]);
});

it('an undelivered result is counted once', async () => {
  const job = await world.start(SONG);
  await world.advance(job);
  await world.callback(job, songCallback('complete'));
  world.platform.failures.push(new PlatformError('gone', 'channel deleted'));
  world.platform.privateFailures.push(new PlatformError('gone', 'no direct messages'));
  await world.advance(job);
  await world.advance(job);
  expect(measured('minstrel_undelivered_total')).toEqual([[{ platform: 'discord' }]]);
});

it('the reported tokens of an answer are counted once', async () => {
  const stream = (usage?: { inputTokens?: number; outputTokens?: number }) =>
    world.gateway.streams.push([
      { type: 'part', part: { type: 'text', text: 'Because.' } },
      { type: 'finish', finish: { reason: 'stop' }, ...(usage && { usage }) },
    ]);
  stream({ inputTokens: 12, outputTokens: 3 });
  stream({ outputTokens: 5 });
  stream({ inputTokens: 7 });
  stream();
  for (let n = 0; n < 4; n += 1) {
    const job = await world.start(QUESTION);
    await world.advance(job);
    await world.advance(job);
  }
  const model = 'chat-small';
  expect(measured('minstrel_gateway_tokens_total')).toEqual([
    [{ model, direction: 'input' }, 12],
    [{ model, direction: 'output' }, 3],
    [{ model, direction: 'input' }, 0],
    [{ model, direction: 'output' }, 5],
    [{ model, direction: 'input' }, 7],
    [{ model, direction: 'output' }, 0],
  ]);
});
