import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../src/app/config/read.ts';
import { VARIABLES } from '../../../src/app/config/schema.ts';
import { FAMILIES } from '../../../src/core/models/family.ts';
import { GATEWAY_FAMILIES, gatewayAccounts } from '../../../src/gateway/routes.ts';

// Fake tokens with the real format.
const DISCORD_TOKEN = 'MTk4NjIyNDgzNDcxOTI1MjQ4.Cl2FMQ.ZnCjm1XVW7vRze4b7Cq4se7kKWs';
const SLACK_BOT_TOKEN = 'xoxb-000000000000-000000000000-madeUpForThisTest';
const SLACK_APP_TOKEN = 'xapp-1-A0000000000-0000000000000-madeupforthistest';
const SECRET = 'f'.repeat(64);

function problemsOf(environment: Record<string, string>): string[] {
  try {
    readConfig(environment);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ sentence }) => sentence);
    throw error;
  }
  return [];
}

describe('an empty environment', () => {
  test('runs a bot on this machine with the built-in emulator', () => {
    expect(readConfig({})).toEqual({
      production: false,
      playground: true,
      accounts: {},
      emulated: GATEWAY_FAMILIES,
      offered: FAMILIES,
      changesImages: true,
      listener: { host: '127.0.0.1', port: 3000 },
      signingSecrets: [],
      dataDirectory: './data',
      storage: { type: 'sqlite', directory: './data' },
      media: {
        store: { type: 'folder', directory: './data/media' },
        quotaBytes: 10_000_000_000,
        allowedHosts: [],
      },
      models: { song: 'V5' },
      answers: {
        maxTokens: 4096,
        contextTokens: 16_000,
        illustratingModels: [],
        thinkingModels: [],
      },
      concurrency: { song: 10, ask: 16, image: 4, video: 3 },
      servedServers: [],
      usage: { limits: [], costs: {} },
      log: { level: 'info' },
      warnings: [],
    });
  });

  test('treats empty settings, as compose files pass them, as absent', () => {
    const empty = Object.fromEntries(VARIABLES.map((variable) => [variable, variable === 'PORT' ? ' ' : '']));
    expect(readConfig(empty)).toEqual(readConfig({}));
  });
});

