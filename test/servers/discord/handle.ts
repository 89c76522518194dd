import type { Condition } from '../until.ts';
import type { CompletionChoice, InteractionRecord } from './interactions.ts';
import { FLAG } from './limits.ts';
import type { Modal } from './modals.ts';
import type { StoredMessage } from './types.ts';
import type { World } from './world.ts';

type Until = <Value>(condition: Condition<Value>, what: string) => Promise<Value>;

/** One interaction, seen from the person's side: what the bot answered, and how it went on. */
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

  /** The first response as it is now; null while there is none, or if it was deleted. */
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

  /** Whether the first response is seen by the person alone. */
  get ephemeral(): boolean {
    return this.original?.onlyFor !== null && this.original !== null;
  }

  /** Milliseconds of the server's clock between the event and its first response. */
  get latencyMs(): number | null {
    return this.record.respondedAt === null ? null : this.record.respondedAt - this.record.createdAt;
  }

  /** Resolves with the callback type of the first response: 4 message, 5 deferred, 6 deferred update, 7 update, 8 choices, 9 modal. */
  acknowledged(): Promise<number> {
    return this.#until(() => this.record.callback, `an answer to the ${this.record.kind}`);
  }

  /** Resolves with the original message once it shows something (a deferred one: once it was filled). */
  response(): Promise<StoredMessage> {
    return this.#until(
      () => this.original !== null && (this.original.flags & FLAG.loading) === 0 && this.original,
      `a response to the ${this.record.kind}`,
    );
  }

  /** Resolves with the form that the bot opened. */
  modal(): Promise<Modal> {
    return this.#until(() => this.record.modal, 'a form');
  }

  choices(): Promise<CompletionChoice[]> {
    return this.#until(() => this.record.choices, 'completions');
  }

  /** Resolves with the first message of this interaction that the condition takes. */
  message(condition: (message: StoredMessage) => boolean): Promise<StoredMessage> {
    return this.#until(() => this.messages.find(condition), 'a message of this interaction');
  }
}
