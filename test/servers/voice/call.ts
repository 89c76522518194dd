/** A channel of the voice server: its DAVE group, listeners and received packets. */
import { DaveGroup, type DaveMember } from './dave.ts';
import { Listener } from './listener.ts';

const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);
/** The end of encrypted frames: https://daveprotocol.com/#payload-format */
const MARKER = Buffer.from([0xfa, 0xfa]);

export interface ReceivedPacket {
  /** Milliseconds of a monotonic clock. */
  readonly at: number;
  readonly ssrc: number;
  readonly sequence: number;
  readonly timestamp: number;
  /** The decrypted packet; undefined if no listener could decrypt it. */
  readonly opus: Buffer | undefined;
}

interface Packet extends Pick<ReceivedPacket, 'ssrc' | 'sequence' | 'timestamp'> {
  readonly from: string;
  readonly sealed: Buffer;
}

export class Call {
  readonly group: DaveGroup;
  /** All received packets, in order. */
  readonly packets: ReceivedPacket[] = [];
  /** Each change between speaking and silence, as reported by the client. */
  readonly speaking: { readonly at: number; readonly is: boolean }[] = [];
  /** 0 for calls without end-to-end encryption, such as on stages. Applies to clients that arrive later. */
  daveVersion: 0 | 1 = 1;
  /** The number of packets, except silence, that arrived unencrypted although DAVE was negotiated. Nobody hears them. */
  unencrypted = 0;
  onPeople: (id: string, isThere: boolean) => void = () => {};
  readonly #channel: string;
  readonly #listeners: Listener[] = [];
  readonly #clients = new Set<string>();
  readonly #changed: () => void;

  constructor(channel: string, changed: () => void) {
    this.group = new DaveGroup(channel);
    this.#channel = channel;
    this.#changed = changed;
  }

  /** Adds a listener who decrypts packets. */
  listen(id: string): Listener {
    // Clients learn of the new member before the group changes.
    this.onPeople(id, true);
    const listener = new Listener(id, this.#channel, this.group);
    this.#listeners.push(listener);
    return listener;
  }

  hangUp(listener: Listener): void {
    this.#listeners.splice(this.#listeners.indexOf(listener), 1);
    listener.leave();
    this.onPeople(listener.id, false);
  }

  get listenerIds(): string[] {
    return this.#listeners.map(({ id }) => id);
  }

  /** Decrypted packets without silence. */
  get decrypted(): Buffer[] {
    return this.packets.flatMap(({ opus }) => (opus && !opus.equals(SILENCE) ? [opus] : []));
  }

  arrive(client: string): void {
    this.#clients.add(client);
    this.#changed();
  }

  depart(client: DaveMember): void {
    this.#clients.delete(client.id);
    this.group.leave(client);
    this.#changed();
  }

  spoke(isSpeaking: boolean): void {
    this.speaking.push({ at: performance.now(), is: isSpeaking });
    this.#changed();
  }

  hear({ from, sealed, ssrc, sequence, timestamp }: Packet): void {
    this.packets.push({ at: performance.now(), ssrc, sequence, timestamp, opus: this.#open(from, sealed) });
    this.#changed();
  }

  /** Listeners drop unencrypted packets, except silence: https://daveprotocol.com/#silence-packets */
  #open(from: string, packet: Buffer): Buffer | undefined {
    if (this.daveVersion === 0 || packet.equals(SILENCE)) return packet;
    if (!packet.subarray(-2).equals(MARKER)) {
      this.unencrypted += 1;
      return undefined;
    }
    const [first, ...rest] = this.#listeners.filter(({ isReady }) => isReady);
    for (const other of rest) other.open(from, packet);
    return first?.open(from, packet);
  }
}
