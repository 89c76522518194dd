import { expect, it } from 'vitest';
import { passIdentifyPause } from '../../../servers/discord/identify-pause.ts';
import { endOf, inCall, startVoiceWorld } from './world.ts';

it('reports a voice session as lost, not removed, when its gateway session cannot be resumed', async () => {
  await using world = await startVoiceWorld();
  const { discord, server } = world;
  await inCall(world);
  const { identifies } = discord.gateway;
  passIdentifyPause();
  discord.gateway.invalidate();
  server.closeAll(4014);
  expect(await endOf(world)).toBe('ended lost');
  expect(discord.gateway.identifies).toBe(identifies + 1);

  // The next gateway session may receive the bot's voice state.
  await world.join();
  passIdentifyPause();
  discord.gateway.invalidate();
  await expect.poll(() => discord.gateway.identifies).toBe(identifies + 2);
  await expect.poll(() => world.platform.status()).toEqual({ ready: true });
  discord.voice.moveBot(discord.guild.id, undefined);
  expect(await endOf(world)).toBe('ended lost');
});
