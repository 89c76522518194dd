/**
 * Discord's side of DAVE: the external sender, which adds members to a channel's group and removes them.
 * https://daveprotocol.com/
 */
import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
// Imported in parts, because the whole package requires others that this suite does not need.
import type { CiphersuiteImpl } from 'ts-mls/crypto/ciphersuite.js';
import { proposeExternal } from 'ts-mls/externalProposal.js';
import { encodeExternalSender } from 'ts-mls/externalSender.js';
import type { GroupInfo } from 'ts-mls/groupInfo.js';
import { decodeMlsMessage, encodeMlsMessage } from 'ts-mls/message.js';
import type { Proposal } from 'ts-mls/proposal.js';

const SUITE = 'MLS_128_DHKEMP256_AES128GCM_SHA256_P256';
/** The header of a key package: the MLS version and the wire format. */
const KEY_PACKAGE_HEAD = Buffer.from([0, 1, 0, 5]);
const APPEND = 0;

/** A member of a channel: a client on a socket, or one in this process. */
export interface DaveMember {
  readonly id: string;
  /** The group starts again, so members send new key packages. */
  prepareEpoch(): void;
  /** The only member uses the new group at once. */
  prepareTransition(): void;
  proposals(payload: Buffer): void;
  /** Another member, or this one, changed the group. */
  commit(transition: number, commit: Buffer): void;
  welcome(transition: number, welcome: Buffer): void;
  /** All members are ready, so the new epoch's keys are used from now on. */
  execute(transition: number): void;
}

interface Proposed {
  readonly added?: DaveMember;
  readonly removed?: DaveMember;
}

