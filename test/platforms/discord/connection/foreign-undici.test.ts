import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Harness, Remembered, startHarness } from '../harness.ts';

/**
 * The gateway client brings an undici of its own, and every undici of a process shares one dispatcher:
 * https://github.com/nodejs/undici/issues/5520
 */
const before = getGlobalDispatcher();
const agent = new Agent();
let harness: Harness;

beforeEach(async () => {
  setGlobalDispatcher(agent);
  harness = await startHarness();
});

afterEach(async () => {
  await harness.close();
  setGlobalDispatcher(before);
  await agent.close();
});

it('files arrive although another undici has set the dispatcher of the process', async () => {
  const { discord, media, platform } = harness;
  const address = {
    platform: 'discord',
    guild: discord.guild.id,
    channel: discord.channel.id,
    person: discord.user.id,
  };
  const bytes = new Uint8Array([1, 2, 3]);
  await platform.show(
    address,
    {
      title: 'Rain',
      media: [{ kind: 'audio', name: 'rain.mp3', source: { type: 'kept', file: media.keep('k', bytes) } }],
    },
    new Remembered('j'),
  );
  const [song] = discord.said();
  expect(song?.attachments.map(({ filename, bytes: sent }) => [filename, [...sent]])).toEqual([
    ['rain.mp3', [1, 2, 3]],
  ]);
  expect(discord.refused).toEqual([]);
});
