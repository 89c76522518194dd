import { EventEmitter } from 'node:events';
import type { Fields } from './json.ts';

/** An Enterprise Grid organisation. Channels and people of its workspaces have separate ids. */
export interface Organisation {
  id: string;
  name: string;
  workspaces: Workspace[];
}

export interface Channel {
  id: string;
  name: string;
  kind: 'channel' | 'group' | 'im' | 'mpim';
  /** User ids, including the bot's if it was invited. */
  members: Set<string>;
  archived: boolean;
}

export interface User {
  id: string;
  name: string;
  realName: string;
  admin: boolean;
  deleted: boolean;
  /** On Slack Connect, the person's workspace. */
  team?: string;
  /** The person's organisation. */
  organisation?: string;
}

export interface StoredFile {
  id: string;
  name: string;
  title: string;
  bytes: Buffer;
  mimetype: string;
  altText: string | undefined;
  /** The uploader. */
  user: string;
  /** A file is visible once its upload is completed. */
  state: 'requested' | 'uploaded' | 'completed';
  announcedLength: number;
  /** It lies elsewhere, such as in Google Drive: https://docs.slack.dev/messaging/working-with-files#remote */
  isExternal?: boolean;
  /** On Slack Connect, events contain only its id. */
  isIdOnly?: boolean;
  /** The time at which a block can show it. */
  readyAt: number;
}

export interface PostedMessage {
  channel: string;
  ts: string;
  threadTs: string | undefined;
  /** The author's user id. */
  user: string;
  text: string;
  blocks: Fields[];
  files: StoredFile[];
  /** Of another app, or a message that the person shares: https://docs.slack.dev/reference/events/message */
  attachments?: Fields[];
  /** The bot id of another app. */
  bot?: string;
  /** All states, oldest first, including the current one. */
  revisions: { text: string; blocks: Fields[]; at: number }[];
  deleted: boolean;
  streaming: { text: string; startedAt: number; open: boolean; endedBySlack?: boolean } | undefined;
  /** True if it was posted through a response_url. */
  viaResponseUrl: boolean;
  metadata: Fields | undefined;
  unfurl: boolean;
}

export interface EphemeralMessage {
  channel: string;
  user: string;
  ts: string;
  threadTs: string | undefined;
  text: string;
  blocks: Fields[];
  via: 'chat.postEphemeral' | 'response_url' | 'ack';
}

export interface OpenView {
  id: string;
  user: string;
  view: Fields;
  hash: string;
  /** The view below a modal. */
  previous: string | undefined;
  open: boolean;
}

/** A thread in the agent view: https://docs.slack.dev/ai/agent-sessions */
export interface AgentSession {
  title: string;
  initiator: string;
  /** All statuses, current one last. An app's text replaces `processing`. */
  statuses: string[];
}

export interface SuggestedPrompts {
  title: string;
  prompts: { title: string; message: string }[];
}

export interface Refusal {
  method: string;
  error: string;
  /** Slack's `response_metadata.messages`, or an explanation. */
  detail: string[];
  arguments: Fields;
}

/** The state of a simulated workspace. Emits `changed` after every change. */
export class Workspace extends EventEmitter<{ changed: [] }> {
  readonly teamId: string;
  readonly teamName: string;
  readonly appId = 'A0MINSTREL';
  readonly botId = 'B0MINSTREL';
  readonly botUser = 'U0MINSTREL';
  readonly channels = new Map<string, Channel>();
  readonly users = new Map<string, User>();
  readonly files = new Map<string, StoredFile>();
  readonly views = new Map<string, OpenView>();
  readonly homes = new Map<string, OpenView>();
  readonly messages: PostedMessage[] = [];
  readonly ephemerals: EphemeralMessage[] = [];
  readonly refused: Refusal[] = [];
  /** By channel and thread. */
  readonly sessions = new Map<string, AgentSession>();
  /** By channel. */
  readonly suggested = new Map<string, SuggestedPrompts>();
  /** Its organisation, if the app is installed for all workspaces. */
  organisation: Organisation | undefined;
  /** True if the plan includes agents and the app is one. */
  agents = false;
  readonly now: () => number;
  readonly #counter: { count: number };

