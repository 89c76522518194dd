import { once } from 'node:events';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { z } from 'zod';
import { commands, commandsFor } from '../../commands/index.ts';
import { systemOf } from '../../src/app/system.ts';
import { examination } from '../../src/cli/doctor.ts';
import { setup } from '../../src/cli/setup.ts';
import type { System } from '../../src/core/system.ts';
import { startEmulator } from '../../src/emulator/server.ts';
import { INVITED } from '../../src/platforms/discord/permissions.ts';
import { createManifest } from '../../src/platforms/slack/manifest.ts';
import { DiscordServer } from '../servers/discord/index.ts';
import { freePort } from '../servers/free-port.ts';
import { startOpenAi } from '../servers/public/openai.ts';
import { SERVICE_KEY } from '../servers/public/service.ts';
import { startSlackServer } from '../servers/slack/server.ts';

const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

let folder: string;
let closing: AsyncDisposableStack;
beforeEach(async () => {
  closing = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'minstrel-setup-'));
  closing.defer(() => rm(folder, { recursive: true, force: true }));
});
afterEach(() => closing.disposeAsync());

const ENTER = '\r';
const UP = '\u001b[A';
const DOWN = '\u001b[B';
const BACKSPACE = '\u007f';
const CTRL_C = '\u0003';

/** Runs the real prompts, and types each answer when its question is shown. */
async function answer(
  answers: readonly (readonly [question: string, keys: Iterable<string>])[],
  environment = {},
  sleep: System['sleep'] = systemOf(silent).sleep,
  input = new PassThrough(),
) {
  const output = new PassThrough();
  let shown = '';
  let everything = '';
  const waiting = [...answers];
  output.on('data', (chunk: Buffer) => {
    const text = stripVTControlCharacters(chunk.toString());
    shown += text;
    everything += text;
    const [next] = waiting;
    if (next === undefined || !shown.includes(next[0])) return;
    waiting.shift();
    shown = '';
    // One chunk per key, as a terminal sends them.
    setImmediate(() => {
      for (const key of next[1]) input.write(key);
    });
  });
  const isGood = await setup({
    ...{ input, output, folder, environment },
    examination: { ...examination(), sleep },
  });
  return { isGood, shown, everything, unansweredPrompts: waiting.map(([question]) => question) };
}

it('connects a gateway and Discord in an empty folder, then runs the doctor', async () => {
  const emulator = await startEmulator({ speed: 0 });
  closing.defer(() => emulator.close());
  const discord = await new DiscordServer({}).listen();
  closing.defer(() => discord.close());
  const port = String(await freePort());
  const { isGood, shown, everything, unansweredPrompts } = await answer(
    [
      ['One gateway key', [UP, UP, ENTER]],
      ['Gateway URL', `nonsense${ENTER}`],
      ['must be a URL', `${BACKSPACE.repeat(8)}${emulator.url}${ENTER}`],
      ['Gateway API key', `${emulator.apiKey}${ENTER}`],
      ['The song service sends', ENTER],
      ['Public URL', `http://127.0.0.1:${port}${ENTER}`],
      ['Model for answers', [...'chat-small', ENTER]],
      ['Model for images', ENTER],
      ['Model for videos', ENTER],
      ['Where will people use the bot', ` ${ENTER}`],
      ['Discord bot token', `${discord.token}${ENTER}`],
    ],
    { DISCORD_API_URL: discord.apiUrl, PORT: port, DATA_DIR: join(folder, 'data') },
  );
  for (const secret of [emulator.apiKey, discord.token]) expect(everything).not.toContain(secret);
  expect(unansweredPrompts).toEqual([]);
  expect(shown).toContain('the token belongs to the application “Minstrel”');
  expect(isGood).toBe(true);
  const path = join(folder, '.env');
  expect((await stat(path)).mode & 0o777).toBe(0o600);
  const lines = (await readFile(path, 'utf8')).trim().split('\n');
  expect(lines).toEqual([
    `GATEWAY_BASE_URL=${emulator.url}`,
    `GATEWAY_API_KEY=${emulator.apiKey}`,
    `PUBLIC_URL=http://127.0.0.1:${port}`,
    'ASK_MODEL=chat-small',
    `DISCORD_TOKEN=${discord.token}`,
  ]);
});

