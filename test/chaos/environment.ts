/** The settings of a bot connected to the strict chats and a local gateway. */
import { join } from 'node:path';
import { PROGRAM_ENVIRONMENT } from '../servers/program.ts';
import type { People } from './people.ts';

const SECRET = 'a secret that is only used while this test runs';

export interface BotSurroundings {
  readonly people: Pick<People, 'discord' | 'slack'>;
  readonly gateway: { readonly url: string; readonly apiKey: string };
  readonly port: number;
  readonly publicUrl: string;
  readonly folder: string;
  /** Without it, storage is a file in the folder. */
  readonly redisUrl: string | undefined;
}

export function botEnvironment({
  people: { discord, slack },
  gateway,
  port,
  publicUrl,
  folder,
  redisUrl,
}: BotSurroundings): Record<string, string> {
  return {
    ...PROGRAM_ENVIRONMENT,
    LOG_LEVEL: 'info',
    PORT: String(port),
    PUBLIC_URL: publicUrl,
    CALLBACK_SECRET: SECRET,
    DATA_DIR: folder,
    MEDIA_STORE: join(folder, 'media'),
    MEDIA_ALLOWED_HOSTS: [gateway.url, discord.origin, slack.url].map((url) => new URL(url).host).join(','),
    GATEWAY_BASE_URL: gateway.url,
    GATEWAY_API_KEY: gateway.apiKey,
    ASK_MODEL: 'chat:chat-small',
    IMAGE_MODEL: 'canvas-plus',
    VIDEO_MODEL: 'reel-standard',
    // Work that a killed process may have sent keeps its slot for minutes, longer than a run waits.
    CONCURRENCY: 'song=40',
    DISCORD_TOKEN: discord.token,
    DISCORD_API_URL: discord.apiUrl,
    SLACK_BOT_TOKEN: slack.botToken,
    SLACK_APP_TOKEN: slack.appToken,
    SLACK_API_URL: slack.apiUrl,
    ...(redisUrl === undefined ? {} : { REDIS_URL: redisUrl }),
  };
}
