import { type Call, type Method, SlackRefusal } from '../call.ts';
import { asFields, type Fields, isFields } from '../json.ts';
import { SLACK } from '../limits.ts';
import type { PostedMessage } from '../workspace.ts';

export const chat: Readonly<Record<string, Method>> = {
  'chat.postMessage': (call) => {
    call.needScope('chat:write');
    const channel = call.writableChannel();
    const content = contentOf(call, SLACK.messageText);
    if (content === undefined) throw new SlackRefusal('no_text');
    const message = call.workspace.post({
      channel: channel.id,
      user: call.workspace.botUser,
      threadTs: call.thread(channel),
      text: content.text,
      blocks: content.blocks ?? [],
      metadata: metadataOf(call),
      unfurl: String(call.args.unfurl_links) !== 'false',
    });
    return { channel: channel.id, ts: message.ts, message: wireMessage(message) };
  },

  'chat.update': (call) => {
    call.needScope('chat:write');
    if (call.text('channel')?.startsWith('U')) throw new SlackRefusal('channel_not_found');
    const channel = call.channel();
    if (channel.archived) throw new SlackRefusal('is_archived');
    const message = call.ownMessage(channel, 'message_not_found', 'cant_update_message');
    if (message.streaming?.open) {
      // The streaming process may have crashed, which another cannot know.
      throw new SlackRefusal('streaming_state_conflict', [], { counts: false });
    }
    const content = contentOf(call, SLACK.updateText);
    if (content === undefined) throw new SlackRefusal('no_text');
    message.metadata = metadataOf(call) ?? message.metadata;
    call.workspace.edit(message, content.text, content.blocks ?? message.blocks);
    return { channel: channel.id, ts: message.ts, text: message.text, message: wireMessage(message) };
  },

  'chat.delete': (call) => {
    call.needScope('chat:write');
    const channel = call.channel();
    const message = call.ownMessage(channel, 'message_not_found', 'cant_delete_message');
    message.deleted = true;
    call.workspace.emit('changed');
    return { channel: channel.id, ts: message.ts };
  },

  'chat.postEphemeral': (call) => {
    call.needScope('chat:write');
    const channel = call.writableChannel();
    const user = call.need('user');
    if (!channel.members.has(user)) throw new SlackRefusal('user_not_in_channel');
    const content = contentOf(call, SLACK.messageText);
    if (content === undefined) throw new SlackRefusal('no_text');
    const ts = call.workspace.nextTs();
    call.workspace.ephemerals.push({
      channel: channel.id,
      user,
      ts,
      threadTs: call.thread(channel),
      text: content.text,
      blocks: content.blocks ?? [],
      via: 'chat.postEphemeral',
    });
    call.workspace.emit('changed');
    return { message_ts: ts };
  },

  'chat.getPermalink': (call) => {
    const channel = call.channel();
    const ts = call.need('message_ts');
    if (call.workspace.message(channel.id, ts) === undefined) throw new SlackRefusal('message_not_found');
    return {
      channel: channel.id,
      permalink: `https://minstrel.slack.com/archives/${channel.id}/p${ts.replace('.', '')}`,
    };
  },
};

export function metadataOf(call: Call): Fields | undefined {
  const metadata = call.json('metadata');
  if (metadata === undefined) return undefined;
  if (!isFields(metadata) || typeof metadata.event_type !== 'string' || !isFields(metadata.event_payload)) {
    throw new SlackRefusal('invalid_metadata_format');
  }
  return metadata;
}

/** Reads text, blocks and markdown_text; undefined if all are empty. */
function contentOf(call: Call, most: number): { text: string; blocks: Fields[] | undefined } | undefined {
  const text = call.text('text') ?? '';
  if (text.length > most)
    throw new SlackRefusal('msg_too_long', [`[ERROR] ${text.length} of ${most} characters`]);
  const blocks = call.blocks();
  const markdown = call.text('markdown_text');
  if (markdown !== undefined) {
    if (text !== '' || blocks !== undefined) throw new SlackRefusal('markdown_text_conflict');
    if (markdown.length > SLACK.markdownTotal) throw new SlackRefusal('msg_too_long');
    return { text: '', blocks: [{ type: 'markdown', text: markdown }] };
  }
  if (text === '' && (blocks === undefined || blocks.length === 0)) return undefined;
  return { text, blocks };
}

/** Returns a message as in the Web API and events. */
export function wireMessage(message: PostedMessage): Fields {
  if (message.deleted) return tombstone(message);
  return {
    type: 'message',
    ts: message.ts,
    ...(message.bot === undefined
      ? { user: message.user }
      : { subtype: 'bot_message', bot_id: message.bot, bot_profile: { name: message.bot } }),
    text: message.text,
    ...(message.threadTs === undefined ? {} : { thread_ts: message.threadTs }),
    ...(message.blocks.length > 0 ? { blocks: message.blocks.filter(isFields).map(wireBlock) } : {}),
    ...(message.attachments === undefined ? {} : { attachments: message.attachments }),
    ...(message.files.length > 0
      ? { files: message.files.map((file) => ({ id: file.id, name: file.name, mimetype: file.mimetype })) }
      : {}),
  };
}

/** Slack adds block ids, and returns more fields for images than it accepts: https://github.com/slackapi/bolt-js/issues/1841 */
function wireBlock(block: Fields, index: number): Fields {
  const images = ['accessory', 'hero_image'].flatMap((name) => {
    const image = block[name];
    return isFields(image) ? [[name, wirePicture(image)]] : [];
  });
  return { type: block.type, block_id: `b${index}`, ...wirePicture(block), ...Object.fromEntries(images) };
}

/** Uploaded images are returned with their URL: https://github.com/slackapi/python-slack-sdk/issues/1511 */
function wirePicture({ slack_file: file, ...rest }: Fields): Fields {
  if (rest.type !== 'image') return rest;
  const { id } = asFields(file);
  const url = `${SLACK.filesUrl}T0MINSTREL-${String(id)}/picture.png`;
  const facts = { fallback: '8x8px image', image_width: 8, image_height: 8, image_bytes: 64 };
  return { ...rest, ...(id === undefined ? {} : { image_url: url }), ...facts };
}

/** Replaces a deleted message that has replies. Example: https://github.com/slack-edge/slack-edge/pull/10 */
function tombstone({ ts }: PostedMessage): Fields {
  return {
    type: 'message',
    subtype: 'tombstone',
    text: 'This message was deleted.',
    user: 'USLACKBOT',
    hidden: true,
    ts,
    thread_ts: ts,
    parent_user_id: 'USLACKBOT',
  };
}
