import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, open, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { commands } from '../../../commands/index.ts';
import { readConfig } from '../../../src/app/config/read.ts';
import { examine } from '../../../src/app/doctor/examine.ts';
import { inspectPublicUrl } from '../../../src/app/doctor/public-url.ts';
import { systemOf } from '../../../src/app/system.ts';
import type { Finding } from '../../../src/core/finding.ts';
import { systemClock } from '../../../src/core/util/clock.ts';
import { startEmulator } from '../../../src/emulator/server.ts';
import { musicCallbackRoutes } from '../../../src/http/music-callback.ts';
import { createHttpServer } from '../../../src/http/server.ts';
import { registerCommands } from '../../../src/platforms/discord/connection/register.ts';
import { openSqliteStorage } from '../../../src/storage/sqlite/open.ts';
import { DiscordServer } from '../../servers/discord/index.ts';
import { freePort } from '../../servers/free-port.ts';
import { startOpenAi } from '../../servers/public/openai.ts';
import { SERVICE_KEY } from '../../servers/public/service.ts';
import { startSuno } from '../../servers/public/suno.ts';
import { noRedis, startRedisServer } from '../../servers/redis.ts';
import { startSlackServer } from '../../servers/slack/server.ts';

let folder: string;
let closing: AsyncDisposableStack;
/** Settings without any problem; each test adds its fault. */
let environment: Record<string, string>;

beforeEach(async () => {
  closing = new AsyncDisposableStack();
  folder = await mkdtemp(join(tmpdir(), 'minstrel-doctor-'));
  closing.defer(() => rm(folder, { recursive: true, force: true }));
  const emulator = await startEmulator({ speed: 0 });
  closing.defer(() => emulator.close());
  environment = {
    GATEWAY_BASE_URL: emulator.url,
    GATEWAY_API_KEY: emulator.apiKey,
    PORT: String(await freePort()),
    DATA_DIR: join(folder, 'data'),
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
  };
});
afterEach(() => closing.disposeAsync());

const nothing = () => {};
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing };

interface Clock {
  readonly now?: () => number;
}

async function findings(
  changes: Record<string, string> = {},
  { now = Date.now }: Clock = {},
): Promise<Finding[]> {
  return await Array.fromAsync(
    examine({
      ...systemOf(silent),
      now,
      environment: { ...environment, ...changes },
      fetch,
    }),
  );
}

/** Formats findings as `wrong Subject: sentence → remedy`. */
const lines = (found: readonly Finding[]): string =>
  found
    .map(({ level, subject, sentence, remedy }) => `${level} ${subject}: ${sentence} → ${remedy}`)
    .join('\n');

async function discord() {
  const server = await new DiscordServer({}).listen();
  closing.defer(() => server.close());
  Object.assign(environment, { DISCORD_TOKEN: server.token, DISCORD_API_URL: server.apiUrl });
  return server;
}

async function slack(options: Parameters<typeof startSlackServer>[0] = {}) {
  const server = await startSlackServer(options);
  closing.defer(() => server.close());
  Object.assign(environment, {
    SLACK_BOT_TOKEN: server.botToken,
    SLACK_APP_TOKEN: server.appToken,
    SLACK_API_URL: server.apiUrl,
  });
  return server;
}

describe('a correct setup', () => {
  it('has one good finding for each part', async () => {
    const server = await discord();
    await registerCommands(commands, { token: server.token, apiUrl: server.apiUrl });
    await slack();
    const found = await findings();
    expect(lines(found.filter(({ level }) => level !== 'good'))).toBe('');
    expect(new Set(found.map(({ subject }) => subject))).toEqual(
      new Set([
        'Settings',
        'Storage',
        'PORT',
        'Gateway',
        'Models',
        'PUBLIC_URL',
        'Discord',
        'Slack',
        'Clock',
      ]),
    );
    expect(lines(found)).toContain(`client_id=${server.applicationId}`);
    for (const secret of [server.token, environment.GATEWAY_API_KEY, environment.SLACK_BOT_TOKEN])
      expect(lines(found)).not.toContain(secret);
  });
});

