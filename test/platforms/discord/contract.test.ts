import { createHash } from 'node:crypto';
import type { Address } from '../../../src/core/invocation.ts';
import { describePlatform, type VisibleMessage } from '../../contracts/platform.ts';
import { type DiscordServer, labelsOf, type StoredMessage } from '../../servers/discord/index.ts';
import { accept, type Harness, startHarness } from './harness.ts';

/** Returns the text as people read it: without Markdown escapes and zero-width spaces. */
function readable(text: string): string {
  return text.replace(/\u200b/g, '').replace(/\\(?=[!-/:-@[-`{-~])/g, '');
}

function visible(message: StoredMessage): VisibleMessage {
  const embeds = message.embeds.flatMap((embed) => [
    embed.title,
    embed.description,
    ...(embed.fields ?? []).flatMap(({ name, value }) => [name, value]),
    embed.footer?.text,
  ]);
  const labels = labelsOf(message);
  return {
    text: readable([message.content, ...embeds, ...labels].filter(Boolean).join('\n')),
    files: message.attachments.map(({ filename, bytes }) => ({ name: filename.replaceAll('_', ' '), bytes })),
  };
}

const allMessages = (discord: DiscordServer) =>
  [...discord.world.messages.values()].filter(
    ({ author, deleted }) => author.id === discord.world.bot.id && !deleted,
  );
const isThinking = ({ content, embeds, attachments }: StoredMessage) =>
  content === '' && embeds.length === 0 && attachments.length === 0;

function pollIn(discord: DiscordServer): StoredMessage {
  const found = allMessages(discord).findLast(({ poll }) => poll);
  if (!found) throw new Error('There is no poll');
  return found;
}

/** Runs the contract with the bot token and with an interaction's token. */
function describeDiscord(name: string, addressIn: (harness: Harness) => Promise<Address>): void {
  describePlatform(name, async () => {
    const harness = await startHarness();
    const { discord, media } = harness;
    const address = await addressIn(harness);
    const hidden = discord.world.addChannel('secret', {
      guildId: discord.guild.id,
      denied: ['ViewChannel'],
    });
    const inChannel = () =>
      allMessages(discord).filter(({ channelId, onlyFor }) => channelId === address.channel && !onlyFor);
    return {
      platform: harness.platform,
      address,
      goneAddress: {
        platform: 'discord',
        guild: discord.guild.id,
        channel: hidden.id,
        person: discord.user.id,
      },
      keep: async (bytes, contentType) =>
        media.keep(createHash('sha256').update(bytes).digest('hex'), bytes, contentType),
      messages: async () =>
        inChannel()
          .filter((message) => !isThinking(message))
          .map(visible),
      privateMessages: async () =>
        allMessages(discord)
          .filter(
            ({ onlyFor, channelId }) =>
              onlyFor === discord.user.id || channelId === discord.directChannel().id,
          )
          .map(visible),
      pinged: async () => inChannel().flatMap(({ pinged }) => pinged),
      vote: (answer) => discord.vote(answer, pollIn(discord)),
      deletePoll: () => discord.remove(pollIn(discord)),
      restart: () => harness.another(),
      close: () => harness.close(),
    };
  });
}

describeDiscord('Discord, by the bot token', async ({ discord }) => ({
  platform: 'discord',
  guild: discord.guild.id,
  channel: discord.channel.id,
  person: discord.user.id,
}));

describeDiscord("Discord, by an interaction's token", async ({ discord, bot }) => {
  const started = accept(bot);
  discord.command({ name: 'song', options: { prompt: 'rain' } });
  return (await started).address;
});
