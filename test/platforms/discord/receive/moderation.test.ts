import { SnowflakeUtil } from 'discord.js';
import { describe, expect, test } from 'vitest';
import { commands } from '../../../../commands/index.ts';
import type { Invocation } from '../../../../src/core/invocation.ts';
import { applicationCommands } from '../../../../src/platforms/discord/connection/commands.ts';
import { discordInteractionSchema } from '../../../../src/platforms/discord/receive/interaction.ts';
import { addressDataOf, invocationOf } from '../../../../src/platforms/discord/receive/invocation.ts';
import type { Channel } from '../../../servers/discord/index.ts';
import { accept, startHarness } from '../harness.ts';

const ADA = { id: '10', username: 'ada', global_name: 'Ada' };

function received(more: object, at = 0): Invocation {
  const interaction = discordInteractionSchema.parse({
    id: '1',
    application_id: '2',
    token: 'token',
    channel_id: '100',
    guild_id: '50',
    type: 2,
    member: { user: ADA, roles: ['7'], permissions: '0' },
    data: { name: 'limits', type: 1, options: [] },
    ...more,
  });
  if (interaction.type === 4) throw new TypeError('not an invocation');
  const invocation = invocationOf(interaction, at);
  if (!invocation) throw new TypeError('nothing was asked');
  return invocation;
}

test('the life of an interaction counts from when it was made, however late it came, and by our clock if that is behind', () => {
  const madeAt = 1_790_000_000_000;
  const id = SnowflakeUtil.generate({ timestamp: madeAt }).toString();
  const expiresAt = (at: number) => addressDataOf(received({ id }, at).address).interaction?.expiresAt;
  expect(expiresAt(madeAt + 2_000)).toBe(madeAt + 15 * 60_000);
  expect(expiresAt(madeAt - 5_000)).toBe(madeAt - 5_000 + 15 * 60_000);
});

describe('where something was asked', () => {
  test.each([10, 11, 12])('a thread of type %i names its channel', (type) => {
    expect(received({ channel: { type, parent_id: '99' } }).address).toMatchObject({
      channel: '100',
      parent: '99',
    });
  });

  test('a channel in a category is no thread', () => {
    expect(received({ channel: { type: 0, parent_id: '98' } }).address.parent).toBeUndefined();
    expect(received({ channel: 'nonsense' }).address.parent).toBeUndefined();
    expect(received({}).address.parent).toBeUndefined();
  });
});

test('talk in a thread names its channel, as commands do', async () => {
  const threads: Channel[] = [];
  const harness = await startHarness({
    prepare: ({ world, guild, channel }) => {
      threads.push(world.addChannel('aside', { type: 11, guildId: guild.id, parentId: channel.id }));
    },
  });
  try {
    const { discord, bot } = harness;
    const [thread] = threads;
    if (!thread) throw new TypeError('no thread');
    const begun = accept(bot);
    discord.mention({ text: 'how are you?', channel: thread });
    const { address } = await begun;
    expect(address).toMatchObject({ channel: thread.id, parent: discord.channel.id });
    const aside = accept(bot);
    discord.mention({ text: 'and here?' });
    expect((await aside).address.parent).toBeUndefined();
  } finally {
    await harness.close();
  }
});

describe('who moderates', () => {
  test.each([
    ['Manage Server', 1n << 5n, true],
    ['Administrator', 1n << 3n, true],
    ['Manage Messages', 1n << 13n, false],
  ])('%s: %s', (_name, permissions, moderator) => {
    const member = { user: ADA, roles: [], permissions: permissions.toString() };
    expect(received({ member }).person.moderator).toBe(moderator);
  });

  test('no one in a direct message', () => {
    expect(received({ member: undefined, guild_id: undefined, user: ADA }).person.moderator).toBe(false);
  });
});

describe('who is meant', () => {
  const data = (value: string) => ({
    data: {
      name: 'limits',
      type: 1,
      options: [{ name: 'deny', type: 1, options: [{ name: 'who', type: 9, value }] }],
      resolved: {
        users: { '10': ADA, '11': { id: '11', username: 'bob>|', global_name: null } },
        roles: { '7': { name: 'The DJs' } },
      },
    },
  });

  test.each([
    ['a person', '10', '<@10|Ada>'],
    ['a person whose name resembles markup', '11', '<@11|bob>'],
    ['a role', '7', '<@&7|The DJs>'],
    ['somebody of whom nothing is told', '12', '<@12>'],
    ['everyone, whose role has the id of the guild', '50', '@everyone'],
  ])('%s', (_name, value, who) => {
    expect(received(data(value))).toMatchObject({ subcommand: 'deny', options: { who } });
  });
});

test('the form of a part comes back as that part', () => {
  const component = { component: { custom_id: 'prompt', type: 4, value: 'Be brief.\nRhyme.' } };
  const sent = received({ type: 5, data: { custom_id: 'models answers', components: [component] } });
  expect(sent).toMatchObject({
    command: 'models',
    subcommand: 'answers',
    options: { prompt: 'Be brief.\nRhyme.' },
  });
  const late = received({ type: 3, data: { custom_id: 'open:models answers', component_type: 2 } });
  expect(late).toMatchObject({ command: 'models', subcommand: 'answers', options: {} });
});

test('moderators’ commands are shown in servers, to those who may manage them', () => {
  const registered = applicationCommands(commands).filter(({ name }) => ['models', 'limits'].includes(name));
  expect(registered).toHaveLength(2);
  for (const command of registered) {
    expect(command.contexts).toEqual([0]);
    expect(command).toHaveProperty('default_member_permissions', String(1 << 5));
  }
  expect(JSON.stringify(registered)).toContain('"type":9,"name":"who"'.split(',')[0]);
});