it('keeps existing secrets and all other lines of the file', async () => {
  const path = join(folder, '.env');
  const before =
    '\ufeff# mine\r\nDISCORD_TOKEN=aaaaaaaaaaaa.bbbbbb.cccccccccccc\r\n#SONG_MODEL=V4\r\nPORT=4000\r\n';
  await writeFile(path, before, { mode: 0o644 });
  const silent = {
    DISCORD_API_URL: `http://127.0.0.1:${await freePort()}/api`,
    DATA_DIR: join(folder, 'data'),
  };
  const { isGood } = await answer(
    [
      ['One gateway key', [UP, ENTER]],
      ['Where will people use the bot', ENTER],
      ['Discord bot token (leave empty', ENTER],
    ],
    silent,
  );
  // Discord is down in this test, and the doctor reports it.
  expect(isGood).toBe(false);
  expect(await readFile(path, 'utf8')).toBe(
    '# mine\nDISCORD_TOKEN=aaaaaaaaaaaa.bbbbbb.cccccccccccc\n#SONG_MODEL=V4\nPORT=4000\n',
  );
  expect((await stat(path)).mode & 0o777).toBe(0o600);
});

it('names rejected tokens, and a second run changes only those', async () => {
  const discord = await new DiscordServer({}).listen();
  closing.defer(() => discord.close());
  const slack = await startSlackServer();
  closing.defer(() => slack.close());
  const environment = {
    ...{ DISCORD_API_URL: discord.apiUrl, SLACK_API_URL: slack.apiUrl },
    ...{ PORT: String(await freePort()), DATA_DIR: join(folder, 'data') },
  };
  const rejected = await answer(
    [
      ['One gateway key', ENTER],
      ['Where will people use the bot', [' ', DOWN, ' ', ENTER]],
      ['Discord bot token', `${discord.token}${ENTER}`],
      ['create the Slack app', ENTER],
      ['Slack bot token', `hello${ENTER}`],
      ['starts with xoxb-', `${BACKSPACE.repeat(5)}xoxb-another-bot${ENTER}`],
      ['App-level token', `xapp-another-app${ENTER}`],
    ],
    environment,
  );
  expect(rejected).toMatchObject({ isGood: false, unansweredPrompts: [] });
  expect(rejected.shown).toContain('Slack: Slack rejected SLACK_BOT_TOKEN');
  expect(rejected.shown).toContain('Slack: Slack rejected SLACK_APP_TOKEN');
  expect(rejected.shown).toContain('Fix the errors with npm run setup');
  const corrected = await answer(
    [
      ['One gateway key', [UP, ENTER]],
      ['Where will people use the bot', ENTER],
      ['Discord bot token (leave empty', ENTER],
      ['Slack bot token (leave empty', `${slack.botToken}${ENTER}`],
      ['App-level token (leave empty', `${slack.appToken}${ENTER}`],
    ],
    environment,
  );
  expect(corrected).toMatchObject({ isGood: true, unansweredPrompts: [] });
  expect(corrected.shown).toContain('Slack: SLACK_APP_TOKEN can open connections');
  expect(corrected.shown).toContain('Start the bot with npm start');
  const lines = (await readFile(join(folder, '.env'), 'utf8')).trim().split('\n');
  expect(lines).toEqual([
    `DISCORD_TOKEN=${discord.token}`,
    `SLACK_BOT_TOKEN=${slack.botToken}`,
    `SLACK_APP_TOKEN=${slack.appToken}`,
  ]);
});

it('turns off a chat that is not selected', async () => {
  const path = join(folder, '.env');
  await writeFile(
    path,
    'DISCORD_TOKEN=aaaaaaaaaaaa.bbbbbb.cccccccccccc\nSLACK_CLIENT_ID=1.2\nSLACK_CLIENT_SECRET=0123456789abcdef0123\nPORT=4000\n',
  );
  const { unansweredPrompts } = await answer(
    [
      ['One gateway key', [UP, ENTER]],
      ['Where will people use the bot', [' ', DOWN, ' ', ENTER]],
    ],
    { DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) },
  );
  expect(unansweredPrompts).toEqual([]);
  expect(await readFile(path, 'utf8')).toBe(
    '#DISCORD_TOKEN=\n#SLACK_CLIENT_ID=\n#SLACK_CLIENT_SECRET=\nPORT=4000\n',
  );
});