/** The external sender's signing keys. */
function createKeys() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const point = Buffer.concat([Buffer.from([4]), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  return { point, privateKey };
}

/** An external sender only signs. */
function signing(privateKey: KeyObject): CiphersuiteImpl {
  const signature = { sign: async (_key: Uint8Array, data: Uint8Array) => sign('sha256', data, privateKey) };
  return { signature } as unknown as CiphersuiteImpl;
}

/** The DAVE group of one channel. */
export class DaveGroup {
  readonly #keys = createKeys();
  readonly #groupId: Buffer;
  /** Members by their leaf in the tree. Leaves of departed members are free. */
  #leaves: (DaveMember | undefined)[] = [];
  readonly #joining = new Map<DaveMember, Buffer>();
  #epoch = 0n;
  #transition = 0;
  /** Nobody is added. */
  isStuck = false;
  /** Members who left while they were being added. */
  readonly #departed = new Set<DaveMember>();
  /** The effect of the latest proposals once they are committed. */
  #proposed: Proposed | undefined;
  #ready: { readonly id: number; readonly waited: Set<DaveMember> } | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor(channel: string) {
    this.#groupId = Buffer.alloc(8);
    this.#groupId.writeBigUInt64BE(BigInt(channel));
  }

  get epoch(): number {
    return Number(this.#epoch);
  }

  get members(): string[] {
    return this.#leaves.flatMap((member) => member?.id ?? []);
  }

  /** The first message to every client. */
  get externalSender(): Buffer {
    return Buffer.from(encodeExternalSender(this.#sender));
  }

  get #sender() {
    const identity = new Uint8Array(8);
    return {
      signaturePublicKey: this.#keys.point,
      credential: { credentialType: 'basic', identity },
    } as const;
  }

  /** The first member's own group becomes the channel's. Later members are added to it. */
  join(member: DaveMember, keyPackage: Buffer): void {
    this.leave(member);
    this.#joining.set(member, keyPackage);
    this.#goOn();
  }

  leave(member: DaveMember): void {
    this.#joining.delete(member);
    if (this.#ready?.waited.delete(member)) this.#executeIfReady();
    if (this.#proposed?.added === member) this.#departed.add(member);
    if (!this.#leaves.includes(member)) return;
    if (this.#proposed?.removed === member) return;
    if (this.members.length <= 2) {
      this.#leaves[this.#leaves.indexOf(member)] = undefined;
      this.recreate();
      return;
    }
    this.#then(async () => {
      const leaf = this.#leaves.indexOf(member);
      if (leaf < 0) return;
      await this.#propose({ removed: member }, { proposalType: 'remove', remove: { removed: leaf } });
    });
  }

  /** Starts the group again with its members: https://daveprotocol.com/#sole-member-reset */
  recreate(): void {
    const { added } = this.#proposed ?? {};
    const members = [...this.#present(), ...(added && !this.#departed.delete(added) ? [added] : [])];
    this.#leaves = [];
    this.#epoch = 0n;
    this.#proposed = undefined;
    this.#ready = undefined;
    for (const member of members) member.prepareEpoch();
    if (members.length === 1) members[0]?.prepareTransition();
  }

  /** Accepts the first commit for the current proposals; later ones are too late. */
  commit(from: DaveMember, payload: Buffer): boolean {
    const proposed = this.#proposed;
    if (!proposed || !this.#leaves.includes(from)) return false;
    const [, bytes] = decodeMlsMessage(payload, 0) ?? [];
    if (bytes === undefined) throw new Error('Invalid commit');
    this.#proposed = undefined;
    const isFirst = this.#epoch === 0n;
    this.#epoch += 1n;
    const transition = isFirst ? 0 : ++this.#transition;
    const { added, removed } = proposed;
    if (removed) this.#leaves[this.#leaves.indexOf(removed)] = undefined;
    const previous = this.#present();
    if (transition > 0)
      this.#ready = { id: transition, waited: new Set([...previous, ...(added ? [added] : [])]) };
    for (const member of previous) member.commit(transition, payload.subarray(0, bytes));
    if (added) {
      const free = this.#leaves.indexOf(undefined);
      this.#leaves[free < 0 ? this.#leaves.length : free] = added;
      added.welcome(transition, payload.subarray(bytes));
    }
    if (added && this.#departed.delete(added)) this.leave(added);
    this.#goOn();
    return true;
  }

  ready(member: DaveMember, transition: number): void {
    if (this.#ready?.id !== transition) return;
    this.#ready.waited.delete(member);
    this.#executeIfReady();
  }

  #present(): DaveMember[] {
    return this.#leaves.filter((member) => member !== undefined);
  }

  #executeIfReady(): void {
    const ready = this.#ready;
    if (!ready || ready.waited.size > 0) return;
    this.#ready = undefined;
    for (const member of this.#present()) member.execute(ready.id);
    this.#goOn();
  }

  /** Changes the group one proposal at a time. */
  #goOn(): void {
    this.#then(async () => {
      const [next] = this.#joining;
      if (!next || this.isStuck || this.#proposed || this.#ready) return;
      const [member, keyPackage] = next;
      this.#joining.delete(member);
      if (this.#present().length === 0) {
        this.#leaves = [member];
        this.#epoch = 0n;
        return this.#goOn();
      }
      const [message] = decodeMlsMessage(Buffer.concat([KEY_PACKAGE_HEAD, keyPackage]), 0) ?? [];
      if (message?.wireformat !== 'mls_key_package') throw new Error('Invalid key package');
      await this.#propose(
        { added: member },
        { proposalType: 'add', add: { keyPackage: message.keyPackage } },
      );
    });
  }

  async #propose(proposed: Proposed, proposal: Proposal): Promise<void> {
    this.#proposed = proposed;
    const { point, privateKey } = this.#keys;
    const extensionData = this.externalSender;
    // An external sender's signature covers only group, epoch and proposal: RFC 9420, section 6.1.
    const unsigned = new Uint8Array();
    const info: GroupInfo = {
      groupContext: {
        version: 'mls10',
        cipherSuite: SUITE,
        groupId: this.#groupId,
        epoch: this.#epoch,
        treeHash: unsigned,
        confirmedTranscriptHash: unsigned,
        extensions: [{ extensionType: 'external_senders', extensionData }],
      },
      extensions: [],
      confirmationTag: unsigned,
      signer: 0,
      signature: unsigned,
    };
    const message = encodeMlsMessage(
      await proposeExternal(info, proposal, point, unsigned, signing(privateKey)),
    );
    const payload = Buffer.concat([Buffer.from([APPEND]), lengthOf(message), message]);
    // The group may have started again meanwhile.
    if (this.#proposed !== proposed) return;
    const { removed } = proposed;
    for (const member of this.#present()) if (member !== removed) member.proposals(payload);
  }

  #then(work: () => Promise<unknown> | unknown): void {
    this.#last = this.#last.then(work);
  }
}

/** Encodes a length for MLS: RFC 9420, section 2.1.2. */
function lengthOf({ length }: Uint8Array): Buffer {
  const head = Buffer.alloc(length < 64 ? 1 : length < 16_384 ? 2 : 4);
  if (head.length === 1) head.writeUInt8(length);
  else if (head.length === 2) head.writeUInt16BE(length | 0x4000);
  else head.writeUInt32BE((length | 0x80000000) >>> 0);
  return head;
}
