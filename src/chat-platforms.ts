/** The chat platforms that the settings switch on. */
import type { PlatformTools } from './assemble.ts';
import type { Config } from './config.ts';
import { createDiscord } from './platforms/discord/adapter.ts';
import type { Platform } from './platforms/platform.ts';
import { createSlack } from './platforms/slack/adapter.ts';

export function platformsFor({ discord, slack }: Config, tools: PlatformTools): Platform[] {
  return [
    ...(discord ? [createDiscord({ ...discord, ...tools })] : []),
    ...(slack ? [createSlack({ ...slack, ...tools })] : []),
  ];
}
