import { type Call, type Method, SlackRefusal } from '../call.ts';
import { asFields, asText } from '../json.ts';
import { SLACK } from '../limits.ts';
import type { StoredFile } from '../workspace.ts';

const TYPES: Readonly<Record<string, string>> = {
  mp3: 'audio/mpeg',
  wav: 'audio/wav',
  mp4: 'video/mp4',
  png: 'image/png',
  jpg: 'image/jpeg',
  txt: 'text/plain',
  md: 'text/markdown',
  lrc: 'text/plain',
};

export const files: Readonly<Record<string, Method>> = {
  'files.getUploadURLExternal': (call) => {
    call.needScope('files:write');
    const name = call.need('filename');
    const length = Number(call.args.length);
    if (!Number.isInteger(length) || length <= 0) {
      throw new SlackRefusal('invalid_arguments', ['[ERROR] length must be a positive number']);
    }
    // The SDK's types use this name, but Slack does not accept it.
    if (call.args.alt_text !== undefined)
      throw new SlackRefusal('invalid_arguments', ['[ERROR] unknown argument: alt_text']);
    if ((call.text('alt_txt') ?? '').length > SLACK.uploadAltText)
      throw new SlackRefusal('alt_txt_too_large');
    const id = call.workspace.id('F');
    call.workspace.files.set(id, {
      id,
      name,
      title: name,
      bytes: Buffer.alloc(0),
      mimetype: TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream',
      altText: call.text('alt_txt'),
      user: call.workspace.botUser,
      state: 'requested',
      announcedLength: length,
      readyAt: Number.POSITIVE_INFINITY,
    });
    return { upload_url: `${call.settings.baseUrl}/upload/v1/${id}`, file_id: id };
  },

  'files.completeUploadExternal': (call) => {
    call.needScope('files:write');
    const list = call.json('files');
    if (!Array.isArray(list) || list.length === 0) {
      throw new SlackRefusal('invalid_arguments', ['[ERROR] missing required field: files']);
    }
    const completed = list.map((item) => {
      const { id, title } = asFields(item);
      const file = call.workspace.files.get(asText(id) ?? '');
      if (file === undefined || file.state === 'requested') throw new SlackRefusal('file_not_found');
      return { file, title: asText(title) };
    });
    share(
      call,
      completed.map(({ file }) => file),
    );
    for (const { file, title } of completed) {
      file.state = 'completed';
      file.readyAt = call.workspace.now() + call.settings.pictureDelayMs;
      file.title = title ?? file.title;
    }
    return { files: completed.map(({ file }) => ({ id: file.id, title: file.title })) };
  },

  'files.info': (call) => {
    call.needScope('files:read');
    const file = call.workspace.files.get(call.need('file'));
    if (file === undefined || file.state !== 'completed') throw new SlackRefusal('file_not_found');
    const shared = call.workspace.messages.filter(
      (message) => !message.deleted && message.files.some(({ id }) => id === file.id),
    );
    const shares = Object.fromEntries(
      shared.map((message) => [message.channel, [{ ts: message.ts, thread_ts: message.threadTs }]]),
    );
    return { file: { ...wireFile(file, call.settings.baseUrl), shares: { public: shares } } };
  },

  'files.delete': (call) => {
    call.needScope('files:write');
    const id = call.need('file');
    if (!call.workspace.files.delete(id)) throw new SlackRefusal('file_not_found');
    for (const message of call.workspace.messages) {
      const isShare = message.files.length > 0;
      message.files = message.files.filter((file) => file.id !== id);
      // A message with only files is deleted with the last file.
      if (isShare && message.files.length === 0 && message.metadata === undefined) message.deleted = true;
    }
    return {};
  },
};

/** Creates the message with the files, which Slack does shortly after its response. */
function share(call: Call, shared: StoredFile[]): void {
  if (call.text('channel_id') === undefined && call.text('channels') === undefined) return;
  const channel = call.writableChannel(call.text('channel_id') === undefined ? 'channels' : 'channel_id');
  const threadTs = call.thread(channel);
  const comment = call.text('initial_comment');
  const blocks = call.blocks();
  const post = () =>
    call.workspace.post({
      channel: channel.id,
      user: call.workspace.botUser,
      threadTs,
      text: comment ?? '',
      blocks: comment === undefined ? (blocks ?? []) : [],
      files: shared,
    });
  if (call.settings.shareDelayMs === 0) post();
  else setTimeout(post, call.settings.shareDelayMs).unref();
}

/** Returns a file as in the Web API and events. */
export function wireFile(file: StoredFile, baseUrl: string): Record<string, unknown> {
  return {
    id: file.id,
    name: file.name,
    title: file.title,
    mimetype: file.mimetype,
    filetype: file.name.split('.').at(-1) ?? '',
    size: file.bytes.length,
    user: file.user,
    url_private: `${baseUrl}/files-pri/${file.id}/${encodeURIComponent(file.name)}`,
    url_private_download: `${baseUrl}/files-pri/${file.id}/download/${encodeURIComponent(file.name)}`,
    ...(file.isExternal
      ? { mode: 'external', is_external: true, external_type: 'gdrive' }
      : { mode: 'hosted' }),
  };
}
