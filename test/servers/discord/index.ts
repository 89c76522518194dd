/**
 * A strict local Discord: REST v10, gateway, CDN. The real discord.js logs in here, and whatever Discord would refuse is
 * refused with Discord's status and code, and counted.
 *
 * ```ts
 * const discord = await startDiscord();                       // a guild, a channel, a person: discord.guild, .channel, .user
 * // DISCORD_TOKEN = discord.token, DISCORD_API_URL = discord.apiUrl
 *
 * const song = discord.command({ name: 'song', options: { prompt: 'rain' } });   // name 'models set' for a subcommand
 * await song.acknowledged();                                  // 5: deferred, 4: a message, 9: a form …
 * const card = await song.message((m) => m.attachments.length === 2);
 * card.attachments[0].bytes;                                  // what was uploaded
 *
 * const stems = discord.press('Stems', card);                 // by label or custom_id; by another person: { user }
 * const form = discord.press('Save voice', card);
 * const sent = await discord.submitModal(form, { name: 'Rain' });
 * await discord.autocomplete({ name: 'song', option: 'model', typed: 'V5' });
 * discord.contextMenu({ name: 'Ask about this', message });
 * discord.mention({ text: 'how are you?' }); discord.say({ text: 'hi', channel: discord.directChannel() });
 *
 * discord.said();                                             // what the bot wrote in a channel; message.history has each state
 * await discord.until(() => discord.said().find((m) => m.content.includes('done')));
 * expect(discord.refused).toEqual([]);                        // nothing was sent that Discord would refuse
 * ```
 *
 * The helpers throw when a person could not do such a thing on Discord (a required option left out, a value that is no
 * choice, a button that is disabled, another person's ephemeral message).
 *
 * Time: `discord.advance(ms)` moves the server's clock (tokens live 15 minutes, nonces 5, answers must come in 3 s);
 * `startDiscord({ now })` shares a test's clock.
 *
 * Faults: `discord.faults.limitEvery(5)`, `.limitEdits(5, 5_000)`, `.fail(503, { times, path, afterTaking })`,
 * `.delay(ms, path)`; `discord.gateway.drop()`, `.reconnect()`, `.invalidate()`, `.revoke()`. A request that comes before
 * its Retry-After is over counts as refused.
 *
 * The world: `discord.world.addUser`, `addGuild(name, { installed: false })` for user installs, `addChannel(name, { guildId,
 * type: 11, parentId })` for threads, `channel.denied.add('SendMessages')` for permissions the bot lacks.
 *
 * `message.pinged` says who a post would have notified; `liveMentions(text)` what a client would draw as a mention.
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
