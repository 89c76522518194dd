import { blockProblems, blocksLength } from './blocks.ts';
import { SlackRefusal } from './call.ts';
import { asText, type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import type { ResponseTicket } from './tickets.ts';
import type { EphemeralMessage, Workspace } from './workspace.ts';

/**
 * Shows a reply from a response_url or an ack, privately unless `response_type` is `in_channel`.
 * Works in channels without the bot, but not in deleted or archived ones, like a webhook
 * (https://docs.slack.dev/changelog/2016-05-17-changes-to-errors-for-incoming-webhooks). Throws Slack's refusal.
 */
export function showReply(
  workspace: Workspace,
  ticket: ResponseTicket,
  body: Fields,
  via: EphemeralMessage['via'],
): void {
  const channel = workspace.channels.get(ticket.channel);
  if (channel === undefined) throw new SlackRefusal('channel_not_found');
  if (channel.archived) throw new SlackRefusal('channel_is_archived');
  const text = asText(body.text) ?? '';
  if (text.length > SLACK.messageText) throw new SlackRefusal('msg_too_long');
  const problems = body.blocks === undefined ? [] : blockProblems(body.blocks, 'message');
  if (problems.length > 0) throw new SlackRefusal('invalid_blocks', problems);
  if (blocksLength(body.blocks) > SLACK.blocksTotal) throw new SlackRefusal('msg_blocks_too_long');
  const blocks = Array.isArray(body.blocks) ? body.blocks.filter(isFields) : [];
  const original =
    ticket.messageTs === undefined ? undefined : workspace.message(ticket.channel, ticket.messageTs);
  if (body.delete_original === true) {
    if (original !== undefined) original.deleted = true;
    workspace.emit('changed');
    return;
  }
  if (text === '' && blocks.length === 0) throw new SlackRefusal('no_text');
  if (body.replace_original === true && original !== undefined) {
    workspace.edit(original, text, blocks);
    return;
  }
  const threadTs = asText(body.thread_ts) ?? ticket.threadTs;
  if (body.response_type === 'in_channel') {
    workspace.post({
      channel: ticket.channel,
      user: workspace.botUser,
      threadTs,
      text,
      blocks,
      viaResponseUrl: true,
    });
    return;
  }
  workspace.ephemerals.push({
    channel: ticket.channel,
    user: ticket.user,
    ts: workspace.nextTs(),
    threadTs,
    text,
    blocks,
    via,
  });
  workspace.emit('changed');
}
