/** Workspaces that take the app away. */
import type { App } from '@slack/bolt';
import { z } from 'zod';
import type { ListenerTools } from './tools.ts';

/** `event_time` is in seconds. */
const envelopeSchema = z.object({ team_id: z.string(), event_time: z.number().optional() });
const revokedSchema = z.object({ tokens: z.object({ bot: z.array(z.string()).catch([]) }) });

export function listenToRemoval(app: App, { uninstalled, now }: ListenerTools): void {
  const forget = async (body: unknown): Promise<void> => {
    const { team_id: team, event_time: seconds } = envelopeSchema.parse(body);
    // Slack tells whole seconds: an installation in that very second was there before.
    await uninstalled(team, seconds === undefined ? now() : (seconds + 1) * 1000);
  };
  app.event('app_uninstalled', ({ body }) => forget(body));
  app.event('tokens_revoked', async ({ body, event }) => {
    // Tokens of people are not used here.
    const revoked = revokedSchema.safeParse(event);
    if (revoked.success && revoked.data.tokens.bot.length > 0) await forget(body);
  });
}