describe('settings', () => {
  it('reports all invalid values', async () => {
    const found = lines(await findings({ PORT: 'x', SONG_MODEL: 'V1' }));
    expect(found).toContain('PORT is "x"');
    expect(found).toContain('SONG_MODEL is "V1"');
  });

  it('warns about probable mistakes', async () => {
    expect(lines(await findings({ USAGE_LIMITS: 'person 5 units/day' }))).toContain(
      'warning Settings: USAGE_LIMITS',
    );
  });

  it.each([
    ['GATWAY_API_KEY', 'GATEWAY_API_KEY'],
    ['DISCORD_BOT_TOKEN', 'DISCORD_TOKEN'],
    ['GATEWAY_URL', 'GATEWAY_BASE_URL'],
    ['SLACK_TOKEN', 'SLACK_BOT_TOKEN'],
  ])('for %s, suggests %s', async (name, meant) => {
    expect(lines(await findings({ [name]: 'x' }))).toContain(
      `warning Settings: ${name} is not a setting: did you mean ${meant}?`,
    );
  });
});

describe('the ports', () => {
  async function occupied(answer: string): Promise<string> {
    const server = createServer((_request, response) => response.writeHead(404).end(answer));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.defer(() => void server.close());
    return String(z.object({ port: z.number() }).parse(server.address()).port);
  }

  it.each(['PORT', 'ADMIN_PORT'])('reports that %s is used by another program', async (setting) => {
    const port = await occupied('hello');
    const found = await findings({ [setting]: port });
    expect(found).toContainEqual({
      level: 'wrong',
      subject: setting,
      sentence: `Port ${port} on 127.0.0.1 is in use by another program: stop that program, or set ${setting} to a free port.`,
      preventsStart: true,
    });
  });

  it('recognises a running bot', async () => {
    const PORT = await occupied('{"error":"not found"}');
    expect(lines(await findings({ PORT }))).toContain(
      `good PORT: the bot is running at http://127.0.0.1:${PORT}`,
    );
  });
});

describe('the gateway', () => {
  it('reports https for a server without TLS', async () => {
    const { GATEWAY_BASE_URL = '' } = environment;
    expect(
      lines(await findings({ GATEWAY_BASE_URL: GATEWAY_BASE_URL.replace('http:', 'https:') })),
    ).toContain(
      `wrong Gateway: GATEWAY_BASE_URL starts with https://, but this server speaks only http → set GATEWAY_BASE_URL to ${GATEWAY_BASE_URL}, or correct its port`,
    );
  });

  it('names the setting if the key is rejected', async () => {
    expect(lines(await findings({ GATEWAY_API_KEY: 'another-key' }))).toMatch(
      /wrong Gateway: the gateway rejected the key.*GATEWAY_API_KEY/,
    );
  });

  it('reports a base URL with /v1', async () => {
    expect(lines(await findings({ GATEWAY_BASE_URL: `${environment.GATEWAY_BASE_URL}/v1` }))).toMatch(
      /wrong Gateway: .*GATEWAY_BASE_URL.*without \/v1/,
    );
  });

  it('suggests similar models for an unlisted one', async () => {
    const names = { ASK_MODEL: 'chat:chat-smal', TOOL_MODEL: 'facet-tool', VISION_MODEL: 'msg:scribe-larg' };
    const read = lines(await findings(names));
    expect(read).toMatch(/warning Models: ASK_MODEL is chat-smal.*did you mean chat-small/);
    expect(read).toMatch(/warning Models: TOOL_MODEL is facet-tool.*did you mean facet-tools/);
    expect(read).toMatch(/warning Models: VISION_MODEL is scribe-larg.*did you mean scribe-large/);
  });

  it('checks each of several models', async () => {
    const found = lines(await findings({ ASK_MODEL: 'chat:chat-small,msg:chat-smal' }));
    expect(found).toMatch(/ASK_MODEL is chat-small, which is available/);
    expect(found).toMatch(/warning Models: ASK_MODEL is chat-smal,.*did you mean chat-small/);
  });
});

