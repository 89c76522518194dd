import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commands } from '../../../../commands/index.ts';
import type { Invocation } from '../../../../src/core/invocation.ts';
import { addressDataOf } from '../../../../src/platforms/discord/address.ts';
import { applicationCommands } from '../../../../src/platforms/discord/connection/commands.ts';
import type { Channel } from '../../../servers/discord/index.ts';
import { accept, type Harness, startHarness } from '../harness.ts';

const ADA = { id: '10', username: 'ada', global_name: 'Ada' };

let harness: Harness;
/** The bot's clock, if it differs from Discord's. */
let clock: number | undefined;

beforeAll(async () => {
  harness = await startHarness({ adapter: (discord) => ({ now: () => clock ?? discord.now() }) });
});
afterAll(() => harness.close());

/** Sends an interaction with these fields and returns the invocation. */
async function receive(fields: object): Promise<Invocation> {
  const { discord, bot } = harness;
  const id = discord.world.nextId();
  const guild = discord.guild.id;
  discord.gateway.dispatch({
    event: 'INTERACTION_CREATE',
    guildId: guild,
    intents: 0,
    data: () => ({
      id,
      application_id: discord.applicationId,
      token: 'token',
      version: 1,
      type: 2,
      channel: { id: '100', type: 0, guild_id: guild },
      guild_id: guild,
      member: { user: ADA, roles: [], permissions: '0' },
      data: { name: 'limits', type: 1, options: [] },
      app_permissions: '0',
      entitlements: [],
      authorizing_integration_owners: { 0: guild },
      context: 0,
      ...fields,
    }),
  });
  return await discord.until(
    () => bot.invocations.find((invocation) => invocation.id === id),
    'an invocation',
  );
}

test("an interaction expires 15 minutes after its creation, or by the bot's clock if that is behind", async () => {
  const expiresAt = async () => addressDataOf((await receive({})).address).interaction?.expiresAt ?? 0;
  const createdAt = harness.discord.now();
  clock = createdAt + 60_000;
  expect(Math.abs((await expiresAt()) - (createdAt + 15 * 60_000))).toBeLessThan(10_000);
  clock = createdAt - 60_000;
  expect(await expiresAt()).toBe(clock + 15 * 60_000);
  clock = undefined;
});

describe('the address', () => {
  test.each([10, 11, 12])('of a thread of type %i includes its parent', async (type) => {
    const channel = { id: String(200 + type), type, parent_id: '99', guild_id: harness.discord.guild.id };
    expect((await receive({ channel })).address).toMatchObject({ channel: channel.id, parent: '99' });
  });

  test('of a channel in a category has no parent', async () => {
    const channel = { id: '201', type: 0, parent_id: '98', guild_id: harness.discord.guild.id };
    expect((await receive({ channel })).address.parent).toBeUndefined();
  });
});

test('mentions in a thread include its parent, as commands do', async () => {
  const { discord, bot } = harness;
  const thread: Channel = discord.world.addChannel('aside', {
    type: 11,
    guildId: discord.guild.id,
    parentId: discord.channel.id,
  });
  const started = accept(bot);
  discord.mention({ text: 'how are you?', channel: thread });
  expect((await started).address).toMatchObject({ channel: thread.id, parent: discord.channel.id });
  const aside = accept(bot);
  discord.mention({ text: 'and here?' });
  expect((await aside).address.parent).toBeUndefined();
});

describe('moderators', () => {
  test.each([
    ['Manage Server', 1n << 5n, true],
    ['Administrator', 1n << 3n, true],
    ['Manage Messages', 1n << 13n, false],
  ])('%s: %s', async (_name, permissions, moderator) => {
    const member = { user: ADA, roles: [], permissions: permissions.toString() };
    expect((await receive({ member })).person.moderator).toBe(moderator);
  });

  test('do not exist in direct messages', async () => {
    const direct = { member: undefined, guild_id: undefined, user: ADA, context: 1 };
    expect((await receive(direct)).person.moderator).toBe(false);
  });
});

describe('a mentionable option', () => {
  const data = (value: string) => ({
    data: {
      name: 'limits',
      type: 1,
      options: [{ name: 'deny', type: 1, options: [{ name: 'who', type: 9, value }] }],
      resolved: {
        users: { '10': ADA, '11': { id: '11', username: 'bob>|', global_name: null } },
        roles: { '7': { id: '7', name: 'The DJs', permissions: '0' } },
      },
    },
  });

  test.each([
    ['a person', '10', '<@10|Ada>'],
    ['a person whose name resembles markup', '11', '<@11|bob>'],
    ['a role', '7', '<@&7|The DJs>'],
    ['an unknown person', '12', '<@12>'],
  ])('accepts %s', async (_name, value, who) => {
    expect(await receive(data(value))).toMatchObject({ subcommand: 'deny', options: { who } });
  });

  test('accepts everyone, whose role has the id of the guild', async () => {
    const invocation = await receive(data(harness.discord.guild.id));
    expect(invocation).toMatchObject({ subcommand: 'deny', options: { who: '@everyone' } });
  });
});

test('a form of a subcommand invokes the subcommand', async () => {
  const component = { component: { custom_id: 'prompt', type: 4, value: 'Be brief.\nRhyme.' } };
  const submitted = await receive({
    type: 5,
    data: { custom_id: 'models answers', components: [component] },
  });
  expect(submitted).toMatchObject({
    command: 'models',
    subcommand: 'answers',
    options: { prompt: 'Be brief.\nRhyme.' },
  });
  const message = { id: harness.discord.world.nextId(), channel_id: '100', content: '', type: 0 };
  const pressed = { custom_id: 'open:models answers', component_type: 2 };
  const late = await receive({ type: 3, data: pressed, message });
  expect(late).toMatchObject({ command: 'models', subcommand: 'answers', options: {} });
});

test("moderators' commands are shown in servers, to members with Manage Server", () => {
  const registered = applicationCommands(commands).filter(({ name }) => ['models', 'limits'].includes(name));
  expect(registered).toHaveLength(2);
  for (const command of registered) {
    expect(command.contexts).toEqual([0]);
    expect(command).toHaveProperty('default_member_permissions', String(1 << 5));
  }
  expect(JSON.stringify(registered)).toContain('"type":9,"name":"who"'.split(',')[0]);
});
