import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readBody } from './body.ts';
import type { CommandOption, RegisteredCommand } from './commands.ts';
import { type Button, everyComponent } from './components.ts';
import {
  type Asker,
  attachmentsOf,
  commandData,
  interactionJson,
  messageMenuData,
  type OptionInput,
  type PersonFile,
  writeOptions,
} from './events.ts';
import { Faults } from './faults.ts';
import { Gateway, MESSAGE_INTENTS } from './gateway.ts';
import { InteractionHandle } from './handle.ts';
import { type CompletionChoice, type InteractionKind, Interactions } from './interactions.ts';
import { DISCORD } from './limits.ts';
import { type Modal, type ModalField, modalFields } from './modals.ts';
import { Refusal } from './refusal.ts';
import { type RouteContext, serve } from './routes.ts';
import type { Channel, Guild, StoredMessage, User } from './types.ts';
import { World } from './world.ts';

export interface DiscordOptions {
  /** Milliseconds since 1970; token life, deadlines and nonces go by it. Default: the real clock plus {@link DiscordServer.advance}. */
  now?: () => number;
  /** How long an interaction waits for its first response. Default 3000. */
  responseDeadlineMs?: number;
  /** Gateway intents switched on in the developer portal, as bits. Default none. */
  privilegedIntents?: number;
  /** What `GET /gateway/bot` recommends. Default 1. */
  shards?: number;
}

/** Who asks, and where; each has a default: {@link DiscordServer.user} in {@link DiscordServer.channel}. */
export interface By {
  user?: User;
  channel?: Channel;
  moderator?: boolean;
  locale?: string;
  /** Only the person installed the app, not the guild. */
  userInstalled?: boolean;
  /** Bytes a file may have in the answer. Default: what the guild's tier allows. */
  fileLimit?: number;
}

export interface RefusedRequest {
  method: string;
  path: string;
  status: number;
  code: number;
  reason: string;
}

const INTERACTION_TYPE = { command: 2, component: 3, autocomplete: 4, modal: 5 } as const satisfies Record<
  InteractionKind,
  number
>;

/** See index.ts for how to use it. */
export class DiscordServer {
  readonly token = 'bG9jYWwtZGlzY29yZC1ib3Q.GxYzAb.not-a-real-token-only-for-tests';
  readonly world: World;
  readonly gateway: Gateway;
  readonly faults = new Faults();
  /** Requests that Discord would refuse, and ones that came before their Retry-After was over. */
  readonly refused: RefusedRequest[] = [];
  /** Every REST request, as `METHOD /path` without `/api/v10`. */
  readonly requests: string[] = [];
  /** Registered commands. */
  readonly commands: RegisteredCommand[] = [];
  readonly registrations = { count: 0 };
  /** A person, a guild with the bot in it, and a text channel, to begin with. */
  readonly user: User;
  readonly guild: Guild;
  readonly channel: Channel;
  /** When set, interactions go to this address by signed HTTP instead of the gateway. */
  interactionsUrl: string | undefined;
  readonly #keys: { publicKey: KeyObject; privateKey: KeyObject };
  readonly #interactions: Interactions;
  readonly #happened = new EventEmitter().setMaxListeners(0);
  readonly #http: Server;
  #ahead = 0;
  readonly #shards: number;

