import { type Call, type Method, SlackRefusal } from '../call.ts';
import { asFields, asList, asText, type Fields } from '../json.ts';
import { SLACK } from '../limits.ts';
import type { AgentSession } from '../workspace.ts';

/** https://docs.slack.dev/ai/agent-sessions and the methods' pages. */
export const agents: Readonly<Record<string, Method>> = {
  'agents.sessions.setStatus': (call) => {
    call.needScope('chat:write');
    const { channel, thread } = sessionThread(call);
    const status = call.need('status');
    if (!SLACK.sessionStatuses.some((known) => known === status))
      throw new SlackRefusal('invalid_arguments', [`[ERROR] ${status} is not a session status`]);
    const title = call.text('title');
    if (title !== undefined && title.length > SLACK.sessionTitle)
      throw new SlackRefusal('invalid_arguments', ['[ERROR] title is too long']);
    const initiator = call.text('initiator_user_id');
    if (initiator !== undefined && !call.workspace.channels.get(channel)?.members.has(initiator))
      throw new SlackRefusal('user_not_in_channel');
    const session = call.workspace.session(channel, thread) ?? {
      title: title ?? '',
      initiator: initiator ?? call.workspace.message(channel, thread)?.user ?? '',
      statuses: [],
    };
    return keep(call, channel, thread, { ...session, statuses: [...session.statuses, status] });
  },

  'assistant.threads.setStatus': (call) => {
    call.needScope('chat:write', 'assistant:write');
    const { channel, thread } = sessionThread(call);
    const { status: text } = call.args;
    if (typeof text !== 'string')
      throw new SlackRefusal('invalid_arguments', ['[ERROR] missing required field: status']);
    const loading = asList(call.json('loading_messages'));
    const isTooLong = [text, ...loading].some((line) => String(line).length > SLACK.statusText);
    if (loading.length > SLACK.loadingMessages || isTooLong) throw new SlackRefusal('invalid_arguments');
    const session = call.workspace.session(channel, thread);
    if (session === undefined) return {};
    const statuses = [...session.statuses, text === '' ? 'active' : text];
    return keep(call, channel, thread, { ...session, statuses });
  },

  'assistant.threads.setSuggestedPrompts': (call) => {
    call.needScope('assistant:write');
    needAgents(call);
    const channel = call.channel('channel_id');
    // Slack silently ignores such a call, so it counts as the app's mistake.
    if (call.text('thread_ts') !== undefined) throw new SlackRefusal('invalid_thread_ts');
    const prompts = asList(call.json('prompts')).map(asFields);
    const isWhole = prompts.every(({ title, message }) => asText(title) && asText(message));
    if (prompts.length === 0 || prompts.length > SLACK.suggestedPrompts || !isWhole)
      throw new SlackRefusal('invalid_arguments', [`[ERROR] ${prompts.length} prompts`]);
    call.workspace.suggested.set(channel.id, {
      title: call.text('title') ?? '',
      prompts: prompts.map(({ title, message }) => ({ title: String(title), message: String(message) })),
    });
    call.workspace.emit('changed');
    return {};
  },
};

/** Apps cannot know whether the plan includes agents. */
function needAgents({ workspace }: Call): void {
  if (!workspace.agents) throw new SlackRefusal('not_allowed', [], { counts: false });
}

function sessionThread(call: Call): { channel: string; thread: string } {
  needAgents(call);
  const channel = call.writableChannel('channel_id');
  const thread = call.thread(channel);
  if (thread === undefined) throw new SlackRefusal('invalid_thread_ts');
  return { channel: channel.id, thread };
}

function keep({ workspace }: Call, channel: string, thread: string, session: AgentSession): Fields {
  workspace.sessions.set(`${channel}:${thread}`, session);
  workspace.emit('changed');
  return {};
}
