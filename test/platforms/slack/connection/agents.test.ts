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

/** An agent that workspaces install through OAuth, in a process that has not read the bot's identity yet. */
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
  const [invocation] = bot.invocations;
  if (invocation === undefined) throw new Error('no invocation');
  address = invocation.address;
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
])("attributes the first press in an agent's thread to the workspace %s", async (_when, change) => {
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

it('shows all buttons of the first message after a restart', async () => {
  const before = await show('j1');
  await restart();
  const after = await show('j2');
  expect(after.blocks.map(({ type }) => type)).toEqual(before.blocks.map(({ type }) => type));
});

it('shows progress in the thread after a restart', async () => {
  await restart();
  const again = await replica.showProgress?.(address, { stage: 'Composing', startedAt: Date.now() });
  expect(again).toBeGreaterThan(0);
});

it("keeps the bot's identity with a new token while Slack does not answer", async () => {
  const shown = await show('j1');
  await install();
  server.hold('auth.test');
  await server.press(shown, 'Again');
  await server.until(() => bot.invocations.length === 2);
  expect(bot.invocations[1]?.address.direct).toBeUndefined();
});

it('reads the scopes of a new token', async () => {
  let token = 'xoxb-1';
  const scopes = () => (token === 'xoxb-1' ? `chat:write,${AGENT_SCOPE}` : 'chat:write');
  const identity = { ok: true, user_id: 'U1', bot_id: 'B1', team_id: 'T1', user: 'minstrel' };
  const logger = sdkLogger(new RecordingLog());
  const workspaces = installedWorkspaces(async () => token, {
    client: {
      apiUrl: undefined,
      timeoutMs: 1000,
      logger,
      fetch: async () => Response.json(identity, { headers: { 'x-oauth-scopes': scopes() } }),
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
