import type { Condition } from '../until.ts';
import type { CompletionChoice, InteractionRecord } from './interactions.ts';
import { FLAG } from './limits.ts';
import type { Modal } from './modals.ts';
import type { StoredMessage } from './types.ts';
import type { World } from './world.ts';

type Until = <Value>(condition: Condition<Value>, what: string) => Promise<Value>;

/** One interaction from the person's perspective: the bot's response and follow-ups. */
export class InteractionHandle {
  readonly record: InteractionRecord;
  readonly #world: World;
  readonly #until: Until;

  constructor(record: InteractionRecord, world: World, until: Until) {
    this.record = record;
    this.#world = world;
    this.#until = until;
  }

  get channelId(): string {
    return this.record.channelId;
  }

  /** The current first response; null before it is sent or after it is deleted. */
  get original(): StoredMessage | null {
    const message =
      this.record.originalId === null ? undefined : this.#world.messages.get(this.record.originalId);
    return message && !message.deleted ? message : null;
  }

  get followUps(): StoredMessage[] {
    return this.record.followUpIds
      .flatMap((id) => this.#world.messages.get(id) ?? [])
      .filter((message) => !message.deleted);
  }

  /** The original and the follow-ups. */
  get messages(): StoredMessage[] {
    return [...(this.original ? [this.original] : []), ...this.followUps];
  }

  /** True if only the person sees the first response. */
  get ephemeral(): boolean {
    return this.original?.onlyFor !== null && this.original !== null;
  }

  /** Milliseconds between the event and its first response, by the server's clock. */
  get latencyMs(): number | null {
    return this.record.respondedAt === null ? null : this.record.respondedAt - this.record.createdAt;
  }

  /** Resolves with the callback type of the first response: 4 message, 5 deferred, 6 deferred update, 7 update, 8 choices, 9 modal. */
  acknowledged(): Promise<number> {
    return this.#until(() => this.record.callback, `an answer to the ${this.record.kind}`);
  }

  /** Resolves with the original message once it has content; a deferred one once it is filled. */
  response(): Promise<StoredMessage> {
    return this.#until(
      () => this.original !== null && (this.original.flags & FLAG.loading) === 0 && this.original,
      `a response to the ${this.record.kind}`,
    );
  }

  /** Resolves with the form opened by the bot. */
  modal(): Promise<Modal> {
    return this.#until(() => this.record.modal, 'a form');
  }

  choices(): Promise<CompletionChoice[]> {
    return this.#until(() => this.record.choices, 'completions');
  }

  /** Resolves with the interaction's first message that meets the condition. */
  message(condition: (message: StoredMessage) => boolean): Promise<StoredMessage> {
    return this.#until(() => this.messages.find(condition), 'a message of this interaction');
  }
}