test('includes every setting in the config', () => {
  const config = readConfig({
    NODE_ENV: 'production',
    GATEWAY_BASE_URL: 'https://gateway.example/api/',
    GATEWAY_API_KEY: 'key-1',
    HOST: '0.0.0.0',
    PORT: '8080',
    PUBLIC_URL: 'https://bot.example/minstrel/',
    CALLBACK_SECRET: SECRET,
    CALLBACK_SECRET_PREVIOUS: 'e'.repeat(32),
    DISCORD_TOKEN,
    DISCORD_API_URL: 'http://127.0.0.1:9000/api',
    DISCORD_SHARDS: '2-4/16',
    DISCORD_MESSAGE_CONTENT: '1',
    SLACK_BOT_TOKEN,
    SLACK_APP_TOKEN,
    SLACK_API_URL: 'http://127.0.0.1:9001/api/',
    DATA_DIR: '/data/',
    REDIS_URL: 'redis://redis:6379/2',
    SONG_MODEL: 'V4_5PLUS',
    ASK_MODEL: 'msg:some-id',
    IMAGE_MODEL: 'gen:painter',
    VIDEO_MODEL: 'mover:8b',
    VISION_MODEL: 'msg:seer',
    TOOL_MODEL: 'gen:handy',
    THINKING_MODELS: 'thinker',
    ASK_MAX_TOKENS: '1000',
    ASK_CONTEXT_TOKENS: '8000',
    MEDIA_QUOTA_MB: '500',
    MEDIA_ALLOWED_HOSTS: 'Files.LAN., 10.0.0.7:9000,[fd00:0::1]:80',
    CONCURRENCY: 'song=20, video=1',
    SERVED_SERVERS: '1100000000000000001, slack:T0ABCDEFG,direct',
    USAGE_LIMITS: 'person song 5/day, server 500 / hour, deployment 2000.5 units/day',
    USAGE_COSTS: 'song=10, ask:some/model:free=0.5, music.vocalRemoval=2',
    RETENTION_DAYS: '90',
    ADMIN_PORT: '0.0.0.0:9464',
    LOG_LEVEL: 'debug',
  });
  expect(config).toEqual({
    production: true,
    playground: false,
    accounts: gatewayAccounts({ baseUrl: 'https://gateway.example/api', apiKey: 'key-1' }),
    emulated: [],
    offered: FAMILIES,
    changesImages: true,
    listener: { host: '0.0.0.0', port: 8080, publicUrl: 'https://bot.example/minstrel' },
    signingSecrets: [SECRET, 'e'.repeat(32)],
    discord: {
      token: DISCORD_TOKEN,
      apiUrl: 'http://127.0.0.1:9000/api',
      shards: { ids: [2, 3, 4], total: 16 },
      messageContent: true,
    },
    slack: {
      account: { type: 'token', botToken: SLACK_BOT_TOKEN },
      connection: { type: 'socket', appToken: SLACK_APP_TOKEN },
      threads: false,
      apiUrl: 'http://127.0.0.1:9001/api',
    },
    dataDirectory: '/data/',
    storage: { type: 'redis', url: 'redis://redis:6379/2' },
    media: {
      store: { type: 'folder', directory: '/data/media' },
      quotaBytes: 500_000_000,
      retentionMs: 90 * 86_400_000,
      allowedHosts: ['files.lan:80', 'files.lan:443', '10.0.0.7:9000', '[fd00::1]:80'],
    },
    models: { song: 'V4_5PLUS', ask: 'msg:some-id', image: 'gen:painter', video: 'mover:8b' },
    answers: {
      maxTokens: 1000,
      contextTokens: 8000,
      visionModel: 'msg:seer',
      toolModel: 'handy',
      illustratingModels: ['painter'],
      thinkingModels: ['thinker'],
    },
    concurrency: { song: 20, ask: 16, image: 4, video: 1 },
    servedServers: ['1100000000000000001', 'slack:T0ABCDEFG', 'direct'],
    usage: {
      limits: [
        { scope: 'personOnPlatform', family: 'song', per: 'day', of: 'requests', most: 5 },
        { scope: 'server', per: 'hour', of: 'requests', most: 500 },
        { scope: 'deployment', per: 'day', of: 'units', most: 2000.5 },
      ],
      costs: { song: 10, 'ask:some/model:free': 0.5, 'music.vocalRemoval': 2 },
    },
    retentionMs: 90 * 86_400_000,
    admin: { host: '0.0.0.0', port: 9464 },
    log: { level: 'debug' },
    warnings: [],
  });
});

test.each<[string, Record<string, string>, boolean]>([
  ['on without a chat', {}, true],
  ['off with Discord', { DISCORD_TOKEN }, false],
  ['off with Slack', { SLACK_BOT_TOKEN, SLACK_APP_TOKEN }, false],
  ['on with Discord if requested', { DISCORD_TOKEN, PLAYGROUND: '1' }, true],
  ['off if turned off', { PLAYGROUND: '0' }, false],
  [
    'off in production',
    { NODE_ENV: 'production', GATEWAY_BASE_URL: 'https://g.example', GATEWAY_API_KEY: 'k' },
    false,
  ],
  ['off if other machines can reach the listener', { HOST: '0.0.0.0' }, false],
  ['on if the listener is on localhost', { HOST: 'localhost' }, true],
])('the playground is %s', (_case, environment, isOn) => {
  expect(readConfig(environment).playground).toBe(isOn);
});

test('ASK_MAX_TOKENS=none removes the limit of answers', () => {
  expect(readConfig({ ASK_MAX_TOKENS: 'none' }).answers).not.toHaveProperty('maxTokens');
});

test('requires a separate port for metrics', () => {
  expect(problemsOf({ ADMIN_PORT: '3000' })).toEqual([
    'ADMIN_PORT is 3000, the same as PORT: metrics need a separate port.',
  ]);
  expect(problemsOf({ ADMIN_PORT: '0', PORT: '0' })).toEqual([]);
});

test.each([
  ['USAGE_LIMITS', 'person 5'],
  ['USAGE_LIMITS', 'person 5/week'],
  ['USAGE_LIMITS', 'people 5/day'],
  ['USAGE_LIMITS', 'person songs 5/day'],
  ['USAGE_LIMITS', 'person -5/day'],
  ['USAGE_LIMITS', 'person 5/day,'],
  ['USAGE_COSTS', 'song'],
  ['USAGE_COSTS', 'song=much'],
  ['SERVED_SERVERS', 'my server'],
  ['SERVED_SERVERS', 'https://discord.com/channels/1'],
])('rejects %s=%s with an example of a valid value', (variable, value) => {
  const [problem] = problemsOf({ [variable]: value });
  expect(problem).toContain(`${variable} is ${JSON.stringify(value)}: it must be`);
  expect(problem).toContain('such as');
});