it.each([
  [
    'over HTTP',
    { SLACK_BOT_TOKEN: 'xoxb-0000000000-1', SLACK_SIGNING_SECRET: '0123456789abcdef0123' },
    ['Slack bot token (leave empty', 'Signing secret (leave empty'],
  ],
  [
    'for many workspaces',
    {
      SLACK_CLIENT_ID: '1.2',
      SLACK_CLIENT_SECRET: '0123456789abcdef0123',
      SLACK_SIGNING_SECRET: '0123456789abcdef0123',
    },
    ['Client secret (leave empty', 'Signing secret (leave empty'],
  ],
])('keeps Slack %s unchanged', async (_way, settings, questions) => {
  const path = join(folder, '.env');
  const before = Object.entries({ ...settings, PUBLIC_URL: 'https://minstrel.example' })
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
  await writeFile(path, before);
  const { unansweredPrompts } = await answer(
    [
      ['One gateway key', [UP, ENTER]],
      ['Where will people use the bot', ENTER],
      ...questions.map((question) => [question, ENTER] as const),
    ],
    {
      SLACK_API_URL: `http://127.0.0.1:${await freePort()}/api/`,
      DATA_DIR: join(folder, 'data'),
      PORT: String(await freePort()),
    },
  );
  expect(unansweredPrompts).toEqual([]);
  expect(await readFile(path, 'utf8')).toBe(before);
});

it('links to a Slack app with its manifest, and changes no settings after Ctrl-C', async () => {
  const { everything, unansweredPrompts } = await answer([
    ['One gateway key', ENTER],
    ['Where will people use the bot', [DOWN, ' ', ENTER]],
    ['create the Slack app', ENTER],
    ['Slack bot token', CTRL_C],
  ]);
  expect(unansweredPrompts).toEqual([]);
  await expect(stat(join(folder, '.env'))).rejects.toThrow('ENOENT');
  const [link = ''] = /https:\/\/api\.slack\.com\/apps\?\S+/.exec(everything) ?? [];
  const { searchParams } = new URL(link);
  expect(searchParams.get('new_app')).toBe('1');
  expect(JSON.parse(searchParams.get('manifest_json') ?? '')).toEqual(createManifest(commands));
});

it('creates the Slack app with a configuration token, which is not saved', async () => {
  const slack = await startSlackServer();
  closing.defer(() => slack.close());
  const { isGood, everything, unansweredPrompts } = await answer(
    [
      ['One gateway key', ENTER],
      ['Where will people use the bot', [DOWN, ' ', ENTER]],
      ['create the Slack app', [DOWN, ENTER]],
      ['App configuration token', `${slack.tokens.configuration}${ENTER}`],
      ['Slack bot token', `${slack.botToken}${ENTER}`],
      ['App-level token', `${slack.appToken}${ENTER}`],
    ],
    {
      ...{ SLACK_API_URL: slack.apiUrl, DATA_DIR: join(folder, 'data') },
      PORT: String(await freePort()),
    },
  );
  expect({ isGood, unansweredPrompts }).toEqual({ isGood: true, unansweredPrompts: [] });
  expect(everything).toMatch(/https:\/\/api\.slack\.com\/apps\/A\w+\/oauth/);
  for (const secret of [slack.tokens.configuration, slack.botToken, slack.appToken])
    expect(everything).not.toContain(secret);
  expect(await readFile(join(folder, '.env'), 'utf8')).not.toContain('xoxe');
});

it('prepares the Discord application, and waits until the bot is in a server', async () => {
  const discord = await new DiscordServer({}).listen();
  closing.defer(() => discord.close());
  discord.guild.installed = false;
  const { everything, unansweredPrompts } = await answer(
    [
      ['One gateway key', ENTER],
      ['Where will people use the bot', ` ${ENTER}`],
      ['Discord bot token', `${discord.token}${ENTER}`],
    ],
    {
      ...{ DISCORD_API_URL: discord.apiUrl, DISCORD_MESSAGE_CONTENT: '1' },
      ...{ DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) },
    },
    // Someone opens the invitation while setup waits.
    async () => {
      discord.guild.installed = true;
    },
  );
  expect(unansweredPrompts).toEqual([]);
  expect(discord.installation?.integration_types_config).toMatchObject({
    0: { oauth2_install_params: { scopes: ['applications.commands', 'bot'], permissions: String(INVITED) } },
    1: { oauth2_install_params: { scopes: ['applications.commands'] } },
  });
  expect(everything).toContain(`client_id=${discord.applicationId}&scope=bot+applications.commands`);
  expect(everything).toContain(
    `Intent is off. Turn it on at https://discord.com/developers/applications/${discord.applicationId}/bot`,
  );
  expect(everything).toContain('The bot is in a server.');
});

