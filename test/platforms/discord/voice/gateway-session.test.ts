import { expect, it } from 'vitest';
import { passIdentifyPause } from '../../../servers/discord/identify-pause.ts';
import { endOf, inCall, startVoiceWorld } from './world.ts';

it('is lost, and not removed, when Discord ends it with a gateway session that cannot be resumed', async () => {
  await using world = await startVoiceWorld();
  const { discord, server } = world;
  await inCall(world);
  const { identifies } = discord.gateway;
  passIdentifyPause();
  discord.gateway.invalidate();
  server.closeAll(4014);
  expect(await endOf(world)).toBe('ended lost');
  expect(discord.gateway.identifies).toBe(identifies + 1);

  // The bot's voice state may tell it to the next session.
  await world.join();
  passIdentifyPause();
  discord.gateway.invalidate();
  await expect.poll(() => discord.gateway.identifies).toBe(identifies + 2);
  await expect.poll(() => world.platform.status()).toEqual({ ready: true });
  discord.voice.moveBot(discord.guild.id, undefined);
  expect(await endOf(world)).toBe('ended lost');
});
