/** A person's client in a voice channel: a DAVE member that opens what the bot sends. */
import Davey from '@snazzah/davey';
import type { DaveGroup, DaveMember } from './dave.ts';

/** `MediaType.AUDIO`, which as a constant of types alone is not there at run time. */
const AUDIO = 0;
const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);

export class Listener implements DaveMember {
  readonly id: string;
  /** What could not be opened. */
  failures = 0;
  readonly #group: DaveGroup;
  readonly #session: Davey.DAVESession;

  constructor(id: string, channel: string, group: DaveGroup) {
    this.id = id;
    this.#group = group;
    this.#session = new Davey.DAVESession(Davey.DAVE_PROTOCOL_VERSION, id, channel);
    this.#session.setExternalSender(group.externalSender);
    group.join(this, this.#session.getSerializedKeyPackage());
  }

  get isReady(): boolean {
    return this.#session.ready;
  }

  /** The numbers that both ends see when no one is between them. */
  get privacyCode(): string {
    return this.#session.voicePrivacyCode;
  }

  /** A packet as it was before it was sealed; undefined where it does not open. */
  open(from: string, packet: Buffer): Buffer | undefined {
    if (packet.equals(SILENCE)) return packet;
    try {
      return this.#session.decrypt(from, AUDIO, packet);
    } catch {
      this.failures += 1;
      return undefined;
    }
  }

  leave(): void {
    this.#group.leave(this);
  }

  proposals(payload: Buffer): void {
    const { commit, welcome } = this.#session.processProposals(payload.readUInt8(0), payload.subarray(1));
    // The bot's own commit may be first.
    if (commit)
      setImmediate(() => this.#group.commit(this, Buffer.concat([commit, welcome ?? Buffer.alloc(0)])));
  }

  commit(transition: number, commit: Buffer): void {
    this.#session.processCommit(commit);
    this.#group.ready(this, transition);
  }

  welcome(transition: number, welcome: Buffer): void {
    this.#session.processWelcome(welcome);
    this.#group.ready(this, transition);
  }

  execute(): void {}
}
