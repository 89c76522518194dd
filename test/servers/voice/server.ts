/**
 * A strict local voice server: gateway v8 over TLS, UDP encrypted with AES-256-GCM, and DAVE. The real @discordjs/voice sends
 * here, and listeners decrypt its packets.
 *
 * ```ts
 * const voice = await startVoiceServer();
 * const call = voice.call(channel.id);                 // members and received packets
 * voice.admit({ guild, channel, user, session, token });   // the main gateway's data for a client
 * const ear = call.listen('42');
 * call.decrypted;                                        // packets in order, decrypted by the first listener that could
 * ```
 *
 * Faults: `voice.away` (nothing answers), `voice.blocksUdp` (a firewall), `voice.drop()`, `voice.closeAll(4014)`,
 * `voice.loses = 10` (every tenth packet), `voice.latencyMs = 80` (each way), `call.group.recreate()` (a new DAVE group).
 * `voice.mistakes` lists a client's mistakes, `call.unencrypted` counts packets that should have been encrypted.
 */
import { createDecipheriv, randomBytes } from 'node:crypto';
import { createSocket, type RemoteInfo, type Socket } from 'node:dgram';
import { EventEmitter, once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { type Condition, untilChanged } from '../until.ts';
import { Call } from './call.ts';
import { CERTIFICATE, PRIVATE_KEY } from './certificate.ts';
import type { DaveMember } from './dave.ts';

const MODE = 'aead_aes256_gcm_rtpsize';
const PAYLOAD_TYPE = 0x78;
const RTP_HEADER = 12;
const TAG = 16;
const NONCE = 4;
const DISCOVERY = 74;

const OP = {
  identify: 0,
  selectProtocol: 1,
  ready: 2,
  heartbeat: 3,
  sessionDescription: 4,
  speaking: 5,
  heartbeatAck: 6,
  resume: 7,
  hello: 8,
  resumed: 9,
  clientsConnect: 11,
  clientDisconnect: 13,
  prepareTransition: 21,
  executeTransition: 22,
  transitionReady: 23,
  prepareEpoch: 24,
  externalSender: 25,
  keyPackage: 26,
  proposals: 27,
  commitWelcome: 28,
  announceCommit: 29,
  welcome: 30,
} as const;

const frameSchema = z.object({ op: z.int(), d: z.unknown() });
const identifySchema = z.object({
  server_id: z.string(),
  user_id: z.string(),
  session_id: z.string(),
  token: z.string(),
  max_dave_protocol_version: z.int().default(0),
});
const selectSchema = z.object({
  protocol: z.literal('udp'),
  data: z.object({ address: z.string(), port: z.int(), mode: z.literal(MODE) }),
});
const resumeSchema = z.object({ session_id: z.string(), token: z.string(), seq_ack: z.int() });
const heartbeatSchema = z.object({ t: z.number(), seq_ack: z.int() });
const transitionSchema = z.object({ transition_id: z.int() });

/** The main gateway's data for a client, which admits it to a channel. */
export interface Admission {
  readonly guild: string;
  readonly channel: string;
  readonly user: string;
  readonly session: string;
  readonly token: string;
}

interface Client extends DaveMember {
  readonly admission: Admission;
  readonly ssrc: number;
  readonly key: Buffer;
  readonly call: Call;
  socket: WebSocket | undefined;
  /** Numbered messages to resend when a session is resumed. */
  readonly sent: { readonly seq: number; readonly frame: string | Buffer }[];
  seq: number;
  lastNonce: number;
}

export class VoiceServer {
  /** Refuses connections and drops packets. */
  away = false;
  /** Drops UDP like a firewall, so that handshakes never complete. */
  blocksUdp = false;
  /** Delays everything in both directions. */
  latencyMs = 0;
  /** Loses every nth packet; 0 loses none. */
  loses = 0;
  /** The close code for each client that identifies. */
  refusesWith: number | undefined;
  /** Actions of clients that a real server would refuse. */
  readonly mistakes: string[] = [];
  identifies = 0;
  resumes = 0;
  readonly #happened = new EventEmitter();
  readonly #server: Server;
  readonly #sockets = new WebSocketServer({ noServer: true });
  readonly #udp: Socket = createSocket('udp4');
  readonly #admitted = new Map<string, Admission>();
  readonly #clients = new Map<number, Client>();
  readonly #calls = new Map<string, Call>();
  #packets = 0;

  constructor() {
    this.#server = createServer({ cert: CERTIFICATE, key: PRIVATE_KEY });
    this.#server.on('connection', (socket) => {
      if (this.away) socket.destroy();
    });
    this.#server.on('upgrade', (request, socket, head) => {
      this.#sockets.handleUpgrade(request, socket, head, (ws) => {
        if (request.url === '/?v=8') this.#connected(ws);
        else ws.close(4012, 'v=8 is needed');
      });
    });
    this.#udp.on('message', (message, from) => this.#later(() => this.#datagram(message, from)));
  }

  async listen(): Promise<this> {
    this.#server.listen(0, '127.0.0.1');
    this.#udp.bind(0, '127.0.0.1');
    await Promise.all([once(this.#server, 'listening'), once(this.#udp, 'listening')]);
    return this;
  }

  async close(): Promise<void> {
    for (const client of this.#sockets.clients) client.terminate();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    await new Promise<void>((resolve) => this.#udp.close(() => resolve()));
  }

  /** The endpoint in VOICE_SERVER_UPDATE. */
  get endpoint(): string {
    return `localhost:${(this.#server.address() as AddressInfo).port}`;
  }

  admit(admission: Admission): void {
    this.#admitted.set(admission.token, admission);
  }

  /** Returns the call in a channel, with all packets received there. */
  call(channel: string): Call {
    const existing = this.#calls.get(channel);
    if (existing) return existing;
    const call = new Call(channel, () => this.#happened.emit('change'));
    call.onPeople = (id, isThere) =>
      this.#tellAll(
        call,
        isThere
          ? { op: OP.clientsConnect, d: { user_ids: [id] } }
          : { op: OP.clientDisconnect, d: { user_id: id } },
      );
    this.#calls.set(channel, call);
    return call;
  }

  until = <Value>(condition: Condition<Value>, what = 'the condition'): Promise<Value> =>
    untilChanged(condition, {
      emitter: this.#happened,
      event: 'change',
      explain: () => `Waited for ${what}. Mistakes: ${this.mistakes.join('; ') || 'none'}`,
    });

  /** Drops every connection without a close frame. Sessions can be resumed. */
  drop(): void {
    for (const socket of this.#sockets.clients) socket.terminate();
  }

  /** Closes every connection with a code. Except for 4015, this ends the sessions. */
  closeAll(code: number): void {
    for (const client of this.#clients.values()) {
      if (code !== 4015) this.#end(client);
      client.socket?.close(code);
    }
  }

  /** Keeps the order. */
  #later(then: () => void): void {
    if (this.latencyMs === 0) then();
    else setTimeout(then, this.latencyMs);
  }

  #send(socket: WebSocket | undefined, frame: string | Buffer): void {
    this.#later(() => socket?.send(frame));
  }

  #end(client: Client): void {
    this.#clients.delete(client.ssrc);
    client.call.depart(client);
  }

  #connected(socket: WebSocket): void {
    let client: Client | undefined;
    this.#send(socket, JSON.stringify({ op: OP.hello, d: { v: 8, heartbeat_interval: 13_750 } }));
    socket.on('error', () => {});
    socket.on('close', (code) => {
      if (client?.socket !== socket) return;
      client.socket = undefined;
      // 1006 is a dropped connection: the session can be resumed.
      if (code === 1000 || code === 1005) this.#end(client);
    });
    const fail = (code: number, reason: string): undefined => {
      this.mistakes.push(`${code}: ${reason}`);
      socket.close(code, reason);
    };
    const receive = (data: Buffer, isBinary: boolean) => {
      if (isBinary) {
        if (client) this.#binary(client, data);
        else fail(4003, 'Not authenticated');
        return;
      }
      const { data: frame } = frameSchema.safeParse(JSON.parse(data.toString()));
      if (!frame) return fail(4002, 'Failed to decode');
      const { op, d } = frame;
      if (op === OP.heartbeat) {
        const heartbeat = heartbeatSchema.safeParse(d);
        if (!heartbeat.success) return fail(4002, 'A heartbeat without t and seq_ack');
        return this.#send(socket, JSON.stringify({ op: OP.heartbeatAck, d: { t: heartbeat.data.t } }));
      }
      if (op === OP.identify) {
        if (client) return fail(4005, 'Already authenticated');
        client = this.#identify(socket, d, fail);
      } else if (op === OP.resume) client = this.#resume(socket, d, fail);
      else if (!client) fail(4003, 'Not authenticated');
      else if (op === OP.selectProtocol) this.#selected(client, d, fail);
      else if (op === OP.transitionReady) {
        const { data: ready } = transitionSchema.safeParse(d);
        if (ready) client.call.group.ready(client, ready.transition_id);
      } else if (op === OP.speaking) client.call.spoke(z.object({ speaking: z.int() }).parse(d).speaking > 0);
      else this.mistakes.push(`opcode ${op}`);
    };
    socket.on('message', (data: Buffer, isBinary) => this.#later(() => receive(data, isBinary)));
  }

  #identify(socket: WebSocket, data: unknown, fail: (code: number, reason: string) => undefined) {
    this.identifies += 1;
    const { data: identify } = identifySchema.safeParse(data);
    const admission = identify && this.#admitted.get(identify.token);
    if (this.refusesWith !== undefined) return void socket.close(this.refusesWith);
    if (!admission) return fail(4004, 'Authentication failed');
    if (identify.session_id !== admission.session || identify.user_id !== admission.user)
      return fail(4006, 'Session no longer valid');
    if (identify.max_dave_protocol_version < 1) return fail(4017, 'E2EE/DAVE protocol required');
    for (const other of [...this.#clients.values()])
      if (other.admission.user === admission.user && other.admission.guild === admission.guild)
        this.#end(other);
    const client = this.#clientOf(socket, admission);
    this.#clients.set(client.ssrc, client);
    const { port } = this.#udp.address();
    this.#tell(client, {
      op: OP.ready,
      d: { ssrc: client.ssrc, ip: '127.0.0.1', port, modes: [MODE, 'aead_xchacha20_poly1305_rtpsize'] },
    });
    return client;
  }

  #clientOf(socket: WebSocket, admission: Admission): Client {
    const sendBinary = (op: number, ...parts: Buffer[]) => {
      client.seq += 1;
      const head = Buffer.from([client.seq >> 8, client.seq & 0xff, op]);
      const frame = Buffer.concat([head, ...parts]);
      client.sent.push({ seq: client.seq, frame });
      this.#send(client.socket, frame);
    };
    const transitionOf = (id: number) => Buffer.from([id >> 8, id & 0xff]);
    const client: Client = {
      id: admission.user,
      admission,
      ssrc: randomBytes(4).readUInt32BE(),
      key: randomBytes(32),
      call: this.call(admission.channel),
      socket,
      sent: [],
      seq: 0,
      lastNonce: 0,
      proposals: (payload) => sendBinary(OP.proposals, payload),
      commit: (id, commit) => sendBinary(OP.announceCommit, transitionOf(id), commit),
      welcome: (id, welcome) => sendBinary(OP.welcome, transitionOf(id), welcome),
      prepareEpoch: () => this.#tell(client, { op: OP.prepareEpoch, d: { protocol_version: 1, epoch: 1 } }),
      prepareTransition: () =>
        this.#tell(client, { op: OP.prepareTransition, d: { protocol_version: 1, transition_id: 0 } }),
      execute: (id) => this.#tell(client, { op: OP.executeTransition, d: { transition_id: id } }),
    };
    return client;
  }

  #selected(client: Client, data: unknown, fail: (code: number, reason: string) => undefined): void {
    if (!selectSchema.safeParse(data).success) return void fail(4016, 'Unknown protocol or encryption mode');
    this.#tell(client, {
      op: OP.sessionDescription,
      d: { mode: MODE, secret_key: [...client.key], dave_protocol_version: client.call.daveVersion },
    });
    this.#tell(client, { op: OP.clientsConnect, d: { user_ids: client.call.listenerIds } });
    client.call.arrive(client.id);
    if (client.call.daveVersion === 0) return;
    const { externalSender } = client.call.group;
    client.seq += 1;
    const frame = Buffer.concat([
      Buffer.from([client.seq >> 8, client.seq & 0xff, OP.externalSender]),
      externalSender,
    ]);
    client.sent.push({ seq: client.seq, frame });
    this.#send(client.socket, frame);
  }

  #resume(socket: WebSocket, data: unknown, fail: (code: number, reason: string) => undefined) {
    this.resumes += 1;
    const { data: resume } = resumeSchema.safeParse(data);
    const client = [...this.#clients.values()].find(
      ({ admission }) => admission.token === resume?.token && admission.session === resume.session_id,
    );
    if (!client || !resume) return fail(4006, 'Session no longer valid');
    client.socket = socket;
    for (const { seq, frame } of client.sent) if (seq > resume.seq_ack) this.#send(socket, frame);
    this.#send(socket, JSON.stringify({ op: OP.resumed, d: null }));
    return client;
  }

  #binary(client: Client, data: Buffer): void {
    const payload = data.subarray(1);
    switch (data.readUInt8(0)) {
      case OP.keyPackage:
        return void client.call.group.join(client, payload);
      case OP.commitWelcome:
        return void client.call.group.commit(client, payload);
      default:
        this.mistakes.push(`binary opcode ${data.readUInt8(0)}`);
    }
  }

  #tell(client: Client, frame: { readonly op: number; readonly d: unknown }): void {
    client.seq += 1;
    const text = JSON.stringify({ ...frame, seq: client.seq });
    client.sent.push({ seq: client.seq, frame: text });
    this.#send(client.socket, text);
  }

  #tellAll(call: Call, frame: { readonly op: number; readonly d: unknown }): void {
    for (const client of this.#clients.values()) if (client.call === call) this.#tell(client, frame);
  }

  #datagram(message: Buffer, from: RemoteInfo): void {
    if (this.away || this.blocksUdp) return;
    if (message.length === 8) return; // A keep-alive.
    if (message.length === DISCOVERY && message.readUInt16BE(0) === 1) {
      const answer = Buffer.alloc(DISCOVERY);
      answer.writeUInt16BE(2, 0);
      answer.writeUInt16BE(70, 2);
      answer.writeUInt32BE(message.readUInt32BE(4), 4);
      answer.write(from.address, 8);
      answer.writeUInt16BE(from.port, 72);
      this.#later(() => this.#udp.send(answer, from.port, from.address));
      return;
    }
    this.#packets += 1;
    if (this.loses > 0 && this.#packets % this.loses === 0) return;
    this.#sound(message);
  }

  #sound(message: Buffer): void {
    const client =
      message.length > RTP_HEADER + TAG + NONCE ? this.#clients.get(message.readUInt32BE(8)) : undefined;
    if (!client) return;
    if (message.readUInt8(0) !== 0x80 || message.readUInt8(1) !== PAYLOAD_TYPE)
      return void this.mistakes.push('a packet with a wrong payload type');
    const nonce = Buffer.alloc(12);
    message.copy(nonce, 0, message.length - NONCE);
    if (nonce.readUInt32BE(0) <= client.lastNonce) this.mistakes.push('a reused nonce');
    client.lastNonce = nonce.readUInt32BE(0);
    const decipher = createDecipheriv('aes-256-gcm', client.key, nonce);
    decipher.setAAD(message.subarray(0, RTP_HEADER));
    decipher.setAuthTag(message.subarray(message.length - NONCE - TAG, message.length - NONCE));
    try {
      const sealed = Buffer.concat([
        decipher.update(message.subarray(RTP_HEADER, message.length - NONCE - TAG)),
        decipher.final(),
      ]);
      const [sequence, timestamp] = [message.readUInt16BE(2), message.readUInt32BE(4)];
      client.call.hear({ from: client.id, ssrc: client.ssrc, sequence, timestamp, sealed });
    } catch {
      this.mistakes.push('a packet that cannot be decrypted');
    }
  }
}

export async function startVoiceServer(): Promise<VoiceServer> {
  return await new VoiceServer().listen();
}
