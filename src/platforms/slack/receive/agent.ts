/** Slack's agent view: prompts when a person opens it, and its own stop button. */
import type { App } from '@slack/bolt';
import { z } from 'zod';
import { type ListenerTools, toolsIn } from './answering.ts';
import { agentAddress } from './invocations.ts';

const GREETING = 'Hello! What shall it be?';

const openedSchema = z.object({ user: z.string(), channel: z.string(), tab: z.string() });
const stoppedSchema = z.object({ user: z.string(), channel: z.string(), thread_ts: z.string() });

export function listenToAgent(app: App, shared: ListenerTools): void {
  const { bot } = shared;
  app.event('app_home_opened', async ({ event, context }) => {
    const { user, channel, tab } = openedSchema.parse(event);
    if (tab !== 'messages') return;
    const tools = await toolsIn(context, shared);
    const { team } = await tools.identity.read();
    if (!tools.agents.isOffered()) return;
    const person = await tools.persons.find(user);
    const prompts = await bot.prompts({ address: agentAddress(team, { channel, person: user }), person });
    await tools.agents.suggest(channel, GREETING, prompts);
  });

  // Only where somebody subscribed to it does Slack show the button.
  app.event('agent_session_stopped', async ({ event, context }) => {
    const { user, channel, thread_ts: thread } = stoppedSchema.parse(event);
    const tools = await toolsIn(context, shared);
    const { team } = await tools.identity.read();
    const person = await tools.persons.find(user);
    await bot.cancelRunning({ address: agentAddress(team, { channel, thread, person: user }), person });
    await tools.agents.rest({ channel, thread });
  });
}
