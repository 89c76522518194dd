/** Who the bot is in its workspace: asked for once, and again while Slack is away. */
import type { webApi } from '@slack/bolt';
import { z } from 'zod';
import { PlatformError } from '../platform.ts';

const identitySchema = z.object({
  user_id: z.string(),
  bot_id: z.string(),
  team_id: z.string(),
  user: z.string(),
  url: z.url().optional().catch(undefined),
});

export interface Identity {
  readonly botUser: string;
  readonly botId: string;
  readonly team: string;
  /** As people type it after the @. */
  readonly name: string;
  /** The workspace's own address, under which its messages are found. */
  readonly url?: string;
}

export interface IdentityReader {
  /** Throws the SDK's errors. */
  read(): Promise<Identity>;
  /** What was read last. */
  known(): Identity | undefined;
}

export function createIdentity(web: webApi.WebClient): IdentityReader {
  let known: Identity | undefined;
  return {
    async read() {
      if (known !== undefined) return known;
      const answer = identitySchema.safeParse(await web.auth.test());
      if (!answer.success)
        throw new PlatformError('unavailable', 'Slack did not say who the bot is', { cause: answer.error });
      const { user_id, bot_id, team_id, user, url } = answer.data;
      known = {
        botUser: user_id,
        botId: bot_id,
        team: team_id,
        name: user,
        ...(url === undefined ? {} : { url }),
      };
      return known;
    },
    known: () => known,
  };
}
