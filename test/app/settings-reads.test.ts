import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { SqliteDatabase } from '../../src/storage/sqlite/database.ts';
import { type RunningMinstrel, startMinstrel } from '../end-to-end/minstrel.ts';

const ADDRESS = { platform: 'discord', guild: 'guild', channel: 'channel', person: 'mod' };
const MOD = { id: 'mod', displayName: 'Mod', moderator: true, roles: [] };

let running: RunningMinstrel;
beforeEach(async () => {
  running = await startMinstrel({ USAGE_LIMITS: 'person 100/day' });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await running[Symbol.asyncDispose]();
});

test.each([
  { command: 'song', options: { prompt: 'rain' } },
  { command: 'ask', options: { question: 'Why?' } },
  { command: 'limits', subcommand: 'show', options: {} },
  { command: 'models', subcommand: 'show', options: {} },
])('/$command reads settings once', async (request) => {
  const get = vi.spyOn(SqliteDatabase.prototype, 'get');
  const outcome = await running.minstrel.bot.run({ id: 'event', address: ADDRESS, person: MOD, ...request });
  expect(outcome).not.toMatchObject({ message: { text: expect.stringContaining('reference') } });
  const keys = get.mock.calls.flatMap(([{ sourceSQL }, , key]) =>
    sourceSQL.includes('FROM settings') ? [key] : [],
  );
  const contest = request.command === 'song' ? ['contests:discord:server:guild:channel'] : [];
  expect(keys.toSorted()).toEqual([...contest, 'discord:guild', 'discord:guild:channel']);
});
