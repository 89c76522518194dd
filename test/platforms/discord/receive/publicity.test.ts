import { afterEach, expect, it } from 'vitest';
import type { Address, Person } from '../../../../src/core/invocation.ts';
import type { Channel } from '../../../servers/discord/index.ts';
import { accept, type Harness, startHarness } from '../harness.ts';

let harness: Harness | undefined;
afterEach(() => harness?.close());

it('an address includes whether everyone in the guild can read it, if known', async () => {
  let hidden: Channel | undefined;
  harness = await startHarness({
    prepare: ({ world, guild }) => {
      hidden = world.addChannel('hidden', { guildId: guild.id });
      hidden.deniedToPeople.add('ViewChannel');
    },
  });
  const { discord, bot } = harness;
  const isPublicIn = async (channel: Channel | undefined) => {
    const started = accept(bot);
    discord.command({ name: 'song', options: { prompt: 'rain' }, ...(channel && { channel }) });
    return (await started).address.public;
  };
  expect(await isPublicIn(discord.channel)).toBe(true);
  expect(await isPublicIn(hidden)).toBe(false);
  expect(
    await isPublicIn(discord.world.addChannel('ada', { type: 1, recipients: [discord.user] })),
  ).toBeUndefined();
});

it('checks who can read an address: by overwrites and roles, by the parent in threads, and never in private threads', async () => {
  const at = (channel: Pick<Channel, 'id' | 'guildId' | 'parentId'>, known = true): Address => ({
    platform: 'discord',
    guild: channel.guildId ?? '',
    channel: channel.id,
    person: 'ada',
    ...(channel.parentId !== null && { parent: channel.parentId, public: known }),
  });
  const channels: Channel[] = [];
  harness = await startHarness({
    prepare: ({ world, guild }) => {
      const add = (name: string, options = {}) => world.addChannel(name, { guildId: guild.id, ...options });
      const [open, hidden, unread] = [add('open'), add('hidden'), add('unread')];
      hidden.deniedToPeople.add('ViewChannel');
      unread.deniedToPeople.add('ReadMessageHistory');
      const inOpen = { type: 11, parentId: open.id };
      const inHidden = { type: 11, parentId: hidden.id };
      const privately = { type: 12, parentId: open.id };
      channels.push(open, hidden, unread, add('a', inOpen), add('b', inHidden), add('c', privately));
    },
  });
  const { discord, platform } = harness;
  const someone = { id: discord.user.id, displayName: 'Ada', moderator: false, roles: [] };
  const readable = (person: Person) => channels.map((channel) => platform.canRead?.(at(channel), person));
  await expect.poll(() => readable(someone)).toEqual([true, false, false, true, false, false]);
  const owner = { ...someone, id: discord.guild.ownerId };
  expect(readable(owner)).toEqual([true, true, true, true, true, false]);
  const [open] = channels;
  const archived = { id: '77', guildId: discord.guild.id, parentId: open?.id ?? null };
  expect(platform.canRead?.(at(archived), someone)).toBe(true);
  expect(platform.canRead?.(at(archived, false), someone)).toBe(false);
  expect(platform.canRead?.({ ...at(archived), guild: '78' }, someone)).toBe(false);
});