  constructor(options: DiscordOptions) {
    this.#shards = options.shards ?? 1;
    const now = () => (options.now?.() ?? Date.now()) + this.#ahead;
    this.world = new World(now, () => this.origin);
    this.#interactions = new Interactions(
      this.world,
      options.responseDeadlineMs ?? DISCORD.responseDeadlineMs,
    );
    this.gateway = new Gateway(this.world, this.token, () => `ws://127.0.0.1:${this.port}/gateway`);
    this.gateway.privilegedIntents = options.privilegedIntents ?? 0;
    this.user = this.world.addUser('Ada');
    this.guild = this.world.addGuild('Guild');
    this.channel = this.world.addChannel('music', { guildId: this.guild.id });
    this.#keys = generateKeyPairSync('ed25519');
    this.#http = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        this.refused.push({
          method: request.method ?? '',
          path: request.url ?? '',
          status: 500,
          code: 0,
          reason: `the server broke: ${String(error)}`,
        });
        response.destroy();
      });
    });
    this.#http.on('upgrade', (request, socket, head) => this.gateway.upgrade(request, socket, head));
  }

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#http.listen(0, '127.0.0.1', resolve));
    return this;
  }

  async close(): Promise<void> {
    this.gateway.close();
    this.#http.closeAllConnections();
    await new Promise<void>((resolve) => {
      this.#http.close(() => resolve());
    });
  }

  get port(): number {
    return (this.#http.address() as AddressInfo).port;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** For `DISCORD_API_URL`: the REST base without the version. */
  get apiUrl(): string {
    return `${this.origin}/api`;
  }

  get applicationId(): string {
    return this.world.bot.id;
  }

  /** For `DISCORD_PUBLIC_KEY`: hex. */
  get publicKey(): string {
    return this.#keys.publicKey.export({ format: 'der', type: 'spki' }).subarray(-32).toString('hex');
  }

  now(): number {
    return this.world.now();
  }

  /** Moves the server's clock forward, such as past a token's 15 minutes. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  // --- What people do ------------------------------------------------------------------------------------------

  /** Sends a slash command. `name` may be `command subcommand`. Throws when Discord's client would not send it. */
  command({
    name,
    options = {},
    ...by
  }: By & { name: string; options?: Record<string, OptionInput> }): InteractionHandle {
    const asker = this.#asker(by);
    const { command, declared, wrap } = this.#declared(name);
    const { options: written, resolved } = writeOptions(this.world, asker.channel, declared, options);
    return this.#interact('command', asker, by, commandData(command, wrap(written), resolved));
  }

  /** Types into an option that completes; resolves with what the bot offers. */
  async autocomplete({
    name,
    option,
    typed,
    options = {},
    ...by
  }: By & { name: string; option: string; typed: string; options?: Record<string, OptionInput> }): Promise<
    CompletionChoice[]
  > {
    const asker = this.#asker(by);
    const { command, declared, wrap } = this.#declared(name);
    if (!declared.some((o) => o.name === option && o.autocomplete))
      throw new Error(`Option ${option} of ${name} does not complete`);
    const { options: written, resolved } = writeOptions(
      this.world,
      asker.channel,
      declared,
      { ...options, [option]: typed },
      { focused: option },
    );
    return await this.#interact(
      'autocomplete',
      asker,
      by,
      commandData(command, wrap(written), resolved),
    ).choices();
  }

  /** Uses a command of a message's context menu. */
  contextMenu({ name, message, ...by }: By & { name: string; message: StoredMessage }): InteractionHandle {
    const asker = this.#asker({ channel: this.world.channel(message.channelId), ...by });
    const command = this.commands.find((c) => c.type === 3 && c.name === name);
    if (!command) throw new Error(`There is no message command ${name}`);
    return this.#interact('command', asker, by, messageMenuData(this.world, command, message));
  }

  /** Presses a button, by its custom_id or its label. Throws when the person cannot see or press it. */
  press(button: string, message: StoredMessage, by: By = {}): InteractionHandle {
    const asker = this.#asker({ channel: this.world.channel(message.channelId), ...by });
    if (message.deleted) throw new Error('The message was deleted');
    if (message.onlyFor !== null && message.onlyFor !== asker.user.id)
      throw new Error('The message is ephemeral, for somebody else');
    const found = buttonsOf(message).find((b) => b.custom_id === button || b.label === button);
    if (!found)
      throw new Error(
        `No button ${button}; there are: ${buttonsOf(message)
          .map((b) => b.label)
          .join(', ')}`,
      );
    if (found.disabled || found.custom_id === undefined)
      throw new Error(`Button ${button} cannot be pressed`);
    return this.#interact(
      'component',
      asker,
      by,
      { component_type: 2, custom_id: found.custom_id, id: 1 },
      message,
    );
  }

  /** Sends a form that an interaction opened. Values by custom_id; a field left out keeps what it showed. */
  async submitModal(
    opened: InteractionHandle,
    values: Record<string, string | string[] | boolean | PersonFile[]>,
    by: By = {},
  ): Promise<InteractionHandle> {
    const modal = await opened.modal();
    const user = this.world.users.get(opened.record.userId);
    const asker = this.#asker({
      channel: this.world.channel(opened.channelId),
      ...(user ? { user } : {}),
      ...by,
    });
    const source =
      opened.record.sourceId === null ? undefined : this.world.messages.get(opened.record.sourceId);
    const { components, resolved } = this.#modalData(modal, values, asker);
    const data = {
      custom_id: modal.custom_id,
      components,
      ...(Object.keys(resolved).length > 0 ? { resolved: { attachments: resolved } } : {}),
    };
    return this.#interact('modal', asker, by, data, source);
  }

  /** Writes into a channel. Mention the bot with {@link mention}. */
  say({
    text,
    files = [],
    replyTo,
    ...by
  }: By & { text: string; files?: PersonFile[]; replyTo?: StoredMessage }): StoredMessage {
    const { user, channel } = this.#asker(by);
    const message: StoredMessage = {
      id: this.world.nextId(),
      channelId: channel.id,
      author: user,
      content: text,
      embeds: [],
      components: [],
      attachments: attachmentsOf(this.world, channel, files),
      flags: 0,
      nonce: null,
      replyTo: replyTo?.id ?? null,
      interactionId: null,
      onlyFor: null,
      pinged: [],
      createdAt: this.now(),
      editedAt: null,
      history: [],
      deleted: false,
    };
    this.world.messages.set(message.id, message);
    this.#emitMessage('MESSAGE_CREATE', message);
    return message;
  }

  /** Writes a message that begins with a mention of the bot. */
  mention({
    text,
    ...rest
  }: By & { text: string; files?: PersonFile[]; replyTo?: StoredMessage }): StoredMessage {
    return this.say({ text: `<@${this.applicationId}> ${text}`, ...rest });
  }

  /** A direct channel between a person and the bot. */
  directChannel(user: User = this.user): Channel {
    const open = [...this.world.channels.values()].find(
      (c) => c.type === 1 && c.recipients[0]?.id === user.id,
    );
    return open ?? this.world.addChannel(user.username, { type: 1, recipients: [user] });
  }

  // --- What can be seen ----------------------------------------------------------------------------------------

  /** Messages of a channel that were not deleted, oldest first; ephemeral ones have `onlyFor`. */
  messages(channel: Channel = this.channel): StoredMessage[] {
    return this.world.messagesIn(channel.id);
  }

  /** What the bot wrote there. */
  said(channel: Channel = this.channel): StoredMessage[] {
    return this.messages(channel).filter((message) => message.author.id === this.world.bot.id);
  }

  /** Waits until the condition gives something, looking again whenever the server was asked anything, and often. */
  until = <Value>(
    condition: () => Value | undefined | null | false,
    what = 'the condition',
    timeoutMs = 8_000,
  ): Promise<Value> =>
    new Promise((resolve, reject) => {
      const finish = () => {
        clearTimeout(timer);
        clearInterval(often);
        this.#happened.off('change', look);
      };
      const look = () => {
        const value = condition();
        if (value === undefined || value === null || value === false) return;
        finish();
        resolve(value);
      };
      const often = setInterval(look, 20);
      const timer = setTimeout(() => {
        finish();
        const refused = this.refused.map((r) => `${r.method} ${r.path}: ${r.code} ${r.reason}`).join('\n');
        reject(
          new Error(
            `Waited ${timeoutMs} ms for ${what}.\nLast requests: ${this.requests.slice(-8).join(', ')}\nRefused: ${refused || 'none'}`,
          ),
        );
      }, timeoutMs);
      this.#happened.on('change', look);
      look();
    });

  // --- Inside --------------------------------------------------------------------------------------------------

  #asker(by: By): Asker {
    return {
      user: by.user ?? this.user,
      channel: by.channel ?? this.channel,
      moderator: by.moderator ?? false,
      locale: by.locale ?? 'en-US',
    };
  }

  #declared(path: string): {
    command: RegisteredCommand;
    declared: CommandOption[];
    wrap: (options: object[]) => object[];
  } {
    const [name, ...rest] = path.split(' ');
    const command = this.commands.find((c) => (c.type ?? 1) === 1 && c.name === name);
    if (!command)
      throw new Error(
        `/${name} is not registered; there are: ${this.commands.map((c) => c.name).join(', ')}`,
      );
    let declared = (command.options ?? []) as CommandOption[];
    let wrap = (options: object[]) => options;
    for (const step of rest) {
      const nested = declared.find((o) => o.name === step && o.type <= 2);
      if (!nested) throw new Error(`/${name} has no subcommand ${step}`);
      const outer = wrap;
      wrap = (options) => outer([{ name: nested.name, type: nested.type, options }]);
      declared = nested.options ?? [];
    }
    if (declared.some((o) => o.type <= 2)) throw new Error(`/${path} needs a subcommand`);
    return { command, declared, wrap };
  }

  #interact(
    kind: InteractionKind,
    asker: Asker,
    by: By,
    data: object,
    message?: StoredMessage,
  ): InteractionHandle {
    const guild = asker.channel.guildId === null ? undefined : this.world.guilds.get(asker.channel.guildId);
    const record = this.#interactions.open({
      kind,
      channelId: asker.channel.id,
      userId: asker.user.id,
      fileLimit: by.fileLimit ?? this.world.fileLimit(asker.channel),
      userInstallOnly: by.userInstalled ?? (guild ? !guild.installed : false),
      sourceId: message?.id ?? null,
    });
    const json = interactionJson(this.world, record, asker, INTERACTION_TYPE[kind], data, message);
    if (this.interactionsUrl === undefined) {
      this.gateway.dispatch({
        event: 'INTERACTION_CREATE',
        guildId: guild?.installed ? guild.id : null,
        intents: 0,
        data: () => json,
      });
    } else {
      void this.deliver(json).then(async (response) => {
        // A body of the answer is a first response like one at the callback route.
        if (response.status !== 200) return;
        this.#interactions.respond(record.id, record.token, { json: await response.json(), files: [] });
        this.#happened.emit('change');
      });
    }
    return new InteractionHandle(record, this.world, (condition, what, timeoutMs) =>
      this.until(condition, what, timeoutMs),
    );
  }

  /** Posts a signed body to {@link interactionsUrl}, as Discord does for interactions over HTTP; tests may falsify it. */
  async deliver(
    body: object,
    { timestamp = Math.floor(this.now() / 1000), signature = undefined as string | undefined } = {},
  ): Promise<Response> {
    if (this.interactionsUrl === undefined) throw new Error('interactionsUrl is not set');
    const text = JSON.stringify(body);
    const signed =
      signature ?? sign(null, Buffer.from(`${timestamp}${text}`), this.#keys.privateKey).toString('hex');
    return await fetch(this.interactionsUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-signature-ed25519': signed,
        'x-signature-timestamp': String(timestamp),
      },
      body: text,
    });
  }

  #modalData(
    modal: Modal,
    values: Record<string, unknown>,
    asker: Asker,
  ): { components: object[]; resolved: Record<string, object> } {
    const fields = modalFields(modal);
    for (const key of Object.keys(values))
      if (!fields.some((f) => f.custom_id === key)) throw new Error(`The form has no field ${key}`);
    const resolved: Record<string, object> = {};
    const components = modal.components.map((component, index) => {
      if (component.type !== 18) return { type: 10, id: index + 1 };
      const field = component.component;
      return {
        type: 18,
        id: index + 1,
        component: {
          id: 100 + index,
          custom_id: field.custom_id,
          type: field.type,
          ...this.#fieldValue(field, values[field.custom_id], asker, resolved),
        },
      };
    });
    return { components, resolved };
  }

  #fieldValue(field: ModalField, value: unknown, asker: Asker, resolved: Record<string, object>): object {
    const wrong = (why: string) =>
      new Error(`Field ${field.custom_id}: ${why}: Discord would not send the form`);
    const needed = !('required' in field) || field.required !== false;
    switch (field.type) {
      case 4: {
        const text = value === undefined ? (field.value ?? '') : value;
        if (typeof text !== 'string') throw wrong('not text');
        if (needed && text === '') throw wrong('required');
        if (text.length > (field.max_length ?? DISCORD.textInput)) throw wrong('too long');
        if (text !== '' && text.length < (field.min_length ?? 0)) throw wrong('too short');
        return { value: text };
      }
      case 19: {
        const files = (value ?? []) as PersonFile[];
        if (needed && files.length === 0) throw wrong('required');
        const attachments = attachmentsOf(this.world, asker.channel, files);
        for (const attachment of attachments) resolved[attachment.id] = this.world.attachmentJson(attachment);
        return { values: attachments.map((a) => a.id) };
      }
      case 23:
        return { value: value ?? field.default ?? false };
      default: {
        const preset = field.options.filter((o) => o.default).map((o) => o.value);
        const chosen =
          value === undefined ? preset : Array.isArray(value) ? value.map(String) : [String(value)];
        if (needed && chosen.length === 0) throw wrong('required');
        for (const one of chosen)
          if (!field.options.some((o) => o.value === one)) throw wrong(`${one} is no choice`);
        return field.type === 21 ? { value: chosen[0] ?? null } : { values: chosen };
      }
    }
  }

  #emitMessage(event: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE' | 'MESSAGE_DELETE', message: StoredMessage): void {
    this.#happened.emit('change');
    if (message.onlyFor !== null) return;
    const channel = this.world.channel(message.channelId);
    const guild = channel.guildId === null ? undefined : this.world.guilds.get(channel.guildId);
    if ((guild && !guild.installed) || channel.type === 3 || !this.world.has(channel, 'ViewChannel')) return;
    const where = guild
      ? {
          guild_id: guild.id,
          member: { roles: [], joined_at: new Date(0).toISOString(), deaf: false, mute: false, flags: 0 },
        }
      : {};
    this.gateway.dispatch({
      event,
      guildId: guild?.id ?? null,
      intents: guild ? MESSAGE_INTENTS.guild : MESSAGE_INTENTS.direct,
      data: ({ messageContent }) =>
        event === 'MESSAGE_DELETE'
          ? { id: message.id, channel_id: channel.id, ...(guild ? { guild_id: guild.id } : {}) }
          : {
              ...this.world.messageJson(message, { content: messageContent }),
              ...where,
              channel_type: channel.type,
            },
    });
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', this.origin);
    if (url.pathname.startsWith('/attachments/')) return this.#serveFile(url, response);
    const method = request.method ?? 'GET';
    const path = url.pathname.replace(/^\/api\/v10/, '');
    const body = await readBody(request).catch((error: unknown) => ({ error }));
    this.requests.push(`${method} ${path}`);
    const fault = this.faults.intercept(method, path);
    if (fault.early !== undefined)
      this.refused.push({ method, path, status: 429, code: 0, reason: fault.early });
    const send = async (status: number, json: unknown, headers: Record<string, string> = {}) => {
      const wait = this.faults.delayFor(`${method} ${path}`);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      const type = status === 204 ? {} : { 'content-type': 'application/json' };
      response.writeHead(status, { ...type, ...fault.headers, ...headers });
      response.end(status === 204 ? undefined : JSON.stringify(json));
      this.#happened.emit('change');
    };
    if (fault.answer && !fault.afterTaking)
      return send(fault.answer.status, fault.answer.body, fault.answer.headers);
    try {
      if ('error' in body) throw body.error;
      const authorized = request.headers.authorization === `Bot ${this.gateway.token}`;
      const reply = serve(this.#context(), method, path, url.searchParams, body, authorized);
      if (fault.answer) await send(fault.answer.status, fault.answer.body);
      else await send(reply.status, reply.json);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refused.push({ method, path, status: error.status, code: error.code, reason: error.reason });
      await send(error.status, {
        message: error.message,
        code: error.code,
        ...(error.code === 50_035
          ? { errors: { _errors: [{ code: 'INVALID', message: error.reason }] } }
          : {}),
      });
    }
  }

  #serveFile(url: URL, response: ServerResponse): void {
    const attachment = this.world.attachments.get(url.pathname.split('/')[3] ?? '');
    if (!attachment) return void response.writeHead(404).end();
    response.writeHead(200, {
      'content-type': attachment.contentType,
      'content-length': attachment.bytes.length,
    });
    response.end(attachment.bytes);
  }

  #context(): RouteContext {
    return {
      world: this.world,
      interactions: this.#interactions,
      commands: this.commands,
      registrations: this.registrations,
      gatewayUrl: () => `ws://127.0.0.1:${this.port}/gateway`,
      shards: () => this.#shards,
      emit: (event, message) => this.#emitMessage(event, message),
      emitThread: (thread) =>
        this.gateway.dispatch({
          event: 'THREAD_CREATE',
          guildId: thread.guildId,
          intents: 1,
          data: () => this.world.channelJson(thread),
        }),
    };
  }
}

/** Every button of a message, in order. */
export const buttonsOf = (message: StoredMessage): Button[] =>
  [...everyComponent(message.components)].flatMap((component) => (component.type === 2 ? [component] : []));