it('adds the bot to a server later if the person prefers that', async () => {
  const discord = await new DiscordServer({}).listen();
  closing.defer(() => discord.close());
  discord.guild.installed = false;
  const { isGood, shown, unansweredPrompts } = await answer(
    [
      ['One gateway key', ENTER],
      ['Where will people use the bot', ` ${ENTER}`],
      ['Discord bot token', `${discord.token}${ENTER}`],
      ['Do this later', ENTER],
    ],
    {
      ...{ DISCORD_API_URL: discord.apiUrl, DATA_DIR: join(folder, 'data') },
      PORT: String(await freePort()),
    },
  );
  expect({ isGood, unansweredPrompts }).toEqual({ isGood: true, unansweredPrompts: [] });
  expect(shown).toMatch(/No errors, \d warnings?\. Ready to start\./);
});

it('offers the tunnels that are installed', async () => {
  const emulator = await startEmulator({ speed: 0 });
  closing.defer(() => emulator.close());
  await writeFile(join(folder, 'ngrok'), '', { mode: 0o755 });
  const { everything, unansweredPrompts } = await answer(
    [
      ['One gateway key', [UP, UP, ENTER]],
      ['Gateway URL', `${emulator.url}${ENTER}`],
      ['Gateway API key', `${emulator.apiKey}${ENTER}`],
      ['The song service sends', [DOWN, ENTER]],
      ['The URL that it prints', CTRL_C],
    ],
    { PATH: folder, PORT: '4321' },
  );
  expect(unansweredPrompts).toEqual([]);
  expect(everything).toContain('ngrok http 4321');
  expect(everything).not.toContain('cloudflared');
});

it('continues without a public URL or a model list', async () => {
  const GATEWAY_BASE_URL = `http://127.0.0.1:${await freePort()}`;
  const { everything, unansweredPrompts } = await answer(
    [
      ['One gateway key', [UP, UP, ENTER]],
      ['Gateway URL', `${GATEWAY_BASE_URL}${ENTER}`],
      ['Gateway API key', `some-key${ENTER}`],
      ['The song service sends', [DOWN, ENTER]],
      ['Model for answers', `some-model${ENTER}`],
      ['Model for images', ENTER],
      ['Model for videos', ENTER],
      ['Where will people use the bot', ENTER],
    ],
    { PATH: '', DATA_DIR: join(folder, 'data'), PORT: String(await freePort()) },
  );
  expect(unansweredPrompts).toEqual([]);
  expect(everything).toContain('cannot be reached: nothing listens there');
  expect(await readFile(join(folder, '.env'), 'utf8')).toBe(
    `GATEWAY_BASE_URL=${GATEWAY_BASE_URL}\nGATEWAY_API_KEY=some-key\nASK_MODEL=some-model\n`,
  );
});

it('hides text that is pasted while the gateway is contacted', async () => {
  let isRaw = false;
  const setRawMode = (on: boolean) => {
    isRaw = on;
  };
  const input = Object.assign(new PassThrough(), { isTTY: true, setRawMode });
  const rawDuringRequests: boolean[] = [];
  const gateway = createServer((_request, response) => {
    rawDuringRequests.push(isRaw);
    input.write('sk-pasted-secret');
    response.writeHead(401).end('{}');
  });
  gateway.listen(0, '127.0.0.1');
  await once(gateway, 'listening');
  closing.defer(() => void gateway.close());
  const { port } = z.object({ port: z.number() }).parse(gateway.address());
  const { everything, unansweredPrompts } = await answer(
    [
      ['One gateway key', [UP, UP, ENTER]],
      ['Gateway URL', `http://127.0.0.1:${port}${ENTER}`],
      ['Gateway API key', `some-key${ENTER}`],
      ['The song service sends', [DOWN, ENTER]],
      ['Model for answers', CTRL_C],
    ],
    { PATH: '' },
    undefined,
    input,
  );
  expect(unansweredPrompts).toEqual([]);
  expect(new Set(rawDuringRequests)).toEqual(new Set([true]));
  expect(everything).toContain('the gateway rejected the key');
  expect(everything).not.toContain('sk-pasted-secret');
});

