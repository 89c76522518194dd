import { type Call, type Method, SlackRefusal } from '../call.ts';
import { SLACK } from '../limits.ts';
import type { Channel, PostedMessage } from '../workspace.ts';
import { wireMessage } from './chat.ts';
import { wireFile } from './files.ts';

const SCOPE_PREFIX = { channel: 'channels', group: 'groups', im: 'im', mpim: 'mpim' } as const;

export const conversations: Readonly<Record<string, Method>> = {
  'auth.test': (call) => ({
    url: 'https://minstrel.slack.com/',
    team: call.workspace.organisation?.name ?? call.workspace.teamName,
    user: 'minstrel',
    // An organisation's token belongs to no single workspace.
    team_id: call.workspace.organisation?.id ?? call.workspace.teamId,
    ...(call.workspace.organisation === undefined ? {} : { enterprise_id: call.workspace.organisation.id }),
    user_id: call.workspace.botUser,
    bot_id: call.workspace.botId,
    is_enterprise_install: call.workspace.organisation !== undefined,
  }),

  'users.info': (call) => {
    call.needScope('users:read');
    const user = call.workspace.users.get(call.need('user'));
    if (user === undefined) throw new SlackRefusal('user_not_found');
    return {
      user: {
        id: user.id,
        team_id: user.team ?? call.workspace.teamId,
        ...(user.organisation === undefined ? {} : { enterprise_user: { enterprise_id: user.organisation } }),
        name: user.name,
        deleted: user.deleted,
        real_name: user.realName,
        is_admin: user.admin,
        is_owner: false,
        is_bot: user.id === call.workspace.botUser,
        profile: { display_name: user.name, real_name: user.realName },
      },
    };
  },

  'conversations.info': (call) => {
    const channel = call.channel();
    call.needScope(`${SCOPE_PREFIX[channel.kind]}:read`);
    return { channel: wireChannel(channel, call.workspace.botUser) };
  },

  'conversations.open': (call) => {
    call.needScope('im:write');
    const user = call.need('users');
    if (!call.workspace.users.has(user)) throw new SlackRefusal('user_not_found');
    return { channel: { id: call.workspace.directChannel(user).id } };
  },

  'conversations.join': (call) => {
    call.needScope('channels:join');
    const channel = call.channel();
    if (channel.kind !== 'channel') throw new SlackRefusal('method_not_supported_for_channel_type');
    if (channel.archived) throw new SlackRefusal('is_archived');
    channel.members.add(call.workspace.botUser);
    return { channel: wireChannel(channel, call.workspace.botUser) };
  },

  'conversations.replies': (call) => {
    const channel = readable(call);
    const ts = call.need('ts');
    const parent = call.workspace.root(channel.id, ts);
    if (parent === undefined || parent === 'deleted') throw new SlackRefusal('thread_not_found');
    const root = parent.threadTs ?? parent.ts;
    const thread = call.workspace.messages.filter(
      (message) =>
        message.channel === channel.id &&
        (message.ts === root || (message.threadTs === root && !message.deleted)),
    );
    return page(call, thread);
  },

  'conversations.history': (call) => {
    const channel = readable(call);
    const top = call.workspace.messages.filter(
      (message) =>
        message.channel === channel.id &&
        message.threadTs === undefined &&
        call.workspace.root(channel.id, message.ts) === message,
    );
    return page(call, top.reverse());
  },
};

function readable(call: Call): Channel {
  const channel = call.channel();
  call.needScope(`${SCOPE_PREFIX[channel.kind]}:history`);
  if (!channel.members.has(call.workspace.botUser)) throw new SlackRefusal('not_in_channel');
  return channel;
}

function page(call: Call, messages: readonly PostedMessage[]): Record<string, unknown> {
  const requestedLimit = Number(call.args.limit ?? 100);
  if (requestedLimit > SLACK.pageMessages) throw new SlackRefusal('invalid_limit');
  const limit = Math.min(requestedLimit, call.settings.pageMessages);
  const all = String(call.args.include_all_metadata) === 'true';
  const latest = call.text('latest');
  const oldest = call.text('oldest');
  const until = messages.filter(
    ({ ts, threadTs }, index) =>
      (latest === undefined || Number(ts) < Number(latest)) &&
      // The first message of a thread is always included.
      (oldest === undefined ||
        Number(ts) > Number(oldest) ||
        (index === 0 && threadTs === undefined && call.method === 'conversations.replies')),
  );
  const from = Number(call.text('cursor') ?? 0);
  const part = until.slice(from, from + limit);
  const more = from + limit < until.length;
  return {
    messages: part.map((message) => ({
      ...wireMessage(message),
      ...(all && message.metadata !== undefined ? { metadata: message.metadata } : {}),
      ...(message.user === call.workspace.botUser ? { bot_id: call.workspace.botId } : {}),
      ...(message.files.length > 0
        ? { files: message.files.map((file) => wireFile(file, call.settings.baseUrl)) }
        : {}),
    })),
    has_more: more,
    response_metadata: { next_cursor: more ? String(from + limit) : '' },
  };
}

function wireChannel(channel: Channel, bot: string): Record<string, unknown> {
  return {
    id: channel.id,
    name: channel.name,
    is_channel: channel.kind === 'channel',
    is_group: channel.kind === 'group',
    is_im: channel.kind === 'im',
    is_mpim: channel.kind === 'mpim',
    is_private: channel.kind !== 'channel',
    is_archived: channel.archived,
    is_member: channel.members.has(bot),
  };
}
