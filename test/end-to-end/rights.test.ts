import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { createSampleStudio } from '../fixtures/sample-studio.ts';
import { json, startUpstream, type Upstream } from '../jobs/ask/upstream.ts';
import {
  type DiscordServer,
  type InteractionHandle,
  labelsOf,
  type StoredMessage,
  startDiscord,
} from '../servers/discord/index.ts';
import type { User } from '../servers/discord/types.ts';
import { noRedis, type RedisServer, startRedisServer } from '../servers/redis.ts';
import { readableText } from '../servers/slack/mentions.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, startMinstrel } from './minstrel.ts';

/**
 * Access rules at every entry point of both chats, on any of three replicas with one Redis. Bob is denied /image, Eve is
 * denied everything, and others may do everything except moderate.
 */
const COUNT = 3;
const TOOLS = '/v1beta/models/facet-tools:generateContent';
const REFUSED = /turned it off for you|Only moderators can use/;
const DONE = /Again/;

describe.runIf(noRedis === undefined)(noRedis ?? 'access rules with three replicas', () => {
  let folder: string;
  let redis: RedisServer;
  let emulator: Emulator;
  let upstream: Upstream;
  let discord: DiscordServer;
  let slack: SlackServer;
  let replicas: RunningMinstrel[] = [];
  let bob: User;
  let eve: User;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'minstrel-rights-'));
    redis = await startRedisServer();
    emulator = await startEmulator({ speed: 0, songSeconds: 3, studio: createSampleStudio() });
    upstream = await startUpstream();
    upstream.gateway = emulator.url;
    discord = await startDiscord({ shards: COUNT, responseDeadlineMs: PATIENCE_MS });
    slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
    for (const [id, name] of [
      ['U0CARL', 'carl'],
      ['U0EVE', 'eve'],
    ] as const) {
      slack.workspace.addUser({ id, name });
      slack.workspace.channels.get('C0MUSIC')?.members.add(id);
    }
    replicas = await Promise.all(
      Array.from({ length: COUNT }, (_, index) =>
        startMinstrel(
          {
            DATA_DIR: join(folder, `data-${index}`),
            MEDIA_STORE: join(folder, 'media'),
            REDIS_URL: redis.url,
            GATEWAY_BASE_URL: upstream.url,
            TOOL_MODEL: 'facet-tools',
            DISCORD_TOKEN: discord.token,
            DISCORD_API_URL: discord.apiUrl,
            DISCORD_SHARDS: `${index}/${COUNT}`,
            SLACK_BOT_TOKEN: slack.botToken,
            SLACK_APP_TOKEN: slack.appToken,
            SLACK_API_URL: slack.apiUrl,
            MEDIA_ALLOWED_HOSTS: [discord.origin, slack.apiUrl].map((url) => new URL(url).host).join(','),
          },
          { emulator },
        ),
      ),
    );
    await discord.until(() => discord.commands.length > 0, 'registered commands');
    bob = discord.world.addUser('Bob');
    eve = discord.world.addUser('Eve');
    await moderate('limits deny', { what: 'image', who: bob.id, where: 'server' });
    await moderate('limits deny', { what: 'all', who: eve.id, where: 'server' });
    for (const [command, text] of [
      ['/limits', 'deny what:image who:<@U0CARL|carl> where:server'],
      ['/limits', 'deny all <@U0EVE|eve> workspace'],
    ] as const)
      await privately('U0BOB', command, text);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()));
    await discord?.close();
    await slack?.close();
    await upstream?.[Symbol.asyncDispose]();
    await emulator?.close();
    await redis?.dispose();
    await rm(folder, { recursive: true, force: true });
  });

  const moderate = (name: string, options: Record<string, string | boolean>) =>
    discord.command({ name, options, moderator: true }).response();

  async function privately(user: string, command: string, text: string): Promise<string> {
    const before = slack.ephemeralsOf(user).length;
    await slack.slash(command, text, { user });
    await slack.until(() => slack.ephemeralsOf(user).length > before);
    return slack.ephemeralsOf(user).slice(before).map(readableText).join('\n');
  }

  /** Resolves to true if the request was refused, false once it is done. */
  async function isRefused(interaction: InteractionHandle): Promise<boolean> {
    const isEnd = (message: StoredMessage) =>
      REFUSED.test(JSON.stringify(message)) || labelsOf(message).includes('Again');
    const end = await interaction.message(isEnd);
    return REFUSED.test(JSON.stringify(end));
  }

  const picture = (user?: User) =>
    discord.command({ name: 'image', options: { prompt: 'a fox' }, ...(user ? { user } : {}) });

  it('Discord: checks commands, buttons and mentions', async () => {
    expect(await isRefused(picture())).toBe(false);
    expect(await isRefused(picture(bob))).toBe(true);
    expect(await isRefused(picture(eve))).toBe(true);
    const models = discord.command({ name: 'models show', user: bob });
    expect(JSON.stringify(await models.response())).toMatch(REFUSED);

    const image = await picture().message((message) => labelsOf(message).includes('Again'));
    for (const user of [bob, eve])
      expect(await isRefused(discord.press('Again', image, { user }))).toBe(true);

    const answers = (words: RegExp) =>
      discord.botMessages().filter((message) => words.test(JSON.stringify(message)));
    discord.mention({ text: 'What is 6 times 7?', user: eve });
    await discord.until(() => answers(/turned it off for you/).length > 0, 'a refusal of talk');
    discord.mention({ text: 'What is 6 times 7?', user: bob });
    await discord.until(() => answers(/42/).length > 0, 'an answer for Bob');
  });

  it('Discord: models run commands with the requester’s rights', async () => {
    await moderate('models answers', { assistant: true, where: 'channel' });
    const content = (part: object) =>
      json({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] });
    const call = { functionCall: { name: 'image', args: { prompt: 'a fox' } } };
    const ask = async (user: User) => {
      upstream.next(TOOLS, content(call), content({ text: 'That is all.' }));
      const interaction = discord.command({ name: 'ask', options: { question: 'Paint a fox.' }, user });
      return JSON.stringify((await interaction.message((m) => labelsOf(m).includes('Again'))).embeds);
    };
    expect(await ask(bob)).toMatch(/\/image: refused.*turned it off for you/);
    expect(await ask(discord.user)).toContain('/image: started');
  });

  it('Slack: checks commands on every replica', async () => {
    for (let time = 0; time < 2 * COUNT; time += 1) {
      expect(await privately('U0CARL', '/image', 'a fox')).toContain("You can't use /image here");
      expect(await privately('U0EVE', '/ask', 'Why?')).toContain(
        'here, because a moderator turned it off for you. If you think this is a mistake, ask a moderator.',
      );
      expect(await privately('U0ADA', '/models', 'show')).toContain('Only moderators can use /models');
      expect(await privately('U0BOB', '/models', 'show')).toContain('Settings here');
    }
  });

  it('Slack: models run commands with the requester’s rights', async () => {
    await privately('U0BOB', '/models', 'answers assistant:on where:channel');
    const content = (part: object) =>
      json({ candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP' }] });
    const call = { functionCall: { name: 'image', args: { prompt: 'a fox' } } };
    const answer = async (ask: () => Promise<unknown>) => {
      const before = new Set(slack.botMessages().map(({ ts }) => ts));
      upstream.next(TOOLS, content(call), content({ text: 'That is all.' }));
      await ask();
      const isAnswer = (text: string) => text.includes('/image') && text.includes('Again');
      const message = await slack.until(() =>
        slack.botMessages().find(({ ts, blocks }) => !before.has(ts) && isAnswer(JSON.stringify(blocks))),
      );
      return readableText(message);
    };
    const asks = (user: string) => answer(() => slack.slash('/ask', 'Paint a fox.', { user }));
    expect(await asks('U0CARL')).toMatch(/\/image: refused.*turned it off for you/s);
    expect(await answer(() => slack.mention('Paint a fox.', { user: 'U0CARL' }))).toMatch(
      /refused.*turned it off for you/s,
    );
    expect(await asks('U0ADA')).toContain('/image: started');
    await privately('U0BOB', '/models', 'reset assistant channel');
  });

  it('Slack: checks buttons and mentions', async () => {
    const messagesBefore = slack.botMessages().length;
    await slack.slash('/image', 'a fox', { user: 'U0ADA' });
    const image = await slack.until(() =>
      slack
        .botMessages()
        .slice(messagesBefore)
        .find(({ blocks }) => DONE.test(JSON.stringify(blocks))),
    );
    const before = slack.ephemeralsOf('U0CARL').length;
    await slack.press(image, 'Again', { user: 'U0CARL' });
    await slack.until(() => slack.ephemeralsOf('U0CARL').length > before);
    expect(slack.ephemeralsOf('U0CARL').map(readableText).at(-1)).toContain("You can't use /image here");
    const repliesBefore = slack.ephemeralsOf('U0EVE').length;
    await slack.mention('What is 6 times 7?', { user: 'U0EVE' });
    await slack.until(() => slack.ephemeralsOf('U0EVE').length > repliesBefore);
    expect(slack.ephemeralsOf('U0EVE').map(readableText).at(-1)).toContain(
      'here, because a moderator turned it off for you. If you think this is a mistake, ask a moderator.',
    );
  });
});
