import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import type { Channel, Guild } from './types.ts';
import type { World } from './world.ts';

const OP = Object.freeze({
  dispatch: 0,
  heartbeat: 1,
  identify: 2,
  presence: 3,
  voice: 4,
  resume: 6,
  reconnect: 7,
  members: 8,
  invalid: 9,
  hello: 10,
  ack: 11,
});
const INTENT = Object.freeze({
  guilds: 1 << 0,
  members: 1 << 1,
  presences: 1 << 8,
  voiceStates: 1 << 7,
  guildMessages: 1 << 9,
  directMessages: 1 << 12,
  messageContent: 1 << 15,
});
const PRIVILEGED = INTENT.members | INTENT.presences | INTENT.messageContent;

const frameSchema = z.object({ op: z.int(), d: z.unknown().optional() });
const identifySchema = z.object({
  token: z.string(),
  intents: z.int().min(0),
  properties: z.record(z.string(), z.unknown()),
  shard: z.tuple([z.int(), z.int()]).optional(),
});
const resumeSchema = z.object({ token: z.string(), session_id: z.string(), seq: z.int() });

const voiceSchema = z.object({
  guild_id: z.string(),
  channel_id: z.string().nullable(),
  self_mute: z.boolean(),
  self_deaf: z.boolean(),
});

interface Session {
  id: string;
  shard: readonly [number, number];
  intents: number;
  sequence: number;
  events: { s: number; frame: string }[];
  socket: WebSocket | undefined;
}

/** An event, with the shard and intents that decide who receives it. */
export interface Dispatch {
  event: string;
  guildId: string | null;
  /** Intent bits. A client needs at least one of them. 0 for events that are always sent. */
  intents: number;
  data: (session: { messageContent: boolean }) => object;
}

/** Discord's WebSocket gateway: hello, identify, ready, resume, heartbeats, shards and intents. */
export class Gateway {
  /** Privileged intents turned on in the developer portal. Others close the connection with 4014. */
  privilegedIntents = 0;
  /** Refuses every connection. */
  away = false;
  /** Delays the hello to clients. */
  helloAfterMs = 0;
  /** Withholds guilds after identify, as when Discord is slow; {@link sendGuilds} sends them. */
  holdsGuilds = false;
  /** Rejects any shard that a client names. */
  refuseShards = false;
  token: string;
  identifies = 0;
  resumes = 0;
  /** Called for each opcode 4: a client joins a voice channel, moves or leaves. */
  onVoice: (change: z.infer<typeof voiceSchema>) => void = () => {};
  /** Close codes caused by the client. */
  readonly closed: { code: number; reason: string }[] = [];
  #meanwhile: (() => void) | undefined;
  readonly #sessions = new Map<string, Session>();
  readonly #server = new WebSocketServer({ noServer: true, maxPayload: 4_096 });
  readonly #world: World;
  readonly #url: () => string;

  constructor(world: World, token: string, url: () => string) {
    this.#world = world;
    this.token = token;
    this.#url = url;
    this.#server.on('connection', (socket) => this.#connected(socket));
  }

