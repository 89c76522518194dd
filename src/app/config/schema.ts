/** Every setting with its text, in the order of `.env.example`, which `npm run settings` writes from here. */
import { z } from 'zod';
import { MUSIC_MODELS } from '../../gateway/music/requests.ts';
import * as field from './fields.ts';
import { concurrency, serverList, usageCosts, usageLimits } from './usage.ts';

declare module 'zod' {
  interface GlobalMeta {
    /** What `.env.example` shows; the default where it is left out. */
    example?: string;
    /** What holds without the setting, in Markdown; the default where it is left out. */
    otherwise?: string;
  }
}

const port = field.wholeNumber(0, 65_535);

const CHOOSE = 'people are asked to choose';

export const environmentSchema = z.object({
  NODE_ENV: z.string().optional().meta({
    description:
      'Set to production, everything that a deployed bot needs is asked for at the start (the Docker image does this).',
    example: 'production',
  }),
  GATEWAY_BASE_URL: field.gatewayUrl.optional().meta({
    description:
      'Where the gateway is. Without it, and without the key, the built-in emulator plays the gateway.',
    example: 'https://gateway.example.org',
    otherwise: 'the built-in emulator',
  }),
  GATEWAY_API_KEY: field.apiKey.optional().describe('The key of your account at the gateway. Secret.'),

  HOST: field.host.prefault('127.0.0.1').meta({
    description: 'The address on which to listen: 127.0.0.1 is this machine alone, 0.0.0.0 is everybody.',
    otherwise: '`127.0.0.1`; in the image `0.0.0.0`',
  }),
  PORT: port.prefault('3000').describe('The port on which to listen. 0 takes any free one.'),
  PLAYGROUND: field.flag.optional().meta({
    description:
      'A chat in the browser on this machine alone, to try every command: 1 or 0. Its address is printed at the start. Never in production.',
    example: '1',
    otherwise: 'on while no chat is connected',
  }),
  PUBLIC_URL: field.baseUrl.optional().meta({
    description:
      'Where the gateway reaches the listener from outside. Songs, lyrics and stems come back by this address, and links to large files and to the pages of songs begin with it. It may hold a path.',
    example: 'https://minstrel.example.org',
    otherwise: '`http://127.0.0.1:$PORT`',
  }),
  CALLBACK_SECRET: field.signingSecret.optional().meta({
    description:
      'Signs the addresses for callbacks and files: 32 characters or more, such as `openssl rand -hex 32` prints. Without it, one is made at the first start and kept in storage. Secret.',
    otherwise: 'made once, kept in storage',
  }),
  CALLBACK_SECRET_PREVIOUS: field.signingSecret
    .optional()
    .describe(
      'The secret before the present one: what it signed still counts. Take it out after a month or so. Secret.',
    ),

  DISCORD_TOKEN: field.discordToken.optional().meta({
    description: 'The bot token from the Developer Portal; it switches Discord on. Secret.',
    otherwise: 'off',
  }),
  DISCORD_API_URL: field.baseUrl.optional().meta({
    description: "Another base for Discord's API, for proxies and tests.",
    example: 'https://discord.com/api',
    otherwise: "Discord's own",
  }),
  DISCORD_SHARDS: field.shards.optional().meta({
    description:
      'The shards of this replica, of how many in all. Without it, one process serves every server, and other replicas on one Redis stand by.',
    example: '0-3/16',
    otherwise: 'all',
  }),
  DISCORD_MESSAGE_CONTENT: field.flag
    .prefault('0')
    .describe(
      'Set to 1 when the message content intent is switched on in the Developer Portal: in threads that the bot opened, and in channels that moderators choose with talk in /models answers, people then need not mention it.',
    ),

  SLACK_BOT_TOKEN: field.slackToken('xoxb-', 'OAuth & Permissions').optional().meta({
    description: 'The bot token (xoxb-…) of your app; it switches Slack on. Secret.',
    otherwise: 'off',
  }),
  SLACK_APP_TOKEN: field
    .slackToken('xapp-', 'Basic Information, App-Level Tokens')
    .optional()
    .describe(
      'The app-level token (xapp-…) with connections:write, by which Slack is listened to (Socket Mode). Secret.',
    ),
  SLACK_SIGNING_SECRET: field
    .slackSecret('Signing Secret')
    .optional()
    .describe(
      'In place of SLACK_APP_TOKEN: Slack then sends requests to the listener, at PUBLIC_URL/slack/events. The Signing Secret of your app proves them. Secret.',
    ),
  SLACK_CLIENT_ID: field.slackClientId.optional().meta({
    description:
      'In place of SLACK_BOT_TOKEN: any number of workspaces, each of which installs the app at PUBLIC_URL/slack/install.',
    otherwise: 'off',
  }),
  SLACK_CLIENT_SECRET: field
    .slackSecret('Client Secret')
    .optional()
    .describe(
      "The Client Secret that belongs to it. It also seals the workspaces' tokens in storage. Secret.",
    ),
  SLACK_CLIENT_SECRET_PREVIOUS: field
    .slackSecret('Client Secret')
    .optional()
    .describe('The Client Secret before the present one: it still opens what it sealed. Secret.'),
  SLACK_THREADS: field.flag
    .prefault('0')
    .describe(
      'Set to 1, threads that the bot takes part in go on without its name, and moderators may choose channels with talk in /models answers; the manifest is then made with --threads too.',
    ),
  SLACK_API_URL: field.baseUrl.optional().meta({
    description: "Another base for Slack's Web API, for proxies and tests.",
    example: 'https://slack.com/api/',
    otherwise: "Slack's own",
  }),

  DATA_DIR: field.folder.prefault('./data').meta({
    description: 'The folder for the database and for kept media.',
    otherwise: '`./data`; in the image `/data`',
  }),
  REDIS_URL: field.redisUrl.optional().meta({
    description:
      'Redis for jobs and settings in place of the database file, so that several replicas can share them. Secret, if it holds a password.',
    example: 'redis://localhost:6379',
    otherwise: 'the database in `DATA_DIR`',
  }),

  SONG_MODEL: field
    .oneOf(MUSIC_MODELS)
    .prefault('V5')
    .describe('The song model: V4, V4_5, V4_5PLUS, V4_5ALL or V5.'),
  ASK_MODEL: field.model(['chat', 'msg', 'gen']).optional().meta({
    description: 'The model that answers /ask. Its route may stand before it: chat, msg or gen.',
    example: 'msg:some-id',
    otherwise: CHOOSE,
  }),
  IMAGE_MODEL: field.model(['gen']).optional().meta({
    description: 'The model that makes pictures. With gen: before it, one that also writes.',
    example: 'some-id',
    otherwise: CHOOSE,
  }),
  VIDEO_MODEL: field.model([]).optional().meta({
    description: 'The model that makes videos.',
    example: 'some-id',
    otherwise: CHOOSE,
  }),
  CONCURRENCY: concurrency
    .prefault('song=10, ask=16, image=4, video=3')
    .describe(
      'How many jobs of each family are at the gateway at once, over all replicas; others wait in line. Families left out keep their default. Songs include lyrics, stems and the like.',
    ),

  VISION_MODEL: field.model(['msg', 'gen']).optional().meta({
    description:
      'The model that looks at pictures in questions, where the model in force cannot: one of msg or gen.',
    example: 'msg:some-id',
    otherwise: 'people are asked to name one',
  }),
  TOOL_MODEL: field.genModel.optional().meta({
    description:
      "The gen model that can call functions. With it, moderators can let answers use the bot's commands.",
    example: 'some-id',
    otherwise: 'the gen model in force, if it is one',
  }),
  THINKING_MODELS: field.genModels.default([]).meta({
    description: 'Gen models of the thinking preview, with commas between them. Without any, it is off.',
    example: 'some-id',
    otherwise: 'off',
  }),
  ASK_MAX_TOKENS: field
    .wholeNumber(1, 1_000_000)
    .prefault('4096')
    .describe('How long an answer may become, in tokens.'),
  ASK_CONTEXT_TOKENS: field
    .wholeNumber(500, 10_000_000)
    .prefault('16000')
    .describe(
      'How much may be sent with a question, in tokens: what was said before is left out from the oldest. Set it to what your smallest model takes.',
    ),

  MEDIA_STORE: field.mediaStore.optional().meta({
    description:
      'Where media is kept, if not in the folder media in DATA_DIR: another folder, or a bucket of an S3-compatible service, as s3://bucket or s3://bucket/prefix. docs/media.md tells how to set a bucket up.',
    example: './data/media',
    otherwise: 'the folder `media` in `DATA_DIR`',
  }),
  MEDIA_S3_ENDPOINT: field.baseUrl.optional().meta({
    description: 'The address of the service that has the bucket, without the bucket.',
    example: 'https://s3.eu-central-1.amazonaws.com',
  }),
  MEDIA_S3_REGION: field.region.optional().meta({
    description:
      "The bucket's region, for which requests are signed; auto or us-east-1 where a service has none.",
    example: 'eu-central-1',
  }),
  MEDIA_S3_ACCESS_KEY_ID: field.apiKey
    .optional()
    .describe('The id of a key that may list the bucket, and read, write and delete in it.'),
  MEDIA_S3_SECRET_ACCESS_KEY: field.apiKey.optional().describe('The secret of that key. Secret.'),
  MEDIA_QUOTA_MB: field
    .wholeNumber(100, 100_000_000)
    .prefault('10000')
    .describe('How much media is kept, in megabytes; past that, the oldest goes first.'),
  MEDIA_ALLOWED_HOSTS: field.hostList.default([]).meta({
    description:
      'Hosts that results of the gateway may come from although their address is not public, with commas between them: private networks only. A host without a port has the default ports, 80 and 443. What people type is fetched from public addresses only.',
    example: 'files.lan,10.0.0.7:9000',
    otherwise: 'none',
  }),

  SERVED_SERVERS: serverList.default([]).meta({
    description:
      'The servers and workspaces that the bot serves, by id, with commas between them; without it, all. With it, `direct` lets direct messages on Discord in too.',
    example: '1100000000000000001,slack:T0ABCDEFG',
    otherwise: 'all',
  }),
  USAGE_LIMITS: usageLimits.default([]).meta({
    description:
      'Limits that nobody in chat can raise: a scope (person, channel, server or deployment), perhaps a family (song, ask, image, video or party), and how much in any hour or day.',
    example: 'person song 5/day, server 500/day, deployment 2000 units/day',
    otherwise: 'none',
  }),
  USAGE_COSTS: usageCosts.default({}).meta({
    description:
      'What things cost, in units of your own: by family, by family and model, or by route. Limits may count these units.',
    example: 'song=10, video=50, ask=1, ask:some-model=3, music.vocalRemoval=2',
    otherwise: 'nothing is known',
  }),
  RETENTION_DAYS: field.wholeNumber(1, 36_500).optional().meta({
    description:
      'How many days finished jobs and media are kept. Without it, jobs stay for ever, since their buttons need them, and media as long as there is room.',
    example: '730',
    otherwise: 'for ever',
  }),

  ADMIN_PORT: field.hostPort.optional().meta({
    description:
      'The port for metrics (Prometheus), at /metrics, for this machine alone; with a host before it, such as 0.0.0.0:9464, for others too. Never the public port.',
    example: '9464',
    otherwise: 'none',
  }),

  OTEL_EXPORTER_OTLP_ENDPOINT: field.baseUrl.optional().meta({
    description:
      "Switches traces on: the base URL of an OpenTelemetry collector (OTLP over HTTP). All of the SDK's other OTEL_ variables work too.",
    example: 'http://localhost:4318',
    otherwise: 'no traces',
  }),

  LOG_LEVEL: field
    .oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .prefault('info')
    .describe('How much is logged: fatal, error, warn, info, debug, trace or silent.'),
});

/** Of `.env.example`, by the first setting under it. */
export const TITLES: { readonly [Name in Variable]?: string } = {
  NODE_ENV: 'The gateway',
  HOST: 'The listener',
  DISCORD_TOKEN: 'Discord (docs/discord.md)',
  SLACK_BOT_TOKEN: 'Slack (docs/slack.md)',
  DATA_DIR: 'Storage',
  SONG_MODEL: 'Models',
  VISION_MODEL: 'Answers (docs/ask.md)',
  MEDIA_STORE: 'Media',
  SERVED_SERVERS: 'Who may use how much (docs/moderators.md)',
  ADMIN_PORT: 'For operators',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Traces (docs/operating/traces.md)',
  LOG_LEVEL: 'Log',
};

export type Variable = keyof typeof environmentSchema.shape;
export const VARIABLES = Object.keys(environmentSchema.shape) as readonly Variable[]; // z.object has these keys and no others

/** What the settings hold, with defaults where they have some. */
export type Values = z.infer<typeof environmentSchema>;
