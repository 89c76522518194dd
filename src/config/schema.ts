/** Every setting, in the order of `.env.example`. */
import { z } from 'zod';
import { MUSIC_MODELS } from '../gateway/music-requests.ts';
import * as field from './fields.ts';
import * as usage from './usage-fields.ts';

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;
const ASK_ROUTES = ['chat', 'msg', 'gen'];
const IMAGE_ROUTES = ['gen'];
const LOOKING_ROUTES = ['msg', 'gen'];

export const environmentSchema = z.object({
  NODE_ENV: z.string().optional(),

  GATEWAY_BASE_URL: field.gatewayUrl.optional(),
  GATEWAY_API_KEY: field.apiKey.optional(),

  HOST: field.host.default('127.0.0.1'),
  PORT: field.wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: field.httpUrl.optional(),
  CALLBACK_SECRET: field.signingSecret.optional(),
  CALLBACK_SECRET_PREVIOUS: field.signingSecret.optional(),

  DISCORD_TOKEN: field.discordToken.optional(),
  DISCORD_API_URL: field.httpUrl.optional(),
  DISCORD_SHARDS: field.shards.optional(),
  DISCORD_PUBLIC_KEY: field.discordPublicKey.optional(),
  DISCORD_HTTP_ONLY: field.flag.default(false),
  DISCORD_MESSAGE_CONTENT: field.flag.default(false),

  SLACK_BOT_TOKEN: field.slackToken('xoxb-', 'OAuth & Permissions').optional(),
  SLACK_APP_TOKEN: field.slackToken('xapp-', 'Basic Information, App-Level Tokens').optional(),
  SLACK_SIGNING_SECRET: field.slackSecret('Signing Secret').optional(),
  SLACK_CLIENT_ID: field.slackClientId.optional(),
  SLACK_CLIENT_SECRET: field.slackSecret('Client Secret').optional(),
  SLACK_CLIENT_SECRET_PREVIOUS: field.slackSecret('Client Secret').optional(),
  SLACK_THREADS: field.flag.default(false),
  SLACK_API_URL: field.httpUrl.optional(),

  DATA_DIR: field.folder.default('./data'),
  REDIS_URL: field.redisUrl.optional(),

  SONG_MODEL: field.oneOf(MUSIC_MODELS).default('V5'),
  ASK_MODEL: field.model(ASK_ROUTES).optional(),
  IMAGE_MODEL: field.model(IMAGE_ROUTES).optional(),
  VIDEO_MODEL: field.model([]).optional(),

  SONG_CONCURRENCY: field.wholeNumber(1, 10_000).default(10),
  ASK_CONCURRENCY: field.wholeNumber(1, 10_000).default(16),
  IMAGE_CONCURRENCY: field.wholeNumber(1, 10_000).default(4),
  VIDEO_CONCURRENCY: field.wholeNumber(1, 10_000).default(3),

  VISION_MODEL: field.model(LOOKING_ROUTES).optional(),
  TOOL_MODEL: field.genModel.optional(),
  ILLUSTRATING_MODELS: field.genModels.default([]),
  THINKING_MODELS: field.genModels.default([]),
  THINKING_BUDGET: field.thinkingBudget.default(-1),
  ASK_MAX_TOKENS: field.wholeNumber(1, 1_000_000).default(4096),
  ASK_CONTEXT_TOKENS: field.wholeNumber(500, 10_000_000).default(16_000),
  ASK_TEMPERATURE: field.temperature.optional(),

  MEDIA_STORE: field.mediaStore.optional(),
  MEDIA_S3_ENDPOINT: field.httpUrl.optional(),
  MEDIA_S3_REGION: field.region.optional(),
  MEDIA_S3_ACCESS_KEY_ID: field.apiKey.optional(),
  MEDIA_S3_SECRET_ACCESS_KEY: field.apiKey.optional(),
  MEDIA_QUOTA_MB: field.wholeNumber(100, 100_000_000).default(10_000),
  MEDIA_RETENTION_DAYS: field.wholeNumber(1, 36_500).optional(),
  MEDIA_LINK_DAYS: field.wholeNumber(1, 3650).default(30),
  MEDIA_ALLOWED_HOSTS: field.hostList.default([]),

  SERVED_SERVERS: usage.servers.default([]),
  USAGE_LIMITS: usage.limits.default([]),
  USAGE_COSTS: usage.costs.default({}),
  USAGE_RETENTION_DAYS: field.wholeNumber(1, 36_500).default(400),
  AUDIT_RETENTION_DAYS: field.wholeNumber(1, 36_500).default(400),
  JOB_RETENTION_DAYS: field.wholeNumber(1, 36_500).optional(),

  ADMIN_PORT: field.wholeNumber(0, 65_535).optional(),
  ADMIN_HOST: field.host.default('127.0.0.1'),

  LOG_LEVEL: field.oneOf(LOG_LEVELS).default('info'),
});

export type Variable = keyof typeof environmentSchema.shape;
export const VARIABLES = Object.keys(environmentSchema.shape) as readonly Variable[]; // z.object has these keys and no others

/** What the settings hold, with defaults where they have some. */
export type Values = z.infer<typeof environmentSchema>;
