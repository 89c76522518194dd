import { z } from 'zod';
import type { Body } from './body.ts';
import { DISCORD, FLAG } from './limits.ts';
import { createMessage, editMessage, type Writing } from './messages.ts';
import { checkModal, type Modal } from './modals.ts';
import { Refusal, requireValid } from './refusal.ts';
import type { StoredMessage } from './types.ts';
import type { World } from './world.ts';

const callbackSchema = z.object({ type: z.int(), data: z.unknown().optional() });
const choicesSchema = z.object({
  choices: z
    .array(
      z.object({
        name: z.string().min(1).max(DISCORD.choiceText),
        value: z.union([z.string().max(DISCORD.choiceText), z.number()]),
      }),
    )
    .max(DISCORD.choices),
});
export type CompletionChoice = z.infer<typeof choicesSchema>['choices'][number];

export type InteractionKind = 'command' | 'component' | 'autocomplete' | 'modal';

export interface InteractionRecord {
  readonly id: string;
  readonly token: string;
  readonly kind: InteractionKind;
  readonly createdAt: number;
  readonly channelId: string;
  readonly userId: string;
  readonly fileLimit: number;
  /** True if only the person installed the app: at most five follow-ups, and no messages with the bot token. */
  readonly userInstallOnly: boolean;
  /** The message whose button was pressed, or from which a form was opened. */
  readonly sourceId: string | null;
  /** The callback type of the first response, once sent: 4 message, 5 deferred, 6 deferred update, 7 update, 8 choices, 9 modal. */
  callback: number | null;
  respondedAt: number | null;
  originalId: string | null;
  followUpIds: string[];
  modal: Modal | null;
  choices: CompletionChoice[] | null;
}

/** The rules for responses: one first response within 3 s, then webhooks for 15 minutes. */
export class Interactions {
  readonly records = new Map<string, InteractionRecord>();
  readonly #byToken = new Map<string, InteractionRecord>();
  readonly #world: World;
  readonly #deadlineMs: number;

  constructor(world: World, deadlineMs: number) {
    this.#world = world;
    this.#deadlineMs = deadlineMs;
  }

  open(
    fields: Pick<
      InteractionRecord,
      'kind' | 'channelId' | 'userId' | 'fileLimit' | 'userInstallOnly' | 'sourceId'
    >,
  ): InteractionRecord {
    const id = this.#world.nextId();
    const token = Buffer.from(`interaction:${id}:${'t'.repeat(80)}`).toString('base64url');
    const record: InteractionRecord = {
      ...fields,
      id,
      token,
      createdAt: this.#world.now(),
      callback: null,
      respondedAt: null,
      originalId: null,
      followUpIds: [],
      modal: null,
      choices: null,
    };
    this.records.set(id, record);
    this.#byToken.set(token, record);
    return record;
  }

  /** Accepts the first response. Returns the created or changed message, if any. @throws Refusal */
  respond(
    id: string,
    token: string,
    body: Body,
  ): { record: InteractionRecord; message: StoredMessage | null } {
    const record = this.records.get(id);
    if (!record || record.token !== token) throw new Refusal('unknownInteraction', `interaction ${id}`);
    if (record.callback !== null) throw new Refusal('alreadyAcknowledged');
    const age = this.#world.now() - record.createdAt;
    if (age > this.#deadlineMs)
      throw new Refusal('unknownInteraction', `answered after ${Math.round(age)} ms`);
    const parsed = callbackSchema.safeParse(body.json);
    requireValid(parsed.success, `callback: ${parsed.error?.message}`);
    const { type, data } = parsed.data;
    const message = this.#apply(record, type, { json: data ?? {}, files: body.files });
    record.callback = type;
    record.respondedAt = this.#world.now();
    record.originalId = message?.id ?? null;
    return { record, message };
  }

  #apply(record: InteractionRecord, type: number, body: Body): StoredMessage | null {
    const completes = record.kind === 'autocomplete';
    requireValid(completes === (type === 8), `callback type ${type} for ${record.kind}`);
    switch (type) {
      case 4:
        return createMessage(this.#writing(record, flagsOf(body)), body);
      case 5:
        return this.#loading(record, body);
      case 6:
        return this.#source(record);
      case 7: {
        const source = this.#source(record);
        return editMessage(this.#writing(record, 0), source, body);
      }
      case 8: {
        const parsed = choicesSchema.safeParse(body.json);
        requireValid(parsed.success, `choices: ${parsed.error?.message}`);
        record.choices = parsed.data.choices;
        return null;
      }
      case 9:
        requireValid(record.kind !== 'modal', 'a form cannot open a form');
        record.modal = checkModal(body.json);
        return null;
      default:
        throw new Refusal('invalidForm', `callback type ${type}`);
    }
  }

  #source(record: InteractionRecord): StoredMessage {
    const source = record.sourceId === null ? undefined : this.#world.messages.get(record.sourceId);
    requireValid(source !== undefined, 'there is no message to update');
    if (source.deleted) throw new Refusal('unknownMessage');
    return source;
  }

  #loading(record: InteractionRecord, body: Body): StoredMessage {
    const flags = flagsOf(body);
    requireValid(
      (flags & ~(FLAG.ephemeral | FLAG.suppressEmbeds)) === 0,
      `deferring does not accept the flags ${flags}`,
    );
    const message: StoredMessage = {
      id: this.#world.nextId(),
      channelId: record.channelId,
      author: this.#world.bot,
      content: '',
      embeds: [],
      components: [],
      attachments: [],
      flags: flags | FLAG.loading,
      nonce: null,
      replyTo: null,
      interactionId: record.id,
      onlyFor: flags & FLAG.ephemeral ? record.userId : null,
      pinged: [],
      createdAt: this.#world.now(),
      editedAt: null,
      history: [],
      deleted: false,
      chosen: new Map(),
    };
    this.#world.messages.set(message.id, message);
    return message;
  }