it('asks for own keys one by one, tests each, and completes models from the list', async () => {
  const openai = await startOpenAi();
  closing.defer(() => openai[Symbol.asyncDispose]());
  const slack = await startSlackServer();
  closing.defer(() => slack.close());
  const { isGood, everything, unansweredPrompts } = await answer(
    [
      ['One gateway key for everything, or your own keys?', [UP, ENTER]],
      ['Which services do you have', [' ', ENTER]],
      ['which service?', [UP, ENTER]],
      ['Base URL', `${openai.url}${ENTER}`],
      ['API key', `wrong-key${ENTER}`],
      ['Try again?', [UP, ENTER]],
      ['API key', `${SERVICE_KEY}${ENTER}`],
      ['Model for answers', [...'gpt-4o-mini', ENTER]],
      ['Where will people use the bot', [DOWN, ' ', ENTER]],
      ['create the Slack app', ENTER],
      ['Slack bot token', `${slack.botToken}${ENTER}`],
      ['App-level token', `${slack.appToken}${ENTER}`],
    ],
    { SLACK_API_URL: slack.apiUrl, PORT: String(await freePort()), DATA_DIR: join(folder, 'data') },
  );
  expect(unansweredPrompts).toEqual([]);
  expect(everything).toContain('the chat service rejected the key');
  expect(everything).toContain(`${new URL(openai.url).host} accepts requests`);
  for (const secret of [SERVICE_KEY, 'wrong-key']) expect(everything).not.toContain(secret);
  expect(await readFile(join(folder, '.env'), 'utf8')).toBe(
    `CHAT_BASE_URL=${openai.url}\nCHAT_API_KEY=${SERVICE_KEY}\nASK_MODEL=gpt-4o-mini\nSLACK_BOT_TOKEN=${slack.botToken}\nSLACK_APP_TOKEN=${slack.appToken}\n`,
  );
  // The app gets only the commands that the key allows.
  const [link = ''] = /https:\/\/api\.slack\.com\/apps\?\S+/.exec(everything) ?? [];
  const manifest = new URL(link).searchParams.get('manifest_json') ?? '';
  expect(JSON.parse(manifest)).toEqual(
    createManifest(commandsFor({ offered: ['ask'], changesImages: false })),
  );
  expect(everything).toContain('there is no service for songs, so their commands are not offered');
  expect(isGood).toBe(true);
});

it('needs no key for a service on this machine', async () => {
  const ollama = await startOpenAi({ keyless: true });
  closing.defer(() => ollama[Symbol.asyncDispose]());
  await writeFile(join(folder, '.env'), `CHAT_BASE_URL=${ollama.url}\nMUSIC_API_KEY=old\n`);
  const { isGood, everything, unansweredPrompts } = await answer(
    [
      ['One gateway key for everything, or your own keys?', ENTER],
      // Chat and music are selected; music no longer.
      ['Which services do you have', [UP, ' ', ENTER]],
      ['which service?', ENTER],
      ['Base URL', ENTER],
      ['API key', ENTER],
      ['Model for answers', ENTER],
      ['Where will people use the bot', ENTER],
    ],
    { PORT: String(await freePort()), DATA_DIR: join(folder, 'data') },
  );
  expect({ isGood, unansweredPrompts }).toEqual({ isGood: true, unansweredPrompts: [] });
  expect(everything).toContain('ASK_MODEL is not set, so gpt-4o-mini is used');
  expect(await readFile(join(folder, '.env'), 'utf8')).toBe(`CHAT_BASE_URL=${ollama.url}\n#MUSIC_API_KEY=\n`);
});

it('continues with a rejected key, and names only its own settings', async () => {
  const openai = await startOpenAi();
  closing.defer(() => openai[Symbol.asyncDispose]());
  await writeFile(join(folder, '.env'), `CHAT_BASE_URL=${openai.url}\n`);
  const { isGood, everything, unansweredPrompts } = await answer(
    [
      ['One gateway key for everything, or your own keys?', ENTER],
      ['Which services do you have', ENTER],
      ['which service?', ENTER],
      ['Base URL', ENTER],
      ['API key', `wrong-key${ENTER}`],
      ['Try again?', ENTER],
      ['Model for answers', `some-model${ENTER}`],
      ['Where will people use the bot', ENTER],
    ],
    { PORT: String(await freePort()), DATA_DIR: join(folder, 'data') },
  );
  expect({ isGood, unansweredPrompts }).toEqual({ isGood: false, unansweredPrompts: [] });
  expect(everything).toContain('set CHAT_API_KEY to a valid key');
  expect(everything).not.toContain('GATEWAY_API_KEY');
});
