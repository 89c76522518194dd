/** One channel of the voice server: its DAVE group, who listens, and what was heard. */
import { DaveGroup, type DaveMember } from './dave.ts';
import { Listener } from './listener.ts';

const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);
/** Sealed frames end with it: https://daveprotocol.com/#payload-format */
const MARKER = Buffer.from([0xfa, 0xfa]);

export interface Heard {
  /** Milliseconds of a clock that is never set. */
  readonly at: number;
  readonly ssrc: number;
  readonly sequence: number;
  readonly timestamp: number;
  /** As it was in the file; undefined where no listener could open it. */
  readonly opus: Buffer | undefined;
  /** It was sealed from end to end. */
  readonly isSealed: boolean;
}

interface Packet extends Pick<Heard, 'ssrc' | 'sequence' | 'timestamp'> {
  readonly from: string;
  readonly sealed: Buffer;
}

export class Call {
  readonly group: DaveGroup;
  /** Everything that came, in order. */
  readonly packets: Heard[] = [];
  /** Each change between speaking and silence, as the client told it. */
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

  /** Somebody joins who opens what is sent. */
  listen(id: string): Listener {
    // Clients are told who is there before the group changes.
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

  /** Packets of sound that were opened, without silence. */
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

  spoke(is: boolean): void {
    this.speaking.push({ at: performance.now(), is });
    this.#changed();
  }

  hear({ from, sealed, ssrc, sequence, timestamp }: Packet): void {
    const isSealed = sealed.subarray(-2).equals(MARKER);
    const [first, ...others] = this.#listeners.filter(({ isReady }) => isReady);
    const opus = isSealed ? first?.open(from, sealed) : sealed;
    for (const other of others) if (isSealed) other.open(from, sealed);
    this.packets.push({ at: performance.now(), ssrc, sequence, timestamp, opus, isSealed });
    this.#changed();
  }
}
