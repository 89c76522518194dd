/** A person's client in a voice channel: a DAVE member that decrypts the bot's packets. */
import Davey from '@snazzah/davey';
import type { DaveGroup, DaveMember } from './dave.ts';

/** `MediaType.AUDIO`, a const enum that does not exist at run time. */
const AUDIO = 0;
const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);

export class Listener implements DaveMember {
  readonly id: string;
  /** Packets that could not be decrypted. */
  failures = 0;
  readonly #channel: string;
  readonly #group: DaveGroup;
  readonly #session: Davey.DAVESession;

  constructor(id: string, channel: string, group: DaveGroup) {
    this.id = id;
    this.#channel = channel;
    this.#group = group;
    this.#session = new Davey.DAVESession(Davey.DAVE_PROTOCOL_VERSION, id, channel);
    this.#session.setExternalSender(group.externalSender);
    group.join(this, this.#session.getSerializedKeyPackage());
  }

  get isReady(): boolean {
    return this.#session.ready;
  }

  /** The verification code that both ends show if nobody intercepts the call. */
  get privacyCode(): string {
    return this.#session.voicePrivacyCode;
  }

  /** Decrypts a packet; undefined if that fails. */
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

  prepareEpoch(): void {
    this.#session.reinit(Davey.DAVE_PROTOCOL_VERSION, this.id, this.#channel);
    this.#group.join(this, this.#session.getSerializedKeyPackage());
  }

  prepareTransition(): void {}

  proposals(payload: Buffer): void {
    const { commit, welcome } = this.#session.processProposals(payload.readUInt8(0), payload.subarray(1));
    // The bot's own commit may have arrived first.
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
