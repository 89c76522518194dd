import { afterEach, expect, it } from 'vitest';
import type { Channel } from '../../../servers/discord/index.ts';
import { accept, type Harness, startHarness } from '../harness.ts';

let harness: Harness | undefined;
afterEach(() => harness?.close());

it('an address says whether everybody in the guild can read there, and nothing where that is not known', async () => {
  let hidden: Channel | undefined;
  harness = await startHarness({
    prepare: ({ world, guild }) => {
      hidden = world.addChannel('hidden', { guildId: guild.id });
      hidden.deniedToPeople.add('ViewChannel');
    },
  });
  const { discord, bot } = harness;
  const asked = async (channel: Channel | undefined) => {
    const begun = accept(bot);
    discord.command({ name: 'song', options: { prompt: 'rain' }, ...(channel && { channel }) });
    return (await begun).address.public;
  };
  expect(await asked(discord.channel)).toBe(true);
  expect(await asked(hidden)).toBe(false);
  expect(
    await asked(discord.world.addChannel('ada', { type: 1, recipients: [discord.user] })),
  ).toBeUndefined();
});
