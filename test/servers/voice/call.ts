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
  /** True if it was end-to-end encrypted. */
  readonly isSealed: boolean;
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
  get heard(): Buffer[] {
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
    const isSealed = sealed.subarray(-2).equals(MARKER);
    const [first, ...rest] = this.#listeners.filter(({ isReady }) => isReady);
    const opus = isSealed ? first?.open(from, sealed) : sealed;
    for (const other of rest) if (isSealed) other.open(from, sealed);
    this.packets.push({ at: performance.now(), ssrc, sequence, timestamp, opus, isSealed });
    this.#changed();
  }
}