describe("the operator's own keys", () => {
  /** Settings without a gateway, on the doubles of two services. */
  async function ownKeys() {
    const {
      GATEWAY_BASE_URL: _,
      GATEWAY_API_KEY: __,
      ASK_MODEL: ___,
      IMAGE_MODEL,
      VIDEO_MODEL,
      ...rest
    } = environment;
    const [openai, suno] = await Promise.all([startOpenAi(), startSuno()]);
    closing.defer(() => openai[Symbol.asyncDispose]());
    closing.defer(() => suno[Symbol.asyncDispose]());
    environment = {
      ...rest,
      CHAT_BASE_URL: openai.url,
      CHAT_API_KEY: SERVICE_KEY,
      MUSIC_BASE_URL: suno.url,
      MUSIC_API_KEY: SERVICE_KEY,
      PUBLIC_URL: `http://127.0.0.1:${environment.PORT}`,
    };
  }

  it('are each checked, and missing families are reported', async () => {
    await ownKeys();
    const found = lines(await findings());
    expect(found).toMatch(
      /good OpenAI-compatible service \(chat\): 127\.0\.0\.1:\d+ accepts requests; 8 models available/,
    );
    expect(found).toMatch(/good sunoapi.org service \(music\): 127\.0\.0\.1:\d+ accepts requests/);
    expect(found).toContain('warning Models: ASK_MODEL is not set, so gpt-4o-mini is used');
    expect(found).not.toContain('IMAGE_MODEL');
    expect(found).toContain(
      'good Commands: there is no service for images, so their commands are not offered; set MEDIA_API_KEY or GEN_API_KEY to add them',
    );
    expect(found).not.toContain('emulator');
    expect(found).not.toContain(SERVICE_KEY);
  });

  it('that are rejected are reported with their settings', async () => {
    await ownKeys();
    const found = lines(await findings({ CHAT_API_KEY: 'wrong', MUSIC_API_KEY: 'wrong' }));
    expect(found).toMatch(
      /wrong OpenAI-compatible service \(chat\): the chat service rejected the key → set CHAT_API_KEY to a valid key/,
    );
    expect(found).toMatch(
      /wrong sunoapi.org service \(music\): the music service rejected the key → set MUSIC_API_KEY/,
    );
  });

  it('report the base URL if another server, or none, responds there', async () => {
    await ownKeys();
    const nobody = `http://127.0.0.1:${await freePort()}`;
    const found = lines(
      await findings({ CHAT_BASE_URL: `${environment.CHAT_BASE_URL}/nowhere`, MUSIC_BASE_URL: nobody }),
    );
    expect(found).toMatch(
      /wrong OpenAI-compatible service \(chat\): the server at CHAT_BASE_URL is not the chat service → set CHAT_BASE_URL to the service's base URL, such as/,
    );
    expect(found).toMatch(/wrong sunoapi.org service \(music\): 127.* cannot be reached/);
  });

  it('do not hide a gateway that rejects its key', async () => {
    const { GATEWAY_BASE_URL = '' } = environment;
    await ownKeys();
    const GATEWAY_API_KEY = 'another-key';
    const beside = lines(await findings({ GATEWAY_BASE_URL, GATEWAY_API_KEY }));
    expect(beside).toMatch(
      /wrong Gateway: the gateway rejected the key → set GATEWAY_API_KEY to a valid key of 127/,
    );
    expect(beside).toMatch(/good OpenAI-compatible service \(chat\): .* 8 models available/);
  });

  it('that are rejected do not blame the gateway', async () => {
    const { GATEWAY_BASE_URL = '', GATEWAY_API_KEY = '' } = environment;
    await ownKeys();
    const found = lines(await findings({ GATEWAY_BASE_URL, GATEWAY_API_KEY, CHAT_API_KEY: 'wrong' }));
    expect(found).toMatch(/good Gateway: the key works; \d+ models available/);
    expect(found).toMatch(/wrong OpenAI-compatible service \(chat\): the chat service rejected the key/);
  });

  it('can be combined with the emulator', async () => {
    await ownKeys();
    expect(lines(await findings({ EMULATOR_FAMILIES: 'media' }))).toContain(
      'good Emulator: the built-in emulator simulates media, because EMULATOR_FAMILIES names them',
    );
  });

  it('need no PUBLIC_URL without songs and videos', async () => {
    await ownKeys();
    const { MUSIC_BASE_URL: _, MUSIC_API_KEY: __, PUBLIC_URL: ___, ...rest } = environment;
    environment = rest;
    expect(lines(await findings())).toContain('good PUBLIC_URL: not needed: only songs and videos need it');
  });
});

