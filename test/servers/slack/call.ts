import { blockProblems, blocksLength, slackFiles } from './blocks.ts';
import { type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import type { Channel, PostedMessage, Workspace } from './workspace.ts';

/** Slack's `{ok: false, error}`. */
export class SlackRefusal extends Error {
  readonly error: string;
  readonly detail: string[];
  /** True if it was the app's mistake. */
  readonly counts: boolean;

  constructor(error: string, detail: string[] = [], { counts = true }: { counts?: boolean } = {}) {
    super(error);
    this.error = error;
    this.detail = detail;
    this.counts = counts;
  }
}

export interface Settings {
  scopes: Set<string>;
  /** Methods that need a token but no scope. */
  baseUrl: string;
  /** The maximum messages per page. */
  pageMessages: number;
  /** The delay in ms until a shared file appears as a message. */
  shareDelayMs: number;
  /** The delay in ms until a block can show an uploaded image. */
  pictureDelayMs: number;
}

/** One call of a Web API method, with strict access to its arguments. */
export class Call {
  readonly method: string;
  readonly args: Fields;
  readonly workspace: Workspace;
  readonly settings: Settings;

  constructor(method: string, args: Fields, workspace: Workspace, settings: Settings) {
    this.method = method;
    this.args = args;
    this.workspace = workspace;
    this.settings = settings;
  }

  text(name: string): string | undefined {
    const value = this.args[name];
    if (value === undefined || value === '') return undefined;
    if (typeof value !== 'string')
      throw new SlackRefusal('invalid_arguments', [`[ERROR] ${name} must be a string`]);
    return value;
  }

  need(name: string): string {
    const value = this.text(name);
    if (value === undefined) {
      throw new SlackRefusal('invalid_arguments', [`[ERROR] missing required field: ${name}`]);
    }
    return value;
  }

  /** Reads a value that is JSON or, in a form, JSON text. */
  json(name: string): unknown {
    const value = this.args[name];
    if (typeof value !== 'string') return value;
    try {
      return JSON.parse(value);
    } catch {
      throw new SlackRefusal(name === 'blocks' ? 'invalid_blocks_format' : 'invalid_arguments', [
        `[ERROR] ${name} is not JSON`,
      ]);
    }
  }

  blocks(): Fields[] | undefined {
    const value = this.json('blocks');
    if (value === undefined) return undefined;
    if (!Array.isArray(value))
      throw new SlackRefusal('invalid_blocks_format', ['[ERROR] blocks must be an array']);
    const problems = blockProblems(value, 'message');
    if (problems.length > 0)
      throw new SlackRefusal(
        'invalid_blocks',
        problems.map((problem) => `[ERROR] ${problem}`),
      );
    for (const id of slackFiles(value)) this.#needPicture(id);
    if (blocksLength(value) > SLACK.blocksTotal) throw new SlackRefusal('msg_blocks_too_long');
    return value.filter(isFields);
  }

  /** An image that is still being processed is not the app's mistake: it can retry. */
  #needPicture(id: string): void {
    const file = this.workspace.files.get(id);
    const reasons = ['[ERROR] invalid slack file [json-pointer:/blocks/slack_file]'];
    if (file?.state !== 'completed' || !file.mimetype.startsWith('image/')) {
      throw new SlackRefusal('invalid_blocks', reasons);
    }
    if (this.workspace.now() < file.readyAt)
      throw new SlackRefusal('invalid_blocks', reasons, { counts: false });
  }

  needScope(...anyOf: string[]): void {
    if (!anyOf.some((scope) => this.settings.scopes.has(scope))) {
      throw new SlackRefusal('missing_scope', [`[ERROR] needed: ${anyOf.join(' or ')}`]);
    }
  }

  /** Finds a channel by id; a user id means their direct messages. */
  channel(name = 'channel'): Channel {
    const id = this.text(name);
    const direct =
      id?.startsWith('U') && this.workspace.users.has(id) ? this.workspace.directChannel(id) : undefined;
    const channel = direct ?? (id === undefined ? undefined : this.workspace.channels.get(id));
    const isHidden = channel?.kind === 'group' && !channel.members.has(this.workspace.botUser);
    if (channel === undefined || isHidden)
      throw new SlackRefusal('channel_not_found', [`[ERROR] ${String(id)}`]);
    return channel;
  }

  /** Finds a channel in which the bot may post. */
  writableChannel(name = 'channel'): Channel {
    const channel = this.channel(name);
    if (channel.archived) throw new SlackRefusal('is_archived');
    const open = channel.kind === 'channel' && this.settings.scopes.has('chat:write.public');
    if (!channel.members.has(this.workspace.botUser) && !open) throw new SlackRefusal('not_in_channel');
    return channel;
  }

  /** Finds the thread: an existing message that is not a reply. */
  thread(channel: Channel): string | undefined {
    const ts = this.text('thread_ts');
    if (ts === undefined) return undefined;
    if (!/^\d+\.\d{6}$/.test(ts)) throw new SlackRefusal('invalid_thread_ts');
    const parent = this.workspace.root(channel.id, ts);
    if (parent === undefined) throw new SlackRefusal('thread_not_found');
    // Apps cannot know that a person deleted it.
    if (parent === 'deleted') throw new SlackRefusal('thread_not_found', [], { counts: false });
    if (parent.threadTs !== undefined && parent.threadTs !== ts) throw new SlackRefusal('invalid_thread_ts');
    return ts;
  }

  ownMessage(channel: Channel, missing: string, foreign: string): PostedMessage {
    const message = this.workspace.message(channel.id, this.need('ts'));
    if (message === undefined) throw new SlackRefusal(missing);
    if (message.user !== this.workspace.botUser) throw new SlackRefusal(foreign);
    return message;
  }
}

export type Method = (call: Call) => Fields;
