import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Address } from '../../../../src/core/invocation.ts';
import type { Message } from '../../../../src/core/message.ts';
import type { HttpServer } from '../../../../src/http/server.ts';
import type { Platform } from '../../../../src/platforms/platform.ts';
import { sdkLogger } from '../../../../src/platforms/slack/connection/client.ts';
import { installedWorkspaces } from '../../../../src/platforms/slack/connection/workspaces.ts';
import { AGENT_SCOPE } from '../../../../src/platforms/slack/manifest.ts';
import { type SlackServer, startSlackServer } from '../../../servers/slack/server.ts';
import { RecordingLog } from '../../../storage/recording-log.ts';
import { FakeBot } from '../harness.ts';
import { listenForSlack, oauthReplica } from './oauth-app.ts';

/** An agent that workspaces install by OAuth, whose process has not asked Slack yet who the bot is. */
let server: SlackServer;
let listener: HttpServer;
let replica: Platform;
let bot: FakeBot;
let stored: Map<string, unknown>;
let address: Address;

const MESSAGE: Message = {
  text: 'A song',
  actions: [{ type: 'action', id: 'song.again:j1:0', label: 'Again' }],
  feedback: { good: 'ask.good:j1:0', bad: 'ask.bad:j1:0' },
};

async function restart(): Promise<void> {
  await replica.close();
  replica = oauthReplica({ server, stored });
  await replica.start(bot);
}

async function show(key: string) {
  await replica.show(address, MESSAGE, { key, remember: async () => {} });
  const shown = server.botMessages('D0ADA').at(-1);
  if (shown === undefined) throw new Error('nothing is shown');
  return shown;
}

const install = () => server.install(`${listener.url}/slack/install`, server.workspace);

beforeEach(async () => {
  server = await startSlackServer({ agents: true });
  stored = new Map();
  bot = new FakeBot();
  replica = oauthReplica({ server, stored });
  await replica.start(bot);
  listener = await listenForSlack(server, () => replica);
  await install();
  await server.directMessage('a song');
  await server.until(() => bot.invocations.length === 1);
  const [asked] = bot.invocations;
  if (asked === undefined) throw new Error('nothing was asked');
  address = asked.address;
});

afterEach(async () => {
  expect(server.refused).toEqual([]);
  await replica.close();
  await listener.close();
  await server.close();
});

it.each([
  ['after a restart', restart],
  ['with a new token', async () => void (await install())],
])('%s, the first press in an agent’s thread belongs to the workspace', async (_when, change) => {
  const shown = await show('j1');
  await change();
  await server.press(shown, 'Again');
  await server.until(() => bot.invocations.length === 2);
  const { guild, channel, thread, direct } = bot.invocations[1]?.address ?? {};
  expect({ guild, channel, thread, direct }).toEqual({
    guild: address.guild,
    channel: 'D0ADA',
    thread: address.thread,
  });
});

it('after a restart, what is shown first has all its buttons', async () => {
  const before = await show('j1');
  await restart();
  const after = await show('j2');
  expect(after.blocks.map(({ type }) => type)).toEqual(before.blocks.map(({ type }) => type));
});

it('after a restart, the thread is told how far the work is', async () => {
  await restart();
  const again = await replica.showProgress?.(address, { stage: 'Composing', startedAt: Date.now() });
  expect(again).toBeGreaterThan(0);
});

it('with a new token, it is known who the bot is while Slack does not say so', async () => {
  const shown = await show('j1');
  await install();
  server.hold('auth.test');
  await server.press(shown, 'Again');
  await server.until(() => bot.invocations.length === 2);
  expect(bot.invocations[1]?.address.direct).toBeUndefined();
});

it('a new token with other scopes is asked for them', async () => {
  let token = 'xoxb-1';
  const scopes = () => (token === 'xoxb-1' ? `chat:write,${AGENT_SCOPE}` : 'chat:write');
  const told = { ok: true, user_id: 'U1', bot_id: 'B1', team_id: 'T1', user: 'minstrel' };
  const logger = sdkLogger(new RecordingLog());
  const workspaces = installedWorkspaces(async () => token, {
    client: {
      apiUrl: undefined,
      timeoutMs: 1000,
      logger,
      fetch: async () => Response.json(told, { headers: { 'x-oauth-scopes': scopes() } }),
    },
    now: Date.now,
    elapsed: () => performance.now(),
    sleep: (ms) => delay(ms),
    random: Math.random,
    log: new RecordingLog(),
    measure: () => {},
  });
  const before = await workspaces.of('T1');
  await before.identity.settle();
  expect(before.agents.isAvailable()).toBe(true);
  token = 'xoxb-2';
  const after = await workspaces.of('T1');
  expect(after.agents.isAvailable()).toBe(true);
  await after.identity.settle();
  expect(after.agents.isAvailable()).toBe(false);
});
