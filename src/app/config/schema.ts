/** Every setting with its description, in the order of `.env.example`, which `npm run settings` generates from this. */
import { z } from 'zod';
import { MODEL_ROUTES } from '../../core/models/model-name.ts';
import { type GatewayFamily, PUBLIC_SERVICES } from '../../gateway/routes.ts';
import * as field from './fields.ts';
import { concurrency, serverList, usageCosts, usageLimits } from './usage.ts';

declare module 'zod' {
  interface GlobalMeta {
    /** The value in `.env.example`; by default, the setting's default. */
    example?: string;
    /** The Markdown text in the table's default column; by default, the setting's default. */
    otherwise?: string;
  }
}

const port = field.wholeNumber(0, 65_535);

const CHOOSE = 'otherwise, people are asked to choose';

/** The base URL of a family's own service. */
function ownBaseUrl(
  family: GatewayFamily,
  description: string,
  example: string = PUBLIC_SERVICES[family].baseUrl,
) {
  const { baseUrl } = PUBLIC_SERVICES[family];
  const otherwise = `\`${baseUrl}\` if \`${family.toUpperCase()}_API_KEY\` is set`;
  return field.gatewayUrl.optional().meta({ description, example, otherwise });
}

const ownApiKey = (family: GatewayFamily, note = '') =>
  field.apiKey.optional().describe(`The API key for ${family.toUpperCase()}_BASE_URL.${note} Secret.`);

/** The settings that decide which services there are. */
export const SERVICE_SETTINGS = z.object({
  GATEWAY_BASE_URL: field.gatewayUrl.optional().meta({
    description:
      'The URL of the gateway. If you set neither a gateway nor keys of your own, the bot uses the built-in emulator.',
    example: 'https://gateway.example.org',
    otherwise: 'the built-in emulator if no service is set',
  }),
  GATEWAY_API_KEY: field.apiKey.optional().describe('The API key of your gateway account. Secret.'),

  CHAT_BASE_URL: ownBaseUrl(
    'chat',
    "The base URL of an OpenAI-compatible service, in the form its SDK expects, such as https://api.openai.com/v1. Works with OpenAI, OpenRouter, Groq, Mistral, vLLM, Ollama and LM Studio. Answers questions instead of the gateway's chat route.",
    'http://127.0.0.1:11434/v1',
  ),
  CHAT_API_KEY: ownApiKey('chat', ' A service on your own machine may need none.'),
  MSG_BASE_URL: ownBaseUrl('msg', 'The base URL of Anthropic or a compatible service, for msg models.'),
  MSG_API_KEY: ownApiKey('msg'),
  GEN_BASE_URL: ownBaseUrl(
    'gen',
    'The base URL of Google AI Studio or a compatible service, for gen models.',
  ),
  GEN_API_KEY: ownApiKey('gen'),
  MEDIA_BASE_URL: ownBaseUrl(
    'media',
    'The base URL of DashScope (Alibaba Model Studio), for images and videos. Keys work only in the region where they were created.',
    'https://dashscope.aliyuncs.com/api/v1',
  ),
  MEDIA_API_KEY: ownApiKey('media'),
  MEDIA_MODELS: field.modelIds.optional().meta({
    description:
      'The image and video models that people can choose from, because DashScope lists none. The first of each kind is the default.',
    example: 'qwen-image-plus,wan2.6-t2v',
    otherwise: 'the models built into this version',
  }),
  MUSIC_BASE_URL: ownBaseUrl(
    'music',
    'The base URL of sunoapi.org or a compatible service, for songs and lyrics.',
  ),
  MUSIC_API_KEY: ownApiKey('music'),
  EMULATOR_FAMILIES: field.families.optional().meta({
    description:
      'The interfaces that the built-in emulator simulates alongside real services, to try them out: chat, msg, gen, media or music.',
    example: 'music',
    otherwise: 'all if no service is set, else none',
  }),
});