test('accepts a separate folder for media', () => {
  expect(readConfig({ MEDIA_STORE: '/srv/media' }).media.store).toEqual({
    type: 'folder',
    directory: '/srv/media',
  });
});

describe('media in a bucket', () => {
  const bucket = {
    MEDIA_STORE: 's3://my-bucket/chat//minstrel',
    MEDIA_S3_ENDPOINT: 'https://s3.eu-central-1.amazonaws.com/',
    MEDIA_S3_REGION: 'eu-central-1',
    MEDIA_S3_ACCESS_KEY_ID: 'AKIAMADEUP',
    MEDIA_S3_SECRET_ACCESS_KEY: 'made/up+secret',
  };

  test('is set as s3:// with a prefix, and stages uploads in DATA_DIR', () => {
    expect(readConfig({ ...bucket, DATA_DIR: '/data' }).media.store).toEqual({
      type: 's3',
      endpoint: 'https://s3.eu-central-1.amazonaws.com',
      region: 'eu-central-1',
      bucket: 'my-bucket',
      prefix: 'chat/minstrel/',
      accessKeyId: 'AKIAMADEUP',
      secretAccessKey: 'made/up+secret',
      stagingDirectory: '/data/media/incoming',
    });
    expect(readConfig({ ...bucket, MEDIA_STORE: 's3://my-bucket' }).media.store).toMatchObject({
      prefix: '',
    });
  });

  test.each(Object.keys(bucket).filter((name) => name !== 'MEDIA_STORE'))('requires %s', (name) => {
    const { [name]: _, ...rest } = bucket as Record<string, string>;
    expect(problemsOf(rest)).toEqual([expect.stringContaining(`${name} is missing: `)]);
  });

  test.each([
    's3://',
    's3:///prefix',
    's3://a',
    's3://my-bucket/../other',
    's3://my-bucket/a b',
    'gs://my-bucket',
  ])('rejects %s', (store) => {
    expect(problemsOf({ ...bucket, MEDIA_STORE: store })[0]).toContain('MEDIA_STORE is');
  });

  test('warns about bucket settings without a bucket', () => {
    const { MEDIA_STORE: _, ...idle } = bucket;
    expect(readConfig(idle).warnings).toHaveLength(4);
    expect(readConfig(bucket).warnings).toEqual([]);
  });
});

