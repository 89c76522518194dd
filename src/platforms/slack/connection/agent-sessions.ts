/**
 * Threads of Slack's agent view: their titles, and their status while something is made. Where the workspace has no agents,
 * everything is as in any direct message: https://docs.slack.dev/ai/agent-sessions
 */
import type { webApi } from '@slack/bolt';
import type { SuggestedPrompt } from '../../../core/bot/command.ts';
import type { Progress } from '../../../core/message.ts';
import { ellipsis, queueWords, roughDuration } from '../../../core/util/words.ts';
import { slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { call } from './client.ts';
import type { ConnectionOptions } from './options.ts';

/** The workspace, its plan or the installation has no agents. */
const ABSENT = new Set([
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
/** After such a refusal Slack is not asked again for as long. */
const ABSENT_MS = 24 * 3_600_000;

export interface AgentThread {
  readonly channel: string;
  readonly thread: string;
}

/** `mayBeAgent`: the token has the scope of agents. */
export function createAgentSessions(
  web: webApi.WebClient,
  mayBeAgent: () => boolean,
  options: Pick<ConnectionOptions, 'now' | 'sleep' | 'random' | 'log'>,
) {
  const { now, log } = options;
  let absentUntil = 0;
  const isOffered = () => mayBeAgent() && now() >= absentUntil;

  /** False when Slack did not do it. Never throws: nothing that people wait for depends on it. */
  async function tried(run: () => Promise<unknown>): Promise<boolean> {
    if (!isOffered()) return false;
    try {
      await call(run, { repeatable: true }, options);
      return true;
    } catch (error) {
      const code = slackErrorOf(error);
      if (code !== undefined && ABSENT.has(code)) {
        absentUntil = now() + ABSENT_MS;
        log.info({ code }, 'The agent view is unavailable; answering in plain direct messages');
      } else log.debug({ err: error, code }, 'Could not update an agent thread');
      return false;
    }
  }

  return {
    /** Whether threads in direct messages are taken for those of the agent view. */
    isOffered,

    /** A person wrote in a thread: it gets its title, and shows that the bot is at work. False where there are no agents. */
    open: (
      { channel, thread }: AgentThread,
      { person, title }: { readonly person: string; readonly title: string },
    ): Promise<boolean> =>
      tried(() =>
        web.agents.sessions.setStatus({
          channel_id: channel,
          thread_ts: thread,
          status: 'processing',
          initiator_user_id: person,
          ...(title !== '' && { title: ellipsis(title, LIMITS.sessionTitle) }),
        }),
      ),

    /** Says how far the work is. Slack takes it back by itself after two minutes. */
    async tell({ channel, thread }: AgentThread, progress: Progress): Promise<void> {
      if (!isOffered()) return;
      const status = statusOf(progress, now());
      const telling = { channel_id: channel, thread_ts: thread, status, loading_messages: [status] };
      try {
        await call(() => web.assistant.threads.setStatus(telling), { repeatable: true }, options);
      } catch (error) {
        // The status without words stays.
        log.debug({ err: error, code: slackErrorOf(error) }, 'Could not update the status of an agent thread');
      }
    },

    /** Nothing is made in the thread any more. */
    async rest({ channel, thread }: AgentThread): Promise<void> {
      await tried(() =>
        web.agents.sessions.setStatus({ channel_id: channel, thread_ts: thread, status: 'active' }),
      );
    },

    /** What a person could say, at the top of their talk with the bot. */
    async suggest(channel: string, title: string, prompts: readonly SuggestedPrompt[]): Promise<void> {
      if (prompts.length === 0) return;
      const suggested = prompts.slice(0, LIMITS.suggestedPrompts).map((prompt) => ({ ...prompt }));
      await tried(() =>
        web.assistant.threads.setSuggestedPrompts({
          channel_id: channel,
          title,
          // One at least: there are some.
          prompts: suggested,
        }),
      );
    },
  };
}

/** As “Composing, 40 s of about 90 s”. */
export function statusOf(
  { stage, startedAt, queuePosition, estimateMs, until }: Progress,
  now: number,
): string {
  const elapsedMs = now - startedAt;
  const elapsed = roughDuration(elapsedMs);
  const fact =
    queuePosition !== undefined
      ? queueWords(queuePosition)
      : until !== undefined
        ? `up to ${roughDuration(Math.max(0, until - now))} more`
        : // Past the estimate it no longer tells anything.
          estimateMs === undefined || elapsedMs > estimateMs
          ? `for ${elapsed}`
          : `${elapsed} of about ${roughDuration(estimateMs)}`;
  return `${ellipsis(stage, LIMITS.statusText - fact.length - 2)}, ${fact}`;
}