describe('PUBLIC_URL', () => {
  it('is an error if it starts with https, but nothing adds TLS', async () => {
    const PUBLIC_URL = `https://127.0.0.1:${environment.PORT}`;
    expect(lines(await findings({ PUBLIC_URL }))).toContain(
      `wrong PUBLIC_URL: ${PUBLIC_URL} starts with https://, but the server there speaks only http`,
    );
  });

  it('is an error if it reaches another server', async () => {
    const port = await freePort();
    const other = createServer((_request, response) => response.end('hello')).listen(port, '127.0.0.1');
    closing.defer(() => void other.close());
    expect(lines(await findings({ PUBLIC_URL: `http://127.0.0.1:${port}` }))).toContain(
      'wrong PUBLIC_URL: a different server responds',
    );
  });

  it.each([
    ['https://gateway.example', undefined],
    ['https://gateway.example', 'http://192.168.1.5:3000'],
    ['https://gateway.example', 'http://[fd00::5]:3000'],
    ['https://gateway.example', 'http://minstrel.local'],
    ['http://192.168.1.4', undefined],
    ['http://192.168.1.4', 'http://localhost:3000'],
  ])('for a gateway at %s, rejects %s and suggests a tunnel', async (gateway, publicUrl) => {
    const config = readConfig({
      ...environment,
      GATEWAY_BASE_URL: gateway,
      ...(publicUrl === undefined ? {} : { PUBLIC_URL: publicUrl }),
    });
    expect(lines(await inspectPublicUrl(config, { ...systemOf(silent), fetch }))).toMatch(
      /^wrong PUBLIC_URL: .*cloudflared tunnel/,
    );
  });

  it('may reach a bot in another container or on another replica', async () => {
    const server = await createHttpServer({
      host: '127.0.0.1',
      port: 0,
      log: silent,
      routes: [
        musicCallbackRoutes({
          secrets: ['secret'],
          receive: async () => 'stored',
          log: silent,
          measure: nothing,
        }),
      ],
    });
    closing.defer(() => server.close());
    expect(lines(await findings({ PUBLIC_URL: server.url }))).toContain(
      `good PUBLIC_URL: ${server.url} reaches a running bot`,
    );
  });

  it('is tested with a callback path if the bot uses the port, because proxies may block other paths', async () => {
    const running = createServer(({ url = '' }, response) => {
      response.statusCode = 404;
      response.end(url.startsWith('/callbacks/') ? '{"error":"not found"}' : '');
    });
    running.listen(Number(environment.PORT), '127.0.0.1');
    closing.defer(() => void running.close());
    expect(lines(await findings())).toContain('good PUBLIC_URL: ');
  });
});

describe('no chat', () => {
  it('offers a browser chat and a prompt, except in production', async () => {
    expect(lines(await findings())).toContain('npm start prints the address of the playground');
    const deployed = lines(await findings({ NODE_ENV: 'production' }));
    expect(deployed).toContain('nobody can reach the bot');
    expect(deployed).not.toContain('npm start opens');
  });
});