  /** Handles an HTTP upgrade. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    if (this.away) return void socket.destroy();
    const query = new URL(request.url ?? '/', 'http://gateway').searchParams;
    this.#server.handleUpgrade(request, socket, head, (ws) => {
      if (query.get('v') !== '10' || query.get('encoding') !== 'json')
        this.#close(ws, 4012, 'v=10 and encoding=json are needed');
      else this.#server.emit('connection', ws, request);
    });
  }

  get connected(): number {
    return this.shards.length;
  }

  /** The shards of all open sessions, in order. */
  get shards(): number[] {
    const connected = [...this.#sessions.values()].filter(({ socket }) => socket);
    return connected.map(({ shard: [shard] }) => shard).sort((one, other) => one - other);
  }

  /** Calls `meanwhile` between creating and sending the next event, for example to advance a clock. */
  hold(meanwhile: () => void): void {
    this.#meanwhile = meanwhile;
  }

  dispatch({ event, guildId, intents, data }: Dispatch): void {
    const meanwhile = this.#meanwhile;
    this.#meanwhile = undefined;
    meanwhile?.();
    for (const session of this.#sessions.values()) {
      const [shard, of] = session.shard;
      const isReceiver =
        guildId === null ? shard === 0 : Number((BigInt(guildId) >> 22n) % BigInt(of)) === shard;
      if (!isReceiver || (intents !== 0 && (session.intents & intents) === 0)) continue;
      this.#send(session, event, data({ messageContent: (session.intents & INTENT.messageContent) !== 0 }));
    }
  }

  /** Resends the newest interaction, as to a process that resumes a crashed one's session. */
  repeatInteraction(): void {
    for (const { socket, events } of this.#sessions.values()) {
      const last = events.findLast(({ frame }) => frame.includes('"INTERACTION_CREATE"'));
      if (last) socket?.send(last.frame);
    }
  }

  /** Drops every connection without a close frame. Sessions can be resumed. */
  drop(): void {
    for (const session of this.#sessions.values()) {
      session.socket?.terminate();
      session.socket = undefined;
    }
  }

  /** Ends every session, so that clients have to identify again. */
  invalidate(): void {
    for (const session of this.#sessions.values()) {
      session.socket?.send(JSON.stringify({ op: OP.invalid, d: false }));
    }
    this.#sessions.clear();
  }

  /** Asks every client to reconnect and resume. */
  reconnect(): void {
    for (const session of this.#sessions.values())
      session.socket?.send(JSON.stringify({ op: OP.reconnect, d: null }));
  }

  /** Announces a channel created after clients connected. */
  announce(channel: Channel): void {
    this.dispatch({
      event: 'CHANNEL_CREATE',
      guildId: channel.guildId,
      intents: INTENT.guilds,
      data: () => this.#world.channelJson(channel),
    });
  }

  /** Removes the bot from a guild. */
  expel(guild: Guild): void {
    guild.installed = false;
    this.dispatch({
      event: 'GUILD_DELETE',
      guildId: guild.id,
      intents: INTENT.guilds,
      data: () => ({ id: guild.id }),
    });
  }

  /** Makes the guild unavailable until {@link endOutage}, and empties its voice channels. */
  beginOutage(guild: Guild): void {
    this.dispatch({
      event: 'GUILD_DELETE',
      guildId: guild.id,
      intents: INTENT.guilds,
      data: () => ({ id: guild.id, unavailable: true }),
    });
  }

  endOutage(guild: Guild): void {
    this.dispatch({
      event: 'GUILD_CREATE',
      guildId: guild.id,
      intents: INTENT.guilds,
      data: () => this.#world.guildJson(guild),
    });
  }

  /** Closes every connection with 4004, as after a token reset. */
  revoke(): void {
    this.token = `revoked ${this.#world.nextId()}`;
    for (const session of this.#sessions.values()) session.socket?.close(4004, 'Authentication failed.');
    this.#sessions.clear();
  }

  close(): void {
    for (const client of this.#server.clients) client.terminate();
    this.#server.close();
  }

  #connected(socket: WebSocket): void {
    let session: Session | undefined;
    const hello = () => socket.send(JSON.stringify({ op: OP.hello, d: { heartbeat_interval: 41_250 } }));
    if (this.helloAfterMs > 0) setTimeout(hello, this.helloAfterMs).unref();
    else hello();
    socket.on('error', () => {});
    socket.on('close', (code) => {
      if (session?.socket !== socket) return;
      session.socket = undefined;
      // https://docs.discord.com/developers/events/gateway#disconnecting: these two end the session.
      if (code === 1000 || code === 1001) this.#sessions.delete(session.id);
    });
    socket.on('message', (data) => {
      const frame = frameSchema.safeParse(safeJson(String(data)));
      if (!frame.success) return this.#close(socket, 4002, 'Error while decoding payload.');
      const { op, d } = frame.data;
      if (op === OP.heartbeat) return socket.send(JSON.stringify({ op: OP.ack }));
      if (op === OP.identify) {
        if (session) return this.#close(socket, 4005, 'Already authenticated.');
        session = this.#identify(socket, d);
        return;
      }
      if (op === OP.resume) {
        session = this.#resume(socket, d);
        return;
      }
      if (!session) return this.#close(socket, 4003, 'Not authenticated.');
      if (op === OP.voice) {
        const change = voiceSchema.safeParse(d);
        if (!change.success) return this.#close(socket, 4002, 'Error while decoding payload.');
        return void this.onVoice(change.data);
      }
      if (op !== OP.presence && op !== OP.members) this.#close(socket, 4001, 'Unknown opcode.');
    });
  }

  #identify(socket: WebSocket, data: unknown): Session | undefined {
    this.identifies += 1;
    const identify = identifySchema.safeParse(data);
    if (!identify.success) return this.#close(socket, 4002, 'Error while decoding payload.');
    const { token, intents, shard = [0, 1] } = identify.data;
    if (token !== this.token) return this.#close(socket, 4004, 'Authentication failed.');
    if (shard[0] < 0 || shard[0] >= shard[1] || (this.refuseShards && shard[1] > 1))
      return this.#close(socket, 4010, 'Invalid shard.');
    if (intents & PRIVILEGED & ~this.privilegedIntents)
      return this.#close(socket, 4014, 'Disallowed intent(s).');
    const session: Session = { id: this.#world.nextId(), shard, intents, sequence: 0, events: [], socket };
    this.#sessions.set(session.id, session);
    this.#send(session, 'READY', {
      v: 10,
      user: this.#world.bot,
      guilds: this.#guildsOf(session).map((guild) => ({ id: guild.id, unavailable: true })),
      session_id: session.id,
      resume_gateway_url: this.#url(),
      shard,
      application: { id: this.#world.bot.id, flags: 0 },
    });
    if (!this.holdsGuilds) this.#sendGuilds(session);
    return session;
  }

  sendGuilds(): void {
    this.holdsGuilds = false;
    for (const session of this.#sessions.values()) this.#sendGuilds(session);
  }

  #guildsOf({ shard }: Pick<Session, 'shard'>): Guild[] {
    return [...this.#world.guilds.values()].filter(
      (guild) => guild.installed && Number((BigInt(guild.id) >> 22n) % BigInt(shard[1])) === shard[0],
    );
  }

  #sendGuilds(session: Session): void {
    if ((session.intents & INTENT.guilds) === 0) return;
    for (const guild of this.#guildsOf(session))
      this.#send(session, 'GUILD_CREATE', this.#world.guildJson(guild));
  }

  #resume(socket: WebSocket, data: unknown): Session | undefined {
    this.resumes += 1;
    const resume = resumeSchema.safeParse(data);
    if (!resume.success) return this.#close(socket, 4002, 'Error while decoding payload.');
    if (resume.data.token !== this.token) return this.#close(socket, 4004, 'Authentication failed.');
    const session = this.#sessions.get(resume.data.session_id);
    if (!session || resume.data.seq > session.sequence) {
      socket.send(JSON.stringify({ op: OP.invalid, d: false }));
      return undefined;
    }
    session.socket = socket;
    for (const event of session.events) if (event.s > resume.data.seq) socket.send(event.frame);
    this.#send(session, 'RESUMED', {});
    return session;
  }

  #send(session: Session, event: string, d: object): void {
    session.sequence += 1;
    const frame = JSON.stringify({ op: OP.dispatch, t: event, s: session.sequence, d });
    session.events.push({ s: session.sequence, frame });
    session.socket?.send(frame);
  }

  #close(socket: WebSocket, code: number, reason: string): undefined {
    this.closed.push({ code, reason });
    socket.close(code, reason);
    return undefined;
  }
}

function safeJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const MESSAGE_INTENTS = Object.freeze({ guild: INTENT.guildMessages, direct: INTENT.directMessages });
export const VOICE_INTENT = INTENT.voiceStates;
