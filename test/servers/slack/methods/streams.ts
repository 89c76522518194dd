import { type Call, type Method, SlackRefusal } from '../call.ts';
import { asFields, asList, asText } from '../json.ts';
import { SLACK } from '../limits.ts';
import type { PostedMessage } from '../workspace.ts';
import { metadataOf } from './chat.ts';

export const streams: Readonly<Record<string, Method>> = {
  'chat.startStream': (call) => {
    call.needScope('chat:write');
    const channel = call.writableChannel();
    const threadTs = call.thread(channel);
    if (threadTs === undefined) throw new SlackRefusal('invalid_thread_ts');
    if (channel.kind !== 'im') {
      const user = call.text('recipient_user_id');
      const team = call.text('recipient_team_id');
      if (user === undefined) throw new SlackRefusal('missing_recipient_user_id');
      if (team === undefined) throw new SlackRefusal('missing_recipient_team_id');
      // The person's workspace, which differs from the app's on Slack Connect. For the error, see vercel/chat#313.
      if (team !== (call.workspace.users.get(user)?.team ?? call.workspace.teamId))
        throw new SlackRefusal('team_not_found');
    }
    const text = added(call);
    call.workspace.streamed(channel.id, threadTs, 'processing');
    const message = call.workspace.post({
      channel: channel.id,
      user: call.workspace.botUser,
      threadTs,
      text,
      blocks: [],
      streaming: { text, startedAt: call.workspace.now(), open: true },
    });
    return { channel: channel.id, ts: message.ts };
  },

  'chat.appendStream': (call) => {
    call.needScope('chat:write');
    const message = append(call);
    return { channel: message.channel, ts: message.ts };
  },

  'chat.stopStream': (call) => {
    call.needScope('chat:write');
    const message = append(call);
    if (message.streaming !== undefined) message.streaming.open = false;
    call.workspace.streamed(message.channel, message.threadTs ?? '', 'active');
    message.metadata = metadataOf(call) ?? message.metadata;
    call.workspace.edit(message, message.text, call.blocks() ?? message.blocks);
    return { channel: message.channel, ts: message.ts };
  },
};

/** Returns the text added by this call, from `markdown_text` or chunks. */
function added(call: Call): string {
  const markdown = call.text('markdown_text');
  const chunks = asList(call.json('chunks'));
  if (markdown !== undefined && chunks.length > 0) throw new SlackRefusal('markdown_text_conflict');
  const text = markdown ?? chunks.map((chunk) => asText(asFields(chunk).text) ?? '').join('');
  if (text.length > SLACK.streamText) throw new SlackRefusal('msg_too_long');
  return text;
}

function append(call: Call): PostedMessage {
  const message = call.ownMessage(call.channel(), 'message_not_found', 'message_not_owned_by_app');
  const { streaming } = message;
  const old = streaming !== undefined && call.workspace.now() - streaming.startedAt > SLACK.streamLifetimeMs;
  if (streaming === undefined || !streaming.open || old)
    // Clients cannot know that Slack ended it early, or that a stop with a lost response succeeded.
    throw new SlackRefusal('message_not_in_streaming_state', [], {
      counts: streaming?.endedBySlack !== true && call.method !== 'chat.stopStream',
    });
  const text = added(call);
  if (streaming.text.length + text.length > SLACK.streamText) throw new SlackRefusal('msg_too_long');
  streaming.text += text;
  call.workspace.edit(message, streaming.text, message.blocks);
  return message;
}
