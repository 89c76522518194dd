/**
 * Titles and status of threads in Slack's agent view. Without agents, threads are plain direct messages.
 * https://docs.slack.dev/ai/agent-sessions
 */
import type { webApi } from '@slack/bolt';
import type { SuggestedPrompt } from '../../../core/bot/command.ts';
import type { Progress } from '../../../core/message.ts';
import { ellipsis, queuePositionText, roughDuration } from '../../../core/util/words.ts';
import { slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { call } from './client.ts';
import type { ConnectionOptions } from './options.ts';

/** Agents are unavailable in the workspace, its plan or the installation. */
const UNAVAILABLE_ERRORS = new Set([
  'access_denied',
  'feature_not_enabled',
  'method_deprecated',
  'missing_scope',
  'no_permission',
  'not_allowed',
  'not_allowed_token_type',
  'not_authorized',
  'paid_only',
  'team_access_not_granted',
  'unknown_method',
]);
/** How long Slack is not asked again after such an error. */
const UNAVAILABLE_MS = 24 * 3_600_000;

export interface AgentThread {
  readonly channel: string;
  readonly thread: string;
}

/** `hasAgentScope`: the token has the scope for agents. */
export function createAgentSessions(
  web: webApi.WebClient,
  hasAgentScope: () => boolean,
  options: Pick<ConnectionOptions, 'now' | 'sleep' | 'random' | 'log'>,
) {
  const { now, log } = options;
  let unavailableUntil = 0;
  const isAvailable = () => hasAgentScope() && now() >= unavailableUntil;

  /** Returns false if the call failed. Never throws, because no answer depends on it. */
  async function attempt(run: () => Promise<unknown>): Promise<boolean> {
    if (!isAvailable()) return false;
    try {
      await call(run, { repeatable: true }, options);
      return true;
    } catch (error) {
      const code = slackErrorOf(error);
      if (code !== undefined && UNAVAILABLE_ERRORS.has(code)) {
        unavailableUntil = now() + UNAVAILABLE_MS;
        log.info({ code }, 'The agent view is unavailable; answering in plain direct messages');
      } else log.debug({ err: error, code }, 'Could not update an agent thread');
      return false;
    }
  }

  return {
    /** Whether threads in direct messages belong to the agent view. */
    isAvailable,

    /** Sets the title of a thread and marks it as processing. Resolves to false if there are no agents. */
    open: (
      { channel, thread }: AgentThread,
      { person, title }: { readonly person: string; readonly title: string },
    ): Promise<boolean> =>
      attempt(() =>
        web.agents.sessions.setStatus({
          channel_id: channel,
          thread_ts: thread,
          status: 'processing',
          initiator_user_id: person,
          ...(title !== '' && { title: ellipsis(title, LIMITS.sessionTitle) }),
        }),
      ),

    /** Shows the progress. Slack clears it automatically after two minutes. */
    async setProgress({ channel, thread }: AgentThread, progress: Progress): Promise<void> {
      if (!isAvailable()) return;
      const status = statusOf(progress, now());
      const request = { channel_id: channel, thread_ts: thread, status, loading_messages: [status] };
      try {
        await call(() => web.assistant.threads.setStatus(request), { repeatable: true }, options);
      } catch (error) {
        // The plain “processing” status stays.
        log.debug(
          { err: error, code: slackErrorOf(error) },
          'Could not update the status of an agent thread',
        );
      }
    },

    /** Marks a thread as idle. */
    async setIdle({ channel, thread }: AgentThread): Promise<void> {
      await attempt(() =>
        web.agents.sessions.setStatus({ channel_id: channel, thread_ts: thread, status: 'active' }),
      );
    },

    /** Shows suggested prompts at the top of the person's direct messages with the bot. */
    async suggest(channel: string, title: string, prompts: readonly SuggestedPrompt[]): Promise<void> {
      if (prompts.length === 0) return;
      const suggested = prompts.slice(0, LIMITS.suggestedPrompts).map((prompt) => ({ ...prompt }));
      await attempt(() =>
        web.assistant.threads.setSuggestedPrompts({
          channel_id: channel,
          title,
          prompts: suggested,
        }),
      );
    },
  };
}

/** Example: “Composing, 40 s of about 90 s”. */
export function statusOf(
  { stage, startedAt, queuePosition, estimateMs, until }: Progress,
  now: number,
): string {
  const elapsedMs = now - startedAt;
  const elapsed = roughDuration(elapsedMs);
  const fact =
    queuePosition !== undefined
      ? queuePositionText(queuePosition)
      : until !== undefined
        ? `up to ${roughDuration(Math.max(0, until - now))} more`
        : // An exceeded estimate is wrong.
          estimateMs === undefined || elapsedMs > estimateMs
          ? `for ${elapsed}`
          : `${elapsed} of about ${roughDuration(estimateMs)}`;
  return `${ellipsis(stage, LIMITS.statusText - fact.length - 2)}, ${fact}`;
}
