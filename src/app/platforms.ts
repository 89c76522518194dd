/** The chat platforms that the settings switch on. */

import type { Platform } from '../platforms/platform.ts';
import type { PlatformTools } from './assemble.ts';
import type { Config } from './config/config.ts';
import { newId } from './outside.ts';

/** Loads what is switched on alone: the client of a platform takes longer to load than all of this project. */
export async function platformsFor(
  { discord, slack, playground, dataDirectory }: Config,
  tools: PlatformTools,
): Promise<Platform[]> {
  const platforms: Platform[] = [];
  if (discord) {
    const { createDiscord } = await import('../platforms/discord/adapter.ts');
    platforms.push(createDiscord({ ...discord, ...tools }));
  }
  if (slack) {
    const { createSlack } = await import('../platforms/slack/adapter.ts');
    platforms.push(createSlack({ ...slack, ...tools }));
  }
  if (playground) {
    const { createWeb } = await import('../platforms/web/adapter.ts');
    const token = await tools.secret('playground');
    platforms.push(createWeb({ ...tools, token, newId, folder: dataDirectory, url: tools.listenerUrl }));
  }
  return platforms;
}