describe('errors', () => {
  test('are all listed at once, in values and between settings', () => {
    const environment = {
      NODE_ENV: 'production',
      PORT: 'http',
      PUBLIC_URL: 'bot.example.org',
      SLACK_BOT_TOKEN,
      LOG_LEVEL: 'loud',
    };
    expect(() => readConfig(environment)).toThrow(
      [
        '6 settings are invalid, so nothing was started:',
        '  - PORT is "http": it must be a whole number from 0 to 65535.',
        '  - PUBLIC_URL is "bot.example.org": it must be a URL that starts with https:// or http://, without a user, query or fragment, such as https://example.org.',
        '  - LOG_LEVEL is "loud": it must be one of fatal, error, warn, info, debug, trace, silent.',
        '  - GATEWAY_BASE_URL is missing: NODE_ENV=production requires a real gateway, or keys of your own such as CHAT_API_KEY (the built-in emulator is for testing only).',
        '  - GATEWAY_API_KEY is missing: the gateway requires the API key of your account.',
        '  - SLACK_APP_TOKEN is missing: SLACK_BOT_TOKEN requires it for Socket Mode. To receive HTTP requests instead, set SLACK_SIGNING_SECRET.',
        'See .env.example for all settings.',
      ].join('\n'),
    );
  });

  test.each<[string, Record<string, string>, string]>([
    ['a gateway without a key', { GATEWAY_BASE_URL: 'https://g.example' }, 'GATEWAY_API_KEY is missing'],
    ['a gateway key without a URL', { GATEWAY_API_KEY: 'k' }, 'GATEWAY_BASE_URL is missing'],
    ['a Slack app token without a bot token', { SLACK_APP_TOKEN }, 'SLACK_BOT_TOKEN is missing'],
    [
      'a playground in production',
      {
        PLAYGROUND: '1',
        NODE_ENV: 'production',
        GATEWAY_BASE_URL: 'https://g.example',
        GATEWAY_API_KEY: 'k',
      },
      'PLAYGROUND is 1 with NODE_ENV=production',
    ],
    [
      'a playground for other machines',
      { PLAYGROUND: '1', HOST: '0.0.0.0' },
      'PLAYGROUND is 1, but HOST is 0.0.0.0',
    ],
    [
      'a previous secret without a current one',
      { CALLBACK_SECRET_PREVIOUS: SECRET },
      'CALLBACK_SECRET is missing',
    ],
    ['swapped Slack tokens', { SLACK_BOT_TOKEN: SLACK_APP_TOKEN, SLACK_APP_TOKEN }, 'SLACK_BOT_TOKEN is not'],
    [
      'a Discord client secret',
      { DISCORD_TOKEN: 'abcdefghijklmnopqrstuvwxyz' },
      'three parts separated by dots',
    ],
    ['a Discord token with the prefix Bot', { DISCORD_TOKEN: `Bot ${DISCORD_TOKEN}` }, 'the word “Bot”'],
    [
      'quotes around a value',
      { DISCORD_TOKEN: `"${DISCORD_TOKEN}"` },
      'DISCORD_TOKEN has quotation marks around it',
    ],
    [
      'a key with a line break',
      { GATEWAY_API_KEY: 'a\nb', GATEWAY_BASE_URL: 'http://g' },
      'GATEWAY_API_KEY contains',
    ],
    ['a secret that is too short', { CALLBACK_SECRET: 'hush' }, 'at least 32 characters'],
    ['a port above 65535', { PORT: '65536' }, 'PORT is "65536"'],
    ['a port with a fraction', { PORT: '80.5' }, 'PORT is "80.5"'],
    ['a public URL with a password', { PUBLIC_URL: 'https://a:b@example.org' }, 'PUBLIC_URL is'],
    [
      'an unknown song model',
      { SONG_MODEL: 'v5' },
      'one of V4, V4_5, V4_5PLUS, V4_5ALL, V5, or a newer version',
    ],
    ['a route without a model', { ASK_MODEL: 'msg:' }, 'chat:some-id or msg:some-id or gen:some-id'],
    ['too many models', { ASK_MODEL: 'a,b,c,d,e,f' }, 'must be up to 5 model IDs separated by commas'],
    ['a model with a space among others', { ASK_MODEL: 'msg:a,b c' }, 'must be up to 5 model IDs'],
    ['a tool model on the wrong route', { TOOL_MODEL: 'msg:some-id' }, 'the ID of a gen model'],
    ['a family that does not exist', { CONCURRENCY: 'songs=3' }, 'song=10, ask=16'],
    ['a concurrency of zero', { CONCURRENCY: 'song=0' }, 'song=10, ask=16'],
    ['a host with a port above 65535', { ADMIN_PORT: '0.0.0.0:70000' }, '0.0.0.0:9464'],
    ['a model with a space', { VIDEO_MODEL: 'some id' }, 'must be a model ID without spaces.'],
    ['an HTTP URL for Redis', { REDIS_URL: 'http://redis:6379' }, 'REDIS_URL is not a Redis URL'],
    ['an unsupported media store', { MEDIA_STORE: 'gs://bucket' }, 'MEDIA_STORE is "gs://bucket"'],
    ['shards above the total', { DISCORD_TOKEN, DISCORD_SHARDS: '0-16/16' }, 'DISCORD_SHARDS is "0-16/16"'],
    ['shards in reverse order', { DISCORD_TOKEN, DISCORD_SHARDS: '3-1/16' }, 'such as 0-3/16 or 5/16'],
    ['a switch that is not 0 or 1', { DISCORD_MESSAGE_CONTENT: 'yes' }, 'must be 1 (on) or 0 (off)'],
    ['a quota of zero', { MEDIA_QUOTA_MB: '0' }, 'from 100 to'],
    ['a host with a scheme', { MEDIA_ALLOWED_HOSTS: 'http://files.lan' }, 'host or host:port'],
    [
      'an allowed host with a port above 65535',
      { MEDIA_ALLOWED_HOSTS: 'files.lan:70000' },
      'host or host:port',
    ],
    ['an IPv6 address without brackets', { MEDIA_ALLOWED_HOSTS: 'fd00::1' }, '[fd00::1]:9000'],
    ['an invalid IPv6 address', { MEDIA_ALLOWED_HOSTS: '[fd00::1::2]:80' }, 'host or host:port'],
    [
      'a price for an unknown route',
      { USAGE_COSTS: 'music.vocalremoval=2' },
      'did you mean music.vocalRemoval?',
    ],
    ['a price for a model with a route', { USAGE_COSTS: 'ask:msg:some-id=2' }, 'did you mean ask:some-id?'],
    ['a price for an unknown song model', { USAGE_COSTS: 'song:V45=2' }, 'did you mean song:V4'],
    ['a song model that never was', { SONG_MODEL: 'V4_6' }, 'SONG_MODEL is "V4_6"'],
    ['two prices for one family', { USAGE_COSTS: 'song=2, video=1, song=3' }, 'two prices for song'],
    [
      'a gateway with an empty fragment',
      { GATEWAY_API_KEY: 'k', GATEWAY_BASE_URL: 'https://gateway.example/#' },
      'without a user, query or fragment',
    ],
    [
      'a gateway with an empty query',
      { GATEWAY_API_KEY: 'k', GATEWAY_BASE_URL: 'https://gateway.example/api?' },
      'without a user, query or fragment',
    ],
    ['a host list with an empty item', { MEDIA_ALLOWED_HOSTS: 'a,,b' }, 'host or host:port'],
    ['a collector with an unsupported protocol', { OTEL_EXPORTER_OTLP_ENDPOINT: 'grpc://c:4317' }, 'http://'],
  ])('reports %s in one sentence', (_name, environment, sentence) => {
    const problems = problemsOf(environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  test('never show the value of a secret', () => {
    const wrong = 'hunter2 is my "password';
    const sentences = problemsOf(
      Object.fromEntries(
        [
          'GATEWAY_BASE_URL',
          'GATEWAY_API_KEY',
          'CALLBACK_SECRET',
          'CALLBACK_SECRET_PREVIOUS',
          'DISCORD_TOKEN',
          'SLACK_BOT_TOKEN',
          'SLACK_APP_TOKEN',
          'REDIS_URL',
        ].map((variable) => [variable, wrong]),
      ),
    );
    expect(sentences).toHaveLength(8);
    expect(sentences.join()).not.toContain('hunter2');
  });

  test('truncate very long values', () => {
    expect(problemsOf({ PORT: '9'.repeat(10_000) })[0]?.length).toBeLessThan(200);
  });
});

describe('traces', () => {
  const telemetry = { OTEL_SERVICE_NAME: 'bard', OTEL_TRACES_SAMPLER: 'always_off' };

  test('are off without a collector', () => {
    expect(readConfig(telemetry).traces).toBeUndefined();
  });

  test("pass on OpenTelemetry's variables without warnings", () => {
    const settings = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318', ...telemetry };
    const { traces, warnings } = readConfig({ ...settings, PATH: '/bin' });
    expect(traces).toEqual(settings);
    expect(warnings.join()).not.toContain('OTEL_');
  });
});

describe('warnings', () => {
  test('name settings without effect', () => {
    expect(readConfig({ DISCORD_SHARDS: '5/16', SLACK_API_URL: 'http://127.0.0.1:1' }).warnings).toEqual([
      'DISCORD_SHARDS has no effect without DISCORD_TOKEN.',
      'SLACK_API_URL has no effect without SLACK_BOT_TOKEN or SLACK_CLIENT_ID.',
    ]);
  });

  test.each([
    ['DISCORD_TOKN', 'DISCORD_TOKN is not a setting: did you mean DISCORD_TOKEN?'],
    ['discord_token', 'discord_token is not a setting: did you mean DISCORD_TOKEN?'],
    ['PUBLICURL', 'PUBLICURL is not a setting: did you mean PUBLIC_URL?'],
    ['SLACK_WORKSPACE', 'SLACK_WORKSPACE is not a setting of this version and has no effect.'],
  ])('suggest a setting for %s', (name, warning) => {
    expect(readConfig({ [name]: 'x' }).warnings).toEqual([warning]);
  });

  test("ignore other programs' variables", () => {
    const names = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'PWD',
      'LANG',
      'NODE_OPTIONS',
      'npm_config_cache',
      'SHLVL',
      'POST',
    ];
    expect(readConfig(Object.fromEntries(names.map((name) => [name, 'x']))).warnings).toEqual([]);
  });
});

describe("the operator's own keys", () => {
  const kinds = (settings: Record<string, string>) => {
    const { accounts, emulated, offered } = readConfig(settings);
    const places = Object.entries(accounts).map(([family, { service, baseUrl }]) => [
      family,
      service,
      baseUrl,
    ]);
    return { places, emulated, offered };
  };

  test('a key alone selects the family’s best-known service', () => {
    expect(kinds({ CHAT_API_KEY: 'sk-1' })).toEqual({
      places: [['chat', 'public', 'https://api.openai.com/v1']],
      emulated: [],
      offered: ['ask'],
    });
    expect(kinds({ GEN_API_KEY: 'k' }).offered).toEqual(['ask', 'image']);
    expect(kinds({ MEDIA_API_KEY: 'k' }).offered).toEqual(['image', 'video']);
    expect(kinds({ MUSIC_API_KEY: 'k' }).offered).toEqual(['song']);
    expect(readConfig({ GEN_API_KEY: 'k' }).changesImages).toBe(true);
    expect(readConfig({ MEDIA_API_KEY: 'k' }).changesImages).toBe(false);
  });

  test('a chat service on this machine needs no key, and every other service does', () => {
    const { accounts } = readConfig({ CHAT_BASE_URL: 'http://127.0.0.1:11434/v1' });
    expect(accounts).toEqual({ chat: { service: 'public', baseUrl: 'http://127.0.0.1:11434/v1' } });
    for (const family of ['MSG', 'GEN', 'MEDIA', 'MUSIC'])
      expect(() => readConfig({ [`${family}_BASE_URL`]: 'http://127.0.0.1:1' })).toThrow(
        `${family}_API_KEY is missing: ${family}_BASE_URL requires it.`,
      );
  });

  test('take precedence over the gateway, which keeps the other families', () => {
    const { places, offered } = kinds({
      GATEWAY_BASE_URL: 'https://gateway.example',
      GATEWAY_API_KEY: 'key',
      MSG_API_KEY: 'sk-ant',
    });
    expect(places.filter(([, service]) => service === 'public')).toEqual([
      ['msg', 'public', 'https://api.anthropic.com'],
    ]);
    expect(places).toHaveLength(5);
    expect(offered).toEqual(FAMILIES);
  });

  test('are enough in production', () => {
    expect(readConfig({ NODE_ENV: 'production', CHAT_API_KEY: 'sk-1' }).production).toBe(true);
  });

  test('are combined with the emulator only for the families in EMULATOR_FAMILIES', () => {
    const { emulated, offered } = kinds({ CHAT_API_KEY: 'sk-1', EMULATOR_FAMILIES: 'music' });
    expect({ emulated, offered }).toEqual({ emulated: ['music'], offered: ['song', 'ask'] });
    expect(() => readConfig({ CHAT_API_KEY: 'sk-1', EMULATOR_FAMILIES: 'chat,music' })).toThrow(
      'EMULATOR_FAMILIES names chat, which has its own service',
    );
    expect(() => readConfig({ EMULATOR_FAMILIES: 'songs' })).toThrow('EMULATOR_FAMILIES is "songs"');
    expect(() =>
      readConfig({ NODE_ENV: 'production', CHAT_API_KEY: 'sk-1', EMULATOR_FAMILIES: 'music' }),
    ).toThrow('EMULATOR_FAMILIES is set with NODE_ENV=production');
  });
});

const priceTable = readFileSync(new URL('../../../docs/operating/spending.md', import.meta.url), 'utf8');
const EXAMPLE_PRICES = [...priceTable.matchAll(/^\| [^|]+ \| `([^`]+=[^`]+)` \|/gm)].map(
  ([, prices = '']) => prices,
);

test.each(EXAMPLE_PRICES)('the example prices in docs/operating/spending.md are valid: %s', (prices) => {
  expect(Object.keys(readConfig({ USAGE_COSTS: prices }).usage.costs).length).toBeGreaterThan(0);
});
