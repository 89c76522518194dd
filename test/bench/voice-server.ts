/** A Discord with voice for the bench: as many servers as asked, each with one listener. Tells how late packets came. */
import { createInterface } from 'node:readline';
import { z } from 'zod';
import { startDiscord } from '../servers/discord/index.ts';
import { startVoiceServer } from '../servers/voice/server.ts';
import { programInput, tell } from './program.ts';

/** Of one packet. */
const PACKET_MS = 20;
/** A listener's buffer bears so much. */
const LATE_MS = 40;

const { servers } = programInput(z.object({ servers: z.int() }));
const [discord, voice] = await Promise.all([startDiscord(), startVoiceServer()]);
discord.voice.server = voice;
const channels = Array.from({ length: servers }, (_, n) => {
  const guild = discord.world.addGuild(`Server ${n}`);
  const channel = discord.world.addChannel('Lounge', { guildId: guild.id, type: 2 });
  discord.voice.join(discord.world.addUser(`Listener ${n}`), channel);
  return { guild: guild.id, channel: channel.id };
});
tell({ token: discord.token, apiUrl: discord.apiUrl, channels });

for await (const _ of createInterface({ input: process.stdin })) {
  const behind = channels.flatMap(({ channel }) => {
    const { packets } = voice.call(channel);
    const first = packets[0]?.sequence ?? 0;
    const offsets = packets.map(({ at, sequence }) => at - ((sequence - first) & 0xffff) * PACKET_MS);
    const onTime = Math.min(...offsets);
    return offsets.map((offset) => offset - onTime);
  });
  const sealed = channels.flatMap(({ channel }) =>
    voice.call(channel).packets.map(({ isSealed }) => isSealed),
  );
  tell({
    packets: behind.length,
    late: behind.filter((milliseconds) => milliseconds > LATE_MS).length / behind.length,
    sealed: sealed.filter(Boolean).length / sealed.length,
    mistakes: voice.mistakes,
  });
}