  #writing(record: InteractionRecord, requested: number): Writing {
    return {
      world: this.#world,
      channelId: record.channelId,
      author: this.#world.bot,
      fileLimit: record.fileLimit,
      flags: FLAG.suppressEmbeds | FLAG.ephemeral | FLAG.componentsV2 | FLAG.suppressNotifications,
      interactionId: record.id,
      onlyFor: requested & FLAG.ephemeral ? record.userId : null,
    };
  }

  /** Returns the interaction of a valid webhook token. @throws Refusal 50027, 10015 */
  byToken(applicationId: string, token: string): InteractionRecord {
    const record = this.#byToken.get(token);
    if (!record || applicationId !== this.#world.bot.id) throw new Refusal('unknownWebhook');
    if (this.#world.now() - record.createdAt > DISCORD.tokenLifeMs)
      throw new Refusal('invalidWebhookToken', 'the interaction is over 15 minutes old');
    if (record.callback === null) throw new Refusal('unknownWebhook', 'the interaction was not answered yet');
    return record;
  }

  /** Accepts a follow-up. The first one after deferring fills the deferred message. @throws Refusal */
  followUp(record: InteractionRecord, body: Body): StoredMessage {
    const original = record.originalId === null ? undefined : this.#world.messages.get(record.originalId);
    if (record.callback === 5 && original && !original.deleted && original.flags & FLAG.loading)
      return this.#edit(record, original, dropFlags(body));
    if (record.userInstallOnly && record.followUpIds.length >= DISCORD.userInstallFollowUps)
      throw new Refusal('tooManyFollowUps');
    const message = createMessage(this.#writing(record, flagsOf(body)), body);
    record.followUpIds.push(message.id);
    return message;
  }

  /** @throws Refusal 10008 */
  message(record: InteractionRecord, id: string): StoredMessage {
    const messageId = id === '@original' ? record.originalId : id;
    const message = messageId === null ? undefined : this.#world.messages.get(messageId);
    const isOwn = message && (message.interactionId === record.id || message.id === record.originalId);
    if (!isOwn || message.deleted)
      throw new Refusal('unknownMessage', `message ${id} of interaction ${record.id}`);
    return message;
  }

  edit(record: InteractionRecord, id: string, body: Body): StoredMessage {
    return this.#edit(record, this.message(record, id), body);
  }

  #edit(record: InteractionRecord, message: StoredMessage, body: Body): StoredMessage {
    const writing = { ...this.#writing(record, 0), flags: FLAG.suppressEmbeds | FLAG.componentsV2 };
    return editMessage(writing, message, body);
  }
}

const flagsSchema = z.object({ flags: z.int().nullish() });
const flagsOf = (body: Body): number => flagsSchema.safeParse(body.json ?? {}).data?.flags ?? 0;

/** Discord ignores the visibility of a follow-up that fills a deferred message. */
function dropFlags(body: Body): Body {
  const json = body.json;
  if (typeof json !== 'object' || json === null) return body;
  return { ...body, json: { ...json, flags: flagsOf(body) & FLAG.componentsV2 || undefined } };
}
