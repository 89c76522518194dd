/**
 * A strict local Discord: REST v10, gateway, CDN. The real discord.js logs in here. Requests that Discord would refuse are
 * refused with Discord's status and code, and counted.
 *
 * ```ts
 * const discord = await startDiscord();                       // a guild, a channel, a person: discord.guild, .channel, .user
 * // DISCORD_TOKEN = discord.token, DISCORD_API_URL = discord.apiUrl
 *
 * const song = discord.command({ name: 'song', options: { prompt: 'rain' } });   // name 'models set' for a subcommand
 * await song.acknowledged();                                  // 5: deferred, 4: a message, 9: a form …
 * const card = await song.message((m) => m.attachments.length === 2);
 * card.attachments[0].bytes;                                  // the uploaded bytes
 *
 * const stems = discord.press('Stems', card);                 // by label or custom_id; by another person: { user }
 * const form = discord.press('Save voice', card);
 * const sent = await discord.submitModal(form, { name: 'Rain' });
 * await discord.autocomplete({ name: 'song', option: 'model', typed: 'V5' });
 * discord.contextMenu({ name: 'Ask about this', message });
 * discord.mention({ text: 'how are you?' }); discord.say({ text: 'hi', channel: discord.directChannel() });
 *
 * discord.botMessages();                                             // the bot's messages in a channel; message.history has each state
 * await discord.until(() => discord.botMessages().find((m) => m.content.includes('done')));
 * expect(discord.refused).toEqual([]);                        // Discord would have accepted every request
 * ```
 *
 * The helpers throw if a person could not do this on Discord: a required option is missing, a value is not among the
 * choices, a button is disabled, or a message is another person's ephemeral one.
 *
 * Time: `discord.advance(ms)` moves the server's clock (tokens live 15 minutes, nonces 5, the deadline for responses is 3 s);
 * `startDiscord({ now })` shares a test's clock.
 *
 * Faults: `discord.faults.limitEvery(5)`, `.limitEdits(5, 5_000)`, `.fail(503, { times, path, afterTaking })`,
 * `.delay(ms, path)`; `discord.gateway.drop()`, `.reconnect()`, `.invalidate()`, `.revoke()`. Requests sent
 * before their Retry-After is over count as refused.
 *
 * The world: `discord.world.addUser`, `addGuild(name, { installed: false })` for user installs, `addChannel(name, { guildId,
 * type: 11, parentId })` for threads, `channel.denied.add('SendMessages')` to remove permissions from the bot.
 *
 * `message.pinged` lists who a post would have notified; `liveMentions(text)` returns what a client would show as a mention.
 */
import { type DiscordOptions, DiscordServer } from './server.ts';

export async function startDiscord(options: DiscordOptions = {}): Promise<DiscordServer> {
  return await new DiscordServer(options).listen();
}

export type { InteractionHandle } from './handle.ts';
export { DISCORD } from './limits.ts';
export { liveMentions } from './mentions.ts';
export { buttonsOf, labelsOf } from './people.ts';
export type { DiscordOptions } from './server.ts';
export { DiscordServer } from './server.ts';
export type { Channel, StoredMessage } from './types.ts';