  /** @param counter shared by all workspaces of a server, so that ids are unique */
  constructor(
    now: () => number,
    {
      teamId = 'T0MINSTREL',
      teamName = 'Minstrel',
      counter = { count: 0 },
    }: {
      teamId?: string;
      teamName?: string;
      counter?: { count: number };
    } = {},
  ) {
    super();
    this.teamId = teamId;
    this.teamName = teamName;
    this.#counter = counter;
    this.now = now;
    this.addUser({ id: this.botUser, name: 'minstrel', realName: 'Minstrel' });
    this.addUser({ id: 'U0ADA', name: 'ada', realName: 'Ada Lovelace' });
    this.addUser({ id: 'U0BOB', name: 'bob', realName: 'Bob Dylan', admin: true });
    this.addChannel({ id: 'C0MUSIC', name: 'music' });
    this.addChannel({ id: 'C0QUIET', name: 'quiet', withBot: false });
    this.addChannel({ id: 'D0ADA', name: 'ada', kind: 'im', members: ['U0ADA'] });
  }

  /** Returns a unique number. */
  next(): number {
    this.#counter.count += 1;
    return this.#counter.count;
  }

  /** Returns a message timestamp: seconds and a sequence number. */
  nextTs(): string {
    return `${Math.floor(this.now() / 1000)}.${String(this.next()).padStart(6, '0')}`;
  }

  id(prefix: string): string {
    return `${prefix}${String(this.next()).padStart(8, '0')}`;
  }

  addUser(user: Partial<User> & { id: string; name: string }): User {
    const stored = { realName: user.name, admin: false, deleted: false, ...user };
    this.users.set(user.id, stored);
    return stored;
  }

  addChannel({
    withBot = true,
    members = ['U0ADA', 'U0BOB'],
    ...channel
  }: {
    id: string;
    name: string;
    kind?: Channel['kind'];
    members?: string[];
    withBot?: boolean;
    archived?: boolean;
  }): Channel {
    const stored: Channel = {
      kind: 'channel',
      archived: false,
      ...channel,
      members: new Set(withBot ? [...members, this.botUser] : members),
    };
    this.channels.set(channel.id, stored);
    return stored;
  }

  directChannel(user: string): Channel {
    const existing = [...this.channels.values()].find(
      (channel) => channel.kind === 'im' && channel.members.has(user),
    );
    return existing ?? this.addChannel({ id: this.id('D'), name: user, kind: 'im', members: [user] });
  }

  message(channel: string, ts: string): PostedMessage | undefined {
    return this.messages.find(
      (message) => message.channel === channel && message.ts === ts && !message.deleted,
    );
  }

  /** Returns the first message of a thread. A deleted one remains while it has replies. */
  root(channel: string, ts: string): PostedMessage | 'deleted' | undefined {
    const there = this.messages.filter((message) => message.channel === channel);
    const root = there.find((message) => message.ts === ts);
    if (root?.deleted !== true) return root;
    return there.some(({ threadTs, deleted }) => threadTs === ts && !deleted) ? root : 'deleted';
  }

  session(channel: string, thread: string): AgentSession | undefined {
    return this.sessions.get(`${channel}:${thread}`);
  }

  /** A stream creates its thread's session and sets the status. */
  streamed(channel: string, thread: string, status: 'processing' | 'active'): void {
    if (!this.agents) return;
    const session = this.session(channel, thread) ?? {
      title: '',
      initiator: this.message(channel, thread)?.user ?? '',
      statuses: [],
    };
    this.sessions.set(`${channel}:${thread}`, { ...session, statuses: [...session.statuses, status] });
  }

  post(
    message: Pick<PostedMessage, 'channel' | 'user' | 'text' | 'blocks'> & Partial<PostedMessage>,
  ): PostedMessage {
    const stored: PostedMessage = {
      ts: this.nextTs(),
      threadTs: undefined,
      files: [],
      revisions: [{ text: message.text, blocks: message.blocks, at: this.now() }],
      deleted: false,
      streaming: undefined,
      viaResponseUrl: false,
      metadata: undefined,
      unfurl: false,
      ...message,
    };
    this.messages.push(stored);
    this.emit('changed');
    return stored;
  }

  edit(message: PostedMessage, text: string, blocks: Fields[]): void {
    message.text = text;
    message.blocks = blocks;
    message.revisions.push({ text, blocks, at: this.now() });
    this.emit('changed');
  }

  refuse(refusal: Refusal): void {
    this.refused.push(refusal);
    this.emit('changed');
  }
}