export const environmentSchema = z.object({
  NODE_ENV: z.string().optional().meta({
    description:
      'Set to production in a deployment: the bot then starts only if every required setting is there. The Docker image sets it.',
    example: 'production',
  }),
  ...SERVICE_SETTINGS.shape,

  HOST: field.host.prefault('127.0.0.1').meta({
    description:
      'The address to listen on. 127.0.0.1 accepts connections from this machine only, 0.0.0.0 from anywhere.',
    otherwise: '`127.0.0.1`; in the image `0.0.0.0`',
  }),
  PORT: port.prefault('3000').describe('The port to listen on. 0 picks a free port.'),
  PLAYGROUND: field.flag.optional().meta({
    description:
      'Set to 1 to turn on the playground, a chat in your browser on this machine where you can try every command. Set to 0 to turn it off. Its address is printed at startup. Never use it in production.',
    example: '1',
    otherwise: 'on if no chat is connected',
  }),
  PUBLIC_URL: field.baseUrl.optional().meta({
    description:
      'The public URL of the listener; it may contain a path. The gateway or song service sends songs, lyrics and stems to this URL. Links to large files and song pages start with it.',
    example: 'https://minstrel.example.org',
    otherwise: '`http://127.0.0.1:$PORT`',
  }),
  CALLBACK_SECRET: field.signingSecret.optional().meta({
    description:
      'Signs callback and file URLs. At least 32 characters, for example from `openssl rand -hex 32`. Without it, the first start generates one and stores it. Secret.',
    otherwise: 'generated once and stored',
  }),
  CALLBACK_SECRET_PREVIOUS: field.signingSecret
    .optional()
    .describe('The previous secret. URLs it signed stay valid. Remove it after about a month. Secret.'),

  DISCORD_TOKEN: field.discordToken.optional().meta({
    description: 'The bot token from the Developer Portal. Turns Discord on. Secret.',
    otherwise: 'off',
  }),
  DISCORD_API_URL: field.baseUrl.optional().meta({
    description: "Another base URL for Discord's API, for proxies and tests.",
    example: 'https://discord.com/api',
    otherwise: "Discord's own",
  }),
  DISCORD_SHARDS: field.shards.optional().meta({
    description:
      'The shards of this replica and the total number of shards. If not set, one process is connected to Discord for all servers; the other replicas run jobs and take over if it stops.',
    example: '0-3/16',
    otherwise: 'all',
  }),
  DISCORD_MESSAGE_CONTENT: field.flag
    .prefault('0')
    .describe(
      'Set to 1 if the message content intent is on in the Developer Portal. The bot then answers without a mention in threads it opened, and in channels where moderators turned on talk (/models answers talk:on).',
    ),

  SLACK_BOT_TOKEN: field.slackToken('xoxb-', 'OAuth & Permissions').optional().meta({
    description: 'The bot token (xoxb-…) of your app. Turns Slack on. Secret.',
    otherwise: 'off',
  }),
  SLACK_APP_TOKEN: field
    .slackToken('xapp-', 'Basic Information, App-Level Tokens')
    .optional()
    .describe('The app-level token (xapp-…) with connections:write, for Socket Mode. Secret.'),
  SLACK_SIGNING_SECRET: field
    .slackSecret('Signing Secret')
    .optional()
    .describe(
      'Instead of SLACK_APP_TOKEN: the Signing Secret of your app. Slack then sends requests to PUBLIC_URL/slack/events. Secret.',
    ),
  SLACK_CLIENT_ID: field.slackClientId.optional().meta({
    description:
      'Instead of SLACK_BOT_TOKEN: lets any number of workspaces install the app at PUBLIC_URL/slack/install.',
    otherwise: 'off',
  }),
  SLACK_CLIENT_SECRET: field
    .slackSecret('Client Secret')
    .optional()
    .describe(
      "The Client Secret for SLACK_CLIENT_ID. It also encrypts the workspaces' tokens in storage. Secret.",
    ),
  SLACK_CLIENT_SECRET_PREVIOUS: field
    .slackSecret('Client Secret')
    .optional()
    .describe('The previous Client Secret. It can still decrypt the tokens it encrypted. Secret.'),
  SLACK_THREADS: field.flag
    .prefault('0')
    .describe(
      'Set to 1 to let the bot answer without a mention. This applies to threads it started or joined, and to channels where moderators turned on talk (/models answers talk:on). Create the manifest with --threads too.',
    ),
  SLACK_API_URL: field.baseUrl.optional().meta({
    description: "Another base URL for Slack's Web API, for proxies and tests.",
    example: 'https://slack.com/api/',
    otherwise: "Slack's own",
  }),

  DATA_DIR: field.folder.prefault('./data').meta({
    description: 'The folder for the database and stored media.',
    otherwise: '`./data`; in the image `/data`',
  }),
  REDIS_URL: field.redisUrl.optional().meta({
    description:
      'Stores jobs and settings in Redis instead of the database file, so that replicas can share them. Secret if it contains a password.',
    example: 'redis://localhost:6379',
    otherwise: 'the database in `DATA_DIR`',
  }),

  SONG_MODEL: field.musicModel
    .prefault('V5')
    .describe('The song model: V4, V4_5, V4_5PLUS, V4_5ALL, V5, or a newer version such as V5_5.'),
  ASK_MODEL: field
    .models(MODEL_ROUTES.ask)
    .optional()
    .meta({
      description:
        'The model that answers /ask. To choose an interface, write it before the ID, as in msg:some-id (chat, msg or gen). You can list several, separated by commas: if one cannot answer, the bot asks the next.',
      example: 'msg:some-id',
      otherwise: `with your own keys, the newest small model of the list; ${CHOOSE}`,
    }),
  IMAGE_MODEL: field
    .model(MODEL_ROUTES.image)
    .optional()
    .meta({
      description: 'The model that creates images. If it also writes text, put gen: before its ID.',
      example: 'some-id',
      otherwise: `with a DashScope key, the first image model in \`MEDIA_MODELS\`; with a Google key, a small image model; ${CHOOSE}`,
    }),
  VIDEO_MODEL: field
    .model([])
    .optional()
    .meta({
      description: 'The model that creates videos.',
      example: 'some-id',
      otherwise: `with a DashScope key, the first video model in \`MEDIA_MODELS\`; ${CHOOSE}`,
    }),
  CONCURRENCY: concurrency
    .prefault('song=10, ask=16, image=4, video=3')
    .describe(
      'How many jobs of each family (song, ask, image, video) run at the gateway at once, across all replicas. Others wait in the queue. Families you leave out use their default. The song family includes lyrics, stems and other music.',
    ),

  VISION_MODEL: field.model(['msg', 'gen']).optional().meta({
    description: "The msg or gen model that reads images in questions if the current model can't.",
    example: 'msg:some-id',
    otherwise: 'people are asked to choose',
  }),
  TOOL_MODEL: field.genModel.optional().meta({
    description:
      "A gen model that can call functions. It is needed to let answers use the bot's commands (/models answers assistant:on), unless the current model is a gen model.",
    example: 'some-id',
    otherwise: 'the current model if it is a gen model',
  }),
  THINKING_MODELS: field.genModels.default([]).meta({
    description:
      'Gen models that think before they answer, separated by commas. This is a preview feature of the gateway.',
    example: 'some-id',
    otherwise: 'off',
  }),
  ASK_MAX_TOKENS: field
    .wholeNumberOrNone(1, 1_000_000)
    .prefault('4096')
    .describe('The maximum length of an answer, in tokens. With `none`, the model decides.'),
  ASK_CONTEXT_TOKENS: field
    .wholeNumber(500, 10_000_000)
    .prefault('16000')
    .describe(
      'The maximum length of a question with its conversation, in tokens. The oldest attachments are dropped first, then the oldest messages. Set it to the limit of your smallest model.',
    ),

  MEDIA_STORE: field.mediaStore.optional().meta({
    description:
      'Where media is stored: a folder, or an S3-compatible bucket as s3://bucket or s3://bucket/prefix. docs/media.md explains how to set up a bucket.',
    example: './data/media',
    otherwise: 'the folder `media` in `DATA_DIR`',
  }),
  MEDIA_S3_ENDPOINT: field.baseUrl.optional().meta({
    description: 'The URL of the S3 service, without the bucket name.',
    example: 'https://s3.eu-central-1.amazonaws.com',
  }),
  MEDIA_S3_REGION: field.region.optional().meta({
    description:
      "The bucket's region, used to sign requests. If the service has no regions, use auto or us-east-1.",
    example: 'eu-central-1',
  }),
  MEDIA_S3_ACCESS_KEY_ID: field.apiKey
    .optional()
    .describe(
      'The ID of a key with permission to list the bucket and to read, write and delete its objects.',
    ),
  MEDIA_S3_SECRET_ACCESS_KEY: field.apiKey
    .optional()
    .describe('The secret for MEDIA_S3_ACCESS_KEY_ID. Secret.'),
  MEDIA_QUOTA_MB: field
    .wholeNumber(100, 100_000_000)
    .prefault('10000')
    .describe(
      'How much media to store, in megabytes. When the limit is reached, the oldest files are deleted.',
    ),
  MEDIA_ALLOWED_HOSTS: field.hostList.default([]).meta({
    description:
      'Private hosts from which the bot may fetch gateway results, separated by commas. Without a port, 80 and 443 are allowed. Links that people type are fetched from public addresses only.',
    example: 'files.lan,10.0.0.7:9000',
    otherwise: 'none',
  }),

  SERVED_SERVERS: serverList.default([]).meta({
    description:
      'The IDs of the servers and workspaces the bot serves, separated by commas. Add `direct` to allow direct messages on Discord.',
    example: '1100000000000000001,slack:T0ABCDEFG',
    otherwise: 'all',
  }),
  USAGE_LIMITS: usageLimits.default([]).meta({
    description:
      'Limits that moderators cannot raise. Each has a scope, an optional family and an amount per hour or day. Scopes: person, channel, server, or deployment (everyone who uses this bot). Families: song, ask, image, video, party.',
    example: 'person song 5/day, server 500/day, deployment 2000 units/day',
    otherwise: 'none',
  }),
  USAGE_COSTS: usageCosts.default({}).meta({
    description:
      'Prices in units of your choice: by family, by family and model, or by route. Limits can count these units.',
    example: 'song=10, video=50, ask=1, ask:some-model=3, music.vocalRemoval=2',
    otherwise: 'none',
  }),
  RETENTION_DAYS: field.wholeNumber(1, 36_500).optional().meta({
    description:
      'How many days to keep finished jobs and media. If not set, jobs are kept forever, because their buttons need them. Media is kept until MEDIA_QUOTA_MB is reached.',
    example: '730',
    otherwise: 'forever',
  }),

  ADMIN_PORT: field.hostPort.optional().meta({
    description:
      'The port for Prometheus metrics at /metrics, for this machine only. Add a host, as in 0.0.0.0:9464, to open it to others. Use a port other than PORT, and do not expose it to the internet.',
    example: '9464',
    otherwise: 'none',
  }),

  OTEL_EXPORTER_OTLP_ENDPOINT: field.baseUrl.optional().meta({
    description:
      "Turns traces on: the base URL of an OpenTelemetry collector (OTLP over HTTP). The SDK's other OTEL_ variables work too.",
    example: 'http://localhost:4318',
    otherwise: 'no traces',
  }),

  LOG_LEVEL: field
    .oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'])
    .prefault('info')
    .describe(
      'The least severe level to log: fatal, error, warn, info, debug or trace. silent turns the log off.',
    ),
});

/** Headings of `.env.example`, by the first setting of each section. */
export const TITLES: { readonly [Name in Variable]?: string } = {
  NODE_ENV: 'The gateway',
  CHAT_BASE_URL: 'Your own keys (docs/keys.md)',
  HOST: 'The listener',
  DISCORD_TOKEN: 'Discord (docs/discord.md)',
  SLACK_BOT_TOKEN: 'Slack (docs/slack.md)',
  DATA_DIR: 'Storage',
  SONG_MODEL: 'Models',
  VISION_MODEL: 'Answers (docs/ask.md)',
  MEDIA_STORE: 'Media',
  SERVED_SERVERS: 'Servers and limits (docs/moderators.md)',
  ADMIN_PORT: 'For operators',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'Traces (docs/operating/traces.md)',
  LOG_LEVEL: 'Log',
};

export type Variable = keyof typeof environmentSchema.shape;
export const VARIABLES = Object.keys(environmentSchema.shape) as readonly Variable[]; // z.object has these keys and no others

/** The parsed settings, with defaults applied. */
export type Values = z.infer<typeof environmentSchema>;
