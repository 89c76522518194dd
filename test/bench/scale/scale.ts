/** `npm run bench -- scale`: the measured part of docs/scale.md. */
import { measureShards, SERVER } from './shards.ts';
import { measureSongs } from './songs.ts';

export async function measureScale(
  { short }: { readonly short: boolean },
  write: (text: string) => void,
): Promise<void> {
  const line = (what: string, value: number, unit: string) =>
    write(`${what.padEnd(64)}${value.toFixed(value < 10 ? 1 : 0).padStart(8)}  ${unit}\n`);
  write(`A server has ${SERVER.channels} channels, ${SERVER.roles} roles and ${SERVER.emojis} emojis.\n`);
  const shards = await measureShards({ short });
  line('Discord adapter without servers: heap', shards.aloneMb, 'MB');
  line('each server: heap', shards.perServerKb, 'kB');
  line('each further shard without servers: heap', shards.perShardKb, 'kB');
  line('each message among people: CPU', shards.perEventMicroseconds, 'µs');
  for (const replicas of short ? [1, 3] : [1, 2, 3]) {
    const songs = await measureSongs(replicas, short ? 30 : 150);
    const of = `${songs.replicas} replica${songs.replicas > 1 ? 's' : ''}`;
    line(`${of}: songs, servers and load on the same machine`, songs.perSecond, 'a second');
    line(`${of}: a song, all replicas together: CPU`, songs.cpuMsPerSong, 'ms');
    line(`${of}: a song: requests to Discord`, songs.requestsPerSong, '');
    line(`${of}: a finished song: memory of Redis`, songs.redisKbPerSong, 'kB');
    line(`${of}: the largest replica: resident memory at its peak`, songs.peakMb, 'MB');
  }
}