describe('Discord', () => {
  it('says where to get a token if it is rejected', async () => {
    const { token } = await discord();
    const found = lines(await findings({ DISCORD_TOKEN: `${token.slice(0, -5)}wrong` }));
    expect(found).toMatch(/wrong Discord: Discord rejected the token → .*Reset Token/);
  });

  it('reports missing commands, servers and permissions', async () => {
    const server = await discord();
    server.guild.installed = false;
    const found = lines(await findings());
    expect(found).toContain('do not match this version');
    expect(found).toMatch(/isn't in any server yet → open https:\/\/discord\.com\/oauth2/);
    server.guild.installed = true;
    server.rolePermissions = 1024n;
    expect(lines(await findings())).toMatch(/missing permissions in “Guild”: Send Messages.*Attach Files/);
  });

  it('reports that the message content intent is off', async () => {
    const server = await discord();
    expect(lines(await findings({ DISCORD_MESSAGE_CONTENT: '1' }))).toContain(
      'wrong Discord: DISCORD_MESSAGE_CONTENT',
    );
    server.gateway.privilegedIntents = 1 << 15;
    expect(lines(await findings({ DISCORD_MESSAGE_CONTENT: '1' }))).toContain('Intent is on');
  });

  it('reports an interactions endpoint', async () => {
    const server = await discord();
    server.interactionsUrl = 'https://elsewhere.example/interactions';
    expect(lines(await findings())).toContain(
      'sends its interactions to https://elsewhere.example/interactions',
    );
  });

  it('reports an outage', async () => {
    await discord();
    const port = await freePort();
    expect(lines(await findings({ DISCORD_API_URL: `http://127.0.0.1:${port}/api` }))).toContain(
      'wrong Discord: Could not reach Discord',
    );
  });
});

describe('Slack', () => {
  it('names missing scopes', async () => {
    await slack({ scopes: ['chat:write', 'commands'] });
    expect(lines(await findings())).toMatch(
      /wrong Slack: the app is missing scopes: .*users:read.* → run npm run --silent manifest/,
    );
  });

  it('names the settings of rejected tokens', async () => {
    await slack();
    const found = lines(
      await findings({ SLACK_BOT_TOKEN: 'xoxb-0000000000-1', SLACK_APP_TOKEN: 'xapp-0000000000-1' }),
    );
    expect(found).toContain('Slack rejected SLACK_BOT_TOKEN (invalid_auth)');
    expect(found).toContain('Slack rejected SLACK_APP_TOKEN (invalid_auth)');
  });

  it('distinguishes a wrong client id from a wrong secret', async () => {
    const { tokens, apiUrl, appToken } = await slack();
    const { SLACK_BOT_TOKEN: _, ...rest } = environment;
    environment = {
      ...rest,
      SLACK_CLIENT_ID: tokens.clientId,
      SLACK_CLIENT_SECRET: tokens.clientSecret,
      SLACK_APP_TOKEN: appToken,
      SLACK_API_URL: apiUrl,
      PUBLIC_URL: `http://127.0.0.1:${environment.PORT}`,
    };
    expect(lines(await findings())).toContain('good Slack: SLACK_CLIENT_ID and SLACK_CLIENT_SECRET');
    expect(lines(await findings({ SLACK_CLIENT_ID: '1.2' }))).toContain('Slack rejected SLACK_CLIENT_ID');
    expect(lines(await findings({ SLACK_CLIENT_SECRET: 'f'.repeat(32) }))).toContain(
      'Slack rejected SLACK_CLIENT_SECRET',
    );
  });

  it('warns about an outage', async () => {
    await slack();
    const port = await freePort();
    expect(lines(await findings({ SLACK_API_URL: `http://127.0.0.1:${port}/api/` }))).toContain(
      'warning Slack: Could not reach Slack',
    );
  });
});

describe('storage', () => {
  it('reports files that others can read, with the command to fix it', async () => {
    await mkdir(join(folder, 'data'));
    await chmod(join(folder, 'data'), 0o755);
    expect(lines(await findings())).toMatch(
      /warning Storage: other users of this machine can read .*data .*chmod go=/,
    );
  });

  it.each(['file', 'file/data'])('reports a file in the path %s of DATA_DIR', async (name) => {
    await writeFile(join(folder, 'file'), '', { mode: 0o600 });
    expect(lines(await findings({ DATA_DIR: join(folder, name) }))).toMatch(
      /wrong Storage: .*file is not a folder: move it elsewhere, or set DATA_DIR to another folder/,
    );
  });

  it('reports a file that is not a database', async () => {
    await mkdir(join(folder, 'data'), { mode: 0o700 });
    await writeFile(join(folder, 'data', 'minstrel.sqlite'), 'x'.repeat(5000), { mode: 0o600 });
    expect(lines(await findings())).toContain(
      `wrong Storage: ${join(folder, 'data', 'minstrel.sqlite')} is not a database: move it elsewhere`,
    );
  });

  it('finds damage in pages that a start does not read', async () => {
    const path = join(folder, 'data', 'minstrel.sqlite');
    const clock = systemClock;
    const storage = await openSqliteStorage({ path, clock, random: Math.random, log: silent });
    await Promise.all(
      Array.from({ length: 100 }, (_, index) => storage.settings.set(`key${index}`, 'x'.repeat(20_000))),
    );
    await storage.close();
    const { size } = await stat(path);
    const file = await open(path, 'r+');
    await file.write(Buffer.alloc(4096, 0x5a), 0, 4096, 4096 * Math.floor(size / 8192));
    await file.close();
    expect(lines(await findings())).toContain(
      `wrong Storage: The database file ${path} is damaged. Stop the bot and restore a backup.`,
    );
  });

  it.skipIf(noRedis)('still needs a folder for uploads with Redis', async () => {
    const redis = await startRedisServer();
    closing.defer(() => redis.dispose());
    await writeFile(join(folder, 'file'), '');
    const found = lines(await findings({ REDIS_URL: redis.url, DATA_DIR: join(folder, 'file') }));
    expect(found).toMatch(/wrong Media: .*file is not a folder: .* set DATA_DIR to another folder/);
    const MEDIA_STORE = join(folder, 'file', 'media');
    expect(lines(await findings({ MEDIA_STORE }))).toMatch(
      /wrong Media: .* set MEDIA_STORE to another folder/,
    );
  });

  it.skipIf(noRedis)('reports a Redis without persistence or with eviction', async () => {
    const redis = await startRedisServer({ appendonly: 'no', 'maxmemory-policy': 'allkeys-lru' });
    closing.defer(() => redis.dispose());
    const found = lines(await findings({ REDIS_URL: redis.url }));
    expect(found).toContain('warning Redis: If Redis crashes, accepted jobs are lost → set `appendonly yes`');
    expect(found).toContain('set `maxmemory-policy noeviction`');
  });
});

it('reports that the gateway and Redis are down', async () => {
  const port = await freePort();
  // Both are retried for seconds.
  const [gateway = [], redis = []] = await Promise.all([
    findings({ GATEWAY_BASE_URL: `http://127.0.0.1:${port}` }),
    findings({ REDIS_URL: `redis://127.0.0.1:${port}` }),
  ]);
  expect(lines(gateway)).toContain(
    `wrong Gateway: 127.0.0.1:${port} cannot be reached: nothing listens there`,
  );
  expect(lines(redis)).toContain(
    `wrong Storage: Redis at 127.0.0.1:${port} cannot be reached: nothing listens there.`,
  );
});

describe('the clock', () => {
  // A Date header has whole seconds, and one may pass in transit.
  it.each([
    [10_000, /warning Clock: (9|10|11) s ahead of/],
    [-120_000, /wrong Clock: (119|120|121) s behind/],
  ])('reports an offset of %i ms', async (off, line) => {
    expect(lines(await findings({}, { now: () => Date.now() + off }))).toMatch(line);
  });
});
