import type { CommandOption, RegisteredCommand } from './commands.ts';
import { type Button, everyComponent } from './components.ts';
import {
  attachmentsOf,
  commandData,
  messageMenuData,
  type OptionInput,
  type PersonFile,
  type Requester,
  writeOptions,
} from './events.ts';
import type { InteractionHandle } from './handle.ts';
import type { CompletionChoice, InteractionKind } from './interactions.ts';
import { modalData } from './modal-values.ts';
import type { Channel, Permission, StoredMessage, User } from './types.ts';
import type { World } from './world.ts';

/** The person and place of an action. Default: {@link DiscordServer.user} in {@link DiscordServer.channel}. */
export interface Actor {
  user?: User;
  channel?: Channel;
  moderator?: boolean;
  locale?: string;
  /** The person's missing permissions in the channel. */
  lacks?: Permission[];
  /** True if the person installed the app, but the guild did not. */
  userInstalled?: boolean;
  /** The file size limit of responses, in bytes. Default: the limit of the guild's tier. */
  fileLimit?: number;
}

/** A message written by a person. */
interface TypedMessage extends Actor {
  text: string;
  files?: PersonFile[];
  replyTo?: StoredMessage;
  /** True for a webhook's message. */
  webhook?: boolean;
  /** Embeds, which only apps can send. */
  embeds?: StoredMessage['embeds'];
  components?: StoredMessage['components'];
  poll?: StoredMessage['poll'];
  /** A message to forward, without text. */
  forwards?: StoredMessage;
}

/** People's actions on Discord. Methods throw if their client would not allow the action. */
export abstract class People {
  abstract readonly world: World;
  readonly commands: RegisteredCommand[] = [];
  /** The default person and place. */
  abstract readonly user: User;
  abstract readonly channel: Channel;

  /** Creates the interaction and sends it to the bot. */
  protected abstract interact(
    kind: InteractionKind,
    asker: Requester,
    by: Actor,
    data: object,
    message?: StoredMessage,
  ): InteractionHandle;
  protected abstract emitMessage(
    event: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE' | 'MESSAGE_DELETE',
    message: StoredMessage,
  ): void;

  /** Sends a slash command. `name` may be `command subcommand`. Throws if Discord's client would not send it. */
  command({
    name,
    options = {},
    ...by
  }: Actor & { name: string; options?: Record<string, OptionInput> }): InteractionHandle {
    const asker = this.#asker(by);
    const { command, declared, wrap } = this.#declared(name);
    const { options: written, resolved } = writeOptions(this.world, asker.channel, declared, options);
    return this.interact('command', asker, by, commandData(command, wrap(written), resolved));
  }

  /** Types into an option with autocomplete. Resolves with the bot's suggestions. */
  async autocomplete({
    name,
    option,
    typed,
    options = {},
    ...by
  }: Actor & { name: string; option: string; typed: string; options?: Record<string, OptionInput> }): Promise<
    CompletionChoice[]
  > {
    const asker = this.#asker(by);
    const { command, declared, wrap } = this.#declared(name);
    if (!declared.some((o) => o.name === option && o.autocomplete))
      throw new Error(`Option ${option} of ${name} has no autocomplete`);
    const { options: written, resolved } = writeOptions(
      this.world,
      asker.channel,
      declared,
      { ...options, [option]: typed },
      { focused: option },
    );
    return await this.interact(
      'autocomplete',
      asker,
      by,
      commandData(command, wrap(written), resolved),
    ).choices();
  }

  /** Uses a command in a message's context menu. */
  contextMenu({ name, message, ...by }: Actor & { name: string; message: StoredMessage }): InteractionHandle {
    const asker = this.#asker({ channel: this.world.channel(message.channelId), ...by });
    const command = this.commands.find((c) => c.type === 3 && c.name === name);
    if (!command) throw new Error(`There is no message command ${name}`);
    return this.interact('command', asker, by, messageMenuData(this.world, command, message));
  }

  /** Presses a button or chooses from a menu, by id or label. Throws if the person cannot see or press it. */
  press(button: string, message: StoredMessage, by: Actor = {}): InteractionHandle {
    const asker = this.#asker({ channel: this.world.channel(message.channelId), ...by });
    if (message.deleted) throw new Error('The message was deleted');
    if (message.onlyFor !== null && message.onlyFor !== asker.user.id)
      throw new Error('The message is ephemeral, for another person');
    const target = buttonsOf(message).find((b) => b.custom_id === button || b.label === button);
    const choice = choicesOf(message).find(({ value, label }) => value === button || label === button);
    if (!target && choice) {
      if (message.chosen.get(asker.user.id) === choice.value)
        throw new Error(`${button} is still chosen: the client would send nothing`);
      message.chosen.set(asker.user.id, choice.value);
      const data = { component_type: 3, custom_id: choice.menu, values: [choice.value], id: 1 };
      return this.interact('component', asker, by, data, message);
    }
    if (!target) throw new Error(`No button ${button}; there are: ${labelsOf(message).join(', ')}`);
    if (target.disabled || target.custom_id === undefined)
      throw new Error(`Button ${button} cannot be pressed`);
    return this.interact(
      'component',
      asker,
      by,
      { component_type: 2, custom_id: target.custom_id, id: 1 },
      message,
    );
  }

