import { type Condition, untilChanged } from '../until.ts';
import { interactionJson, type Requester } from './events.ts';
import { Faults } from './faults.ts';
import { Gateway, MESSAGE_INTENTS } from './gateway.ts';
import { InteractionHandle } from './handle.ts';
import { HttpSide, type RefusedRequest } from './http.ts';
import { type InteractionKind, Interactions } from './interactions.ts';
import { DISCORD } from './limits.ts';
import { type Actor, People } from './people.ts';
import type { RouteContext } from './routes.ts';
import type { Channel, Guild, StoredMessage, User } from './types.ts';
import { VoiceStates } from './voice.ts';
import { World } from './world.ts';

export interface DiscordOptions {
  /** The clock for tokens, deadlines and nonces, in milliseconds since 1970. Default: the real clock plus {@link DiscordServer.advance}. */
  now?: () => number;
  /** The deadline for first responses, in milliseconds. Default: 3000. */
  responseDeadlineMs?: number;
  /** Privileged intents turned on in the developer portal, as bits. Default: 0. */
  privilegedIntents?: number;
  /** The number of shards that `GET /gateway/bot` recommends. Default: 1. */
  shards?: number;
}

/** https://docs.discord.com/developers/events/gateway#gateway-intents, and the matching application flag. */
const MESSAGE_CONTENT_INTENT = 1 << 15;
const MESSAGE_CONTENT_FLAG = 1 << 19;

const INTERACTION_TYPE = { command: 2, component: 3, autocomplete: 4, modal: 5 } as const satisfies Record<
  InteractionKind,
  number
>;

/** For examples, see index.ts. */
export class DiscordServer extends People {
  readonly token = 'bG9jYWwtZGlzY29yZC1ib3Q.GxYzAb.not-a-real-token-only-for-tests';
  readonly world: World;
  readonly gateway: Gateway;
  readonly voice: VoiceStates;
  readonly faults = new Faults();
  readonly registrations = { count: 0 };
  /** The initial person, guild with the bot, and text channel. */
  readonly user: User;
  readonly guild: Guild;
  readonly channel: Channel;
  /** The bot's permissions in its list of guilds, as bits. Default: administrator. */
  rolePermissions = 8n;
  /** The application's “Interactions Endpoint URL” in the developer portal. */
  interactionsUrl: string | undefined;
  /** How people install the application, as last set by the bot. */
  installation: Parameters<RouteContext['setInstallation']>[0] | undefined;
  readonly #interactions: Interactions;
  readonly #http: HttpSide;
  #ahead = 0;
  readonly #shards: number;

  constructor(options: DiscordOptions) {
    super();
    this.#shards = options.shards ?? 1;
    const now = () => (options.now?.() ?? Date.now()) + this.#ahead;
    this.world = new World(now, () => this.origin);
    this.#interactions = new Interactions(
      this.world,
      options.responseDeadlineMs ?? DISCORD.responseDeadlineMs,
    );
    this.gateway = new Gateway(this.world, this.token, () => `ws://127.0.0.1:${this.port}/gateway`);
    this.gateway.privilegedIntents = options.privilegedIntents ?? 0;
    this.voice = new VoiceStates(this.world, this.gateway);
    this.user = this.world.addUser('Ada');
    this.guild = this.world.addGuild('Guild');
    this.channel = this.world.addChannel('music', { guildId: this.guild.id });
    const context = this.#context();
    const parts = { world: this.world, gateway: this.gateway, faults: this.faults, context };
    this.#http = new HttpSide(() => parts);
  }

  async listen(): Promise<this> {
    await this.#http.listen();
    return this;
  }

  async close(): Promise<void> {
    this.gateway.close();
    await this.#http.close();
  }

  /** Requests that Discord would refuse, and those before Retry-After is over. Reads of missing responses are allowed. */
  get refused(): RefusedRequest[] {
    return this.#http.refused;
  }

  /** Every REST request, as `METHOD /path` without `/api/v10`. */
  get requests(): string[] {
    return this.#http.requests;
  }

  get port(): number {
    return this.#http.port;
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

  now(): number {
    return this.world.now();
  }

  /** Moves the server's clock forward, such as past a token's 15 minutes. */
  advance(milliseconds: number): void {
    this.#ahead += milliseconds;
  }

  // --- Visible messages ----------------------------------------------------------------------------------------

  /** Returns a channel's messages without deleted ones, oldest first. Ephemeral ones have `onlyFor`. */
  messages(channel: Channel = this.channel): StoredMessage[] {
    return this.world.messagesIn(channel.id);
  }

  /** Returns the bot's messages in a channel. */
  botMessages(channel: Channel = this.channel): StoredMessage[] {
    return this.messages(channel).filter((message) => message.author.id === this.world.bot.id);
  }

  /** Resolves with the condition's first truthy value. @param what names the condition in errors */
  until = <Value>(condition: Condition<Value>, what = 'the condition'): Promise<Value> =>
    untilChanged(condition, {
      emitter: this.#http.happened,
      event: 'change',
      explain: () => {
        const refused = this.refused.map((r) => `${r.method} ${r.path}: ${r.code} ${r.reason}`).join('\n');
        return `Timed out waiting for ${what}.\nLast requests: ${this.requests.slice(-8).join(', ')}\nRefused: ${refused || 'none'}`;
      },
    });

  // --- Internal --------------------------------------------------------------------------------------------------

  protected override interact(
    kind: InteractionKind,
    asker: Requester,
    by: Actor,
    data: object,
    message?: StoredMessage,
  ): InteractionHandle {
    const guild = asker.channel.guildId === null ? undefined : this.world.guilds.get(asker.channel.guildId);
    const record = this.#interactions.open({
      kind,
      channelId: asker.channel.id,
      userId: asker.user.id,
      fileLimit: by.fileLimit ?? this.world.fileLimit(asker.channel),
      userInstallOnly: by.userInstalled ?? (guild ? !guild.installed : asker.channel.type === 3),
      sourceId: message?.id ?? null,
    });
    const json = interactionJson(this.world, record, asker, INTERACTION_TYPE[kind], data, message);
    this.gateway.dispatch({
      event: 'INTERACTION_CREATE',
      guildId: guild?.installed ? guild.id : null,
      intents: 0,
      data: () => json,
    });
    return new InteractionHandle(record, this.world, this.until);
  }

  protected override emitMessage(
    event: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE' | 'MESSAGE_DELETE',
    message: StoredMessage,
  ): void {
    this.#http.happened.emit('change');
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

  #context(): RouteContext {
    return {
      world: this.world,
      interactions: this.#interactions,
      commands: this.commands,
      registrations: this.registrations,
      gatewayUrl: () => `ws://127.0.0.1:${this.port}/gateway`,
      shards: () => this.#shards,
      portal: () => ({
        flags: this.gateway.privilegedIntents & MESSAGE_CONTENT_INTENT ? MESSAGE_CONTENT_FLAG : 0,
        interactionsUrl: this.interactionsUrl,
      }),
      setInstallation: (installation) => {
        this.installation = installation;
      },
      rolePermissions: () => this.rolePermissions,
      emit: (event, message) => this.emitMessage(event, message),
      speak: (guildId) => this.voice.speak(guildId),
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
