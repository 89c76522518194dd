import { blockProblems, blocksLength, slackFiles } from './blocks.ts';
import { type Fields, isFields } from './json.ts';
import { SLACK } from './limits.ts';
import type { Channel, PostedMessage, Workspace } from './workspace.ts';

/** Slack's `{ok: false, error}`. */
export class SlackRefusal extends Error {
  readonly error: string;
  readonly detail: string[];
  /** Whether it was the app's mistake. */
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
  /** Calls that only need some token. */
  baseUrl: string;
  /** Messages that Slack gives at once at most, however many are asked for. */
  pageMessages: number;
  /** How long a shared file takes to show up as a message, in ms. */
  shareDelayMs: number;
  /** How long Slack processes an uploaded picture before a block may show it, in ms. */
  pictureDelayMs: number;
}

/** One call of a Web API method: its arguments, read strictly. */
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

  /** A value that may come as JSON or, in a form, as JSON text. */
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

  /** An uploaded picture that is still processed is no mistake of the app: it may try again. */
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

  /** A channel by id; a user's id means the direct conversation with them. */
  channel(name = 'channel'): Channel {
    const id = this.text(name);
    const direct =
      id?.startsWith('U') && this.workspace.users.has(id) ? this.workspace.directChannel(id) : undefined;
    const channel = direct ?? (id === undefined ? undefined : this.workspace.channels.get(id));
    const hidden = channel?.kind === 'group' && !channel.members.has(this.workspace.botUser);
    if (channel === undefined || hidden)
      throw new SlackRefusal('channel_not_found', [`[ERROR] ${String(id)}`]);
    return channel;
  }

  /** A channel in which the bot may write. */
  writableChannel(name = 'channel'): Channel {
    const channel = this.channel(name);
    if (channel.archived) throw new SlackRefusal('is_archived');
    const open = channel.kind === 'channel' && this.settings.scopes.has('chat:write.public');
    if (!channel.members.has(this.workspace.botUser) && !open) throw new SlackRefusal('not_in_channel');
    return channel;
  }

  /** The thread to write in: an existing message that is not itself a reply. */
  thread(channel: Channel): string | undefined {
    const ts = this.text('thread_ts');
    if (ts === undefined) return undefined;
    if (!/^\d+\.\d{6}$/.test(ts)) throw new SlackRefusal('invalid_thread_ts');
    const parent = this.workspace.root(channel.id, ts);
    if (parent === undefined) throw new SlackRefusal('thread_not_found');
    // That a person deleted it is nothing that an app has to know.
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