  /** Submits a form. Values are by custom_id; missing fields keep their initial value. */
  async submitModal(
    opened: InteractionHandle,
    values: Record<string, string | string[] | boolean | PersonFile[]>,
    by: Actor = {},
  ): Promise<InteractionHandle> {
    const modal = await opened.modal();
    const user = this.world.users.get(opened.record.userId);
    const asker = this.#asker({
      channel: this.world.channel(opened.channelId),
      ...(user ? { user } : {}),
      ...by,
    });
    const source =
      opened.record.sourceId === null ? undefined : this.world.messages.get(opened.record.sourceId);
    const { components, resolved } = modalData(modal, values, { world: this.world, channel: asker.channel });
    const data = {
      custom_id: modal.custom_id,
      components,
      ...(Object.keys(resolved).length > 0 ? { resolved: { attachments: resolved } } : {}),
    };
    return this.interact('modal', asker, by, data, source);
  }

  /** Posts in a channel. To mention the bot, use {@link mention}. */
  say({
    text,
    files = [],
    replyTo,
    webhook = false,
    embeds = [],
    components = [],
    poll,
    forwards,
    ...by
  }: TypedMessage): StoredMessage {
    const { user, channel } = this.#asker(by);
    const message: StoredMessage = {
      id: this.world.nextId(),
      channelId: channel.id,
      author: user,
      content: text,
      embeds,
      components,
      ...(poll ? { poll } : {}),
      ...(forwards ? { forwards } : {}),
      attachments: attachmentsOf(this.world, channel, files),
      flags: 0,
      nonce: null,
      replyTo: replyTo?.id ?? null,
      interactionId: null,
      onlyFor: null,
      pinged: [],
      createdAt: this.world.now(),
      editedAt: null,
      history: [],
      deleted: false,
      chosen: new Map(),
      ...(webhook ? { webhookId: this.world.nextId() } : {}),
    };
    this.world.messages.set(message.id, message);
    this.emitMessage('MESSAGE_CREATE', message);
    return message;
  }

  /** Votes in a poll. `answer`: its text. */
  vote(answer: string, message: StoredMessage): void {
    const { answers = [], expiresAt = Number.POSITIVE_INFINITY } = message.poll ?? {};
    const chosen = answers.find(({ text }) => text === answer);
    if (!chosen || expiresAt <= this.world.now()) throw new Error(`Nobody can vote for ${answer} here`);
    chosen.votes += 1;
  }

  /** Edits a person's message. */
  correct(message: StoredMessage, text: string): void {
    if (message.author.bot) throw new Error('Only its author can edit a message');
    Object.assign(message, { content: text, editedAt: this.world.now() });
    this.emitMessage('MESSAGE_UPDATE', message);
  }

  /** Deletes a message as its author or a moderator. */
  remove(message: StoredMessage): void {
    message.deleted = true;
    this.emitMessage('MESSAGE_DELETE', message);
  }

  /** Posts a message that starts with a mention of the bot. */
  mention({ text, ...rest }: TypedMessage): StoredMessage {
    return this.say({ text: `<@${this.world.bot.id}> ${text}`, ...rest });
  }

  /** Returns the direct message channel between a person and the bot. */
  directChannel(user: User = this.user): Channel {
    const open = [...this.world.channels.values()].find(
      (c) => c.type === 1 && c.recipients[0]?.id === user.id,
    );
    return open ?? this.world.addChannel(user.username, { type: 1, recipients: [user] });
  }

  #asker(by: Actor): Requester {
    return {
      user: by.user ?? this.user,
      channel: by.channel ?? this.channel,
      moderator: by.moderator ?? false,
      locale: by.locale ?? 'en-US',
      lacks: by.lacks ?? [],
    };
  }

  #declared(path: string): {
    command: RegisteredCommand;
    declared: CommandOption[];
    wrap: (options: object[]) => object[];
  } {
    const [name, ...rest] = path.split(' ');
    const command = this.commands.find((c) => (c.type ?? 1) === 1 && c.name === name);
    if (!command)
      throw new Error(
        `/${name} is not registered; there are: ${this.commands.map((c) => c.name).join(', ')}`,
      );
    let declared = (command.options ?? []) as CommandOption[];
    let wrap = (options: object[]) => options;
    for (const step of rest) {
      const nested = declared.find((o) => o.name === step && o.type <= 2);
      if (!nested) throw new Error(`/${name} has no subcommand ${step}`);
      const outer = wrap;
      wrap = (options) => outer([{ name: nested.name, type: nested.type, options }]);
      declared = nested.options ?? [];
    }
    if (declared.some((o) => o.type <= 2)) throw new Error(`/${path} needs a subcommand`);
    return { command, declared, wrap };
  }
}

/** Returns all buttons of a message, in order. */
export const buttonsOf = (message: StoredMessage): Button[] =>
  [...everyComponent(message.components)].flatMap((component) => (component.type === 2 ? [component] : []));

/** Returns the options of a message's menus. */
const choicesOf = (message: StoredMessage): { menu: string; value: string; label: string }[] =>
  [...everyComponent(message.components)].flatMap((component) =>
    component.type === 3
      ? component.options.map(({ value, label }) => ({ menu: component.custom_id, value, label }))
      : [],
  );

/** Returns the labels of all buttons and menu options. */
export const labelsOf = (message: StoredMessage): (string | undefined)[] => [
  ...buttonsOf(message).map(({ label }) => label),
  ...choicesOf(message).map(({ label }) => label),
];
