/** What servers, shards and events cost a replica. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { type DiscordServer, startDiscord } from '../../servers/discord/index.ts';
import type { Guild } from '../../servers/discord/types.ts';
import { startProgram } from '../program.ts';

/** An assumption of what a server of a few hundred people has. */
export const SERVER = { channels: 25, roles: 15, emojis: 30 } as const;

const RUN = new URL('./shards-run.ts', import.meta.url);
const number = z.number();

export interface ShardCosts {
  readonly perServerKb: number;
  readonly perShardKb: number;
  readonly aloneMb: number;
  readonly perEventMicroseconds: number;
}

export async function measureShards({ short }: { readonly short: boolean }): Promise<ShardCosts> {
  const [few, many] = short ? [50, 250] : [200, 1_200];
  const [one, several] = [
    await memoryOf({ servers: few, shards: 1 }),
    await memoryOf({ servers: few, shards: 9 }),
  ];
  const full = await memoryOf({ servers: many, shards: 1 });
  return {
    perServerKb: (full - one) / (many - few),
    perShardKb: (several - one) / 8,
    aloneMb: (one - (few * (full - one)) / (many - few)) / 1_000,
    perEventMicroseconds: (await measureServers(20, short ? 5_000 : 20_000)).event * 1e6,
  };
}

async function memoryOf({ servers, shards }: { servers: number; shards: number }): Promise<number> {
  const discord = await discordOf(servers, shards);
  try {
    await using run = await start(discord, shards);
    await discord.until(() => discord.gateway.connected === shards, 'the shards');
    return await run.ask('memory', number);
  } finally {
    await discord.close();
  }
}

/** CPU seconds of the start, and of a message that is not for the bot, as nearly all are. */
export async function measureServers(
  servers: number,
  events: number,
): Promise<{ readonly start: number; readonly event: number }> {
  const discord = await discordOf(servers, 1);
  const user = discord.world.addUser('Ada');
  try {
    await using run = await start(discord, 1);
    await discord.until(() => discord.gateway.connected === 1, 'the shard');
    const say = async (times: number) => {
      for (let index = 0; index < times; index += 1) {
        discord.say({ text: 'some words among people', user });
        // The bot reads meanwhile.
        if (index % 100 === 99) await sleep(5);
      }
      discord.mention({ text: 'hello', user });
      return await run.ask('cpu', number);
    };
    const cost = async (times: number) => {
      await run.ask('begin', number);
      return await say(times);
    };
    const started = await say(0);
    await cost(events / 4);
    return { start: started / servers, event: ((await cost(events)) - (await cost(0))) / events };
  } finally {
    await discord.close();
  }
}

const start = ({ token, apiUrl }: DiscordServer, shards: number) =>
  startProgram(RUN, z.literal('ready'), { input: { token, apiUrl, shards }, flags: ['--expose-gc'] });

async function discordOf(servers: number, shards: number): Promise<DiscordServer> {
  const discord = await startDiscord({ shards, responseDeadlineMs: 60_000 });
  const { world } = discord;
  const plain = world.guildJson.bind(world);
  Object.assign(world, {
    guildJson: (guild: Guild) => ({ ...plain(guild), ...richly(guild.id, () => world.nextId()) }),
  });
  for (let index = 1; index < servers; index += 1) world.addGuild(`Server ${index}`);
  return discord;
}

/** As Discord tells of a server. */
function richly(guild: string, id: () => string) {
  const named = (kind: string, index: number) => ({ id: id(), name: `${kind} number ${index}` });
  return {
    roles: [
      { id: guild, name: '@everyone', permissions: '1071698660929', position: 0 },
      ...Array.from({ length: SERVER.roles }, (_, index) => ({
        ...named('role', index),
        permissions: '1071698660929',
        position: index + 1,
        color: index,
        colors: { primary_color: index, secondary_color: null, tertiary_color: null },
        hoist: false,
        managed: false,
        mentionable: false,
        flags: 0,
      })),
    ],
    emojis: Array.from({ length: SERVER.emojis }, (_, index) => ({
      ...named('emoji', index),
      roles: [],
      require_colons: true,
      managed: false,
      animated: false,
      available: true,
    })),
    channels: Array.from({ length: SERVER.channels }, (_, index) => ({
      ...named('channel', index),
      type: index % 5 === 0 ? 4 : index % 5 === 1 ? 2 : 0,
      guild_id: guild,
      position: index,
      topic: 'What is talked about here, in a sentence or two',
      nsfw: false,
      last_message_id: id(),
      rate_limit_per_user: 0,
      permission_overwrites: [
        { id: guild, type: 0, allow: '0', deny: '2048' },
        { id: id(), type: 0, allow: '2048', deny: '0' },
      ],
    })),
  };
}
