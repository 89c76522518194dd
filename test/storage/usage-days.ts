import type { UsageGuild, UsageStore } from '../../src/storage/usage.ts';

/** Returns a guild's usage since a day, by person, family and day, the oldest day first. */
export async function usageDays(
  usage: Pick<UsageStore, 'history'>,
  { platform, guild }: UsageGuild,
  firstDay = '',
) {
  const all = await Array.fromAsync(usage.history());
  return all
    .filter((row) => row.platform === platform && row.guild === guild && row.day >= firstDay)
    .map(({ platform: _platform, guild: _guild, ...row }) => row)
    .toSorted((left, right) => left.day.localeCompare(right.day));
}
