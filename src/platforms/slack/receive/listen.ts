/** Registers all listeners. */
import type { App } from '@slack/bolt';
import { z } from 'zod';
import { ASK } from '../../shared/question.ts';
import { listenToCommands } from './commands.ts';
import { listenToForms } from './forms.ts';
import { listenToHome } from './home.ts';
import { listenToButtons, listenToShortcuts, listenToStop } from './interactions.ts';
import { listenToTalk } from './messages.ts';
import type { ListenerTools } from './respond.ts';

export function listen(app: App, tools: ListenerTools): void {
  const { commands } = tools.bot;
  listenToCommands(app, tools);
  listenToButtons(app, tools);
  listenToForms(app, tools);
  listenToHome(app, tools);
  listenToStop(app, tools);
  listenToShortcuts(app, tools);
  listenToRemoval(app, tools);
  if (commands.some(({ name }) => name === ASK)) listenToTalk(app, tools);
}

/** `event_time` is in seconds. */
const removalSchema = z.object({
  team_id: z.string(),
  enterprise_id: z.string().nullish(),
  event_time: z.number().optional(),
  authorizations: z.array(z.object({ is_enterprise_install: z.boolean().optional() })).catch([]),
});
const revokedSchema = z.object({ tokens: z.object({ bot: z.array(z.string()).catch([]) }) });

/** Listens for the removal of the app from a workspace. */
function listenToRemoval(app: App, { onUninstalled, now }: ListenerTools): void {
  const forget = async (body: unknown): Promise<void> => {
    const { team_id, enterprise_id, event_time: seconds, authorizations } = removalSchema.parse(body);
    const isByOrganisation = authorizations[0]?.is_enterprise_install === true;
    const team = isByOrganisation ? (enterprise_id ?? team_id) : team_id;
    // Slack sends whole seconds, so an installation in the same second is older.
    await onUninstalled(team, seconds === undefined ? now() : (seconds + 1) * 1000);
  };
  app.event('app_uninstalled', ({ body }) => forget(body));
  app.event('tokens_revoked', async ({ body, event }) => {
    // The bot does not use people's tokens.
    const revoked = revokedSchema.safeParse(event);
    if (revoked.success && revoked.data.tokens.bot.length > 0) await forget(body);
  });
}
