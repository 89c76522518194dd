import { elementsOf } from './blocks.ts';
import type { Settings } from './call.ts';
import { SlackRefusal } from './call.ts';
import { optionProblems } from './elements.ts';
import { asFields, asList, asText, type Fields } from './json.ts';
import { SLACK } from './limits.ts';
import { escapeText } from './mentions.ts';
import { wireMessage } from './methods/chat.ts';
import { wireFile } from './methods/files.ts';
import { storeView, wireView } from './methods/views.ts';
import { Problems } from './problems.ts';
import { showReply } from './replies.ts';
import type { Deliver, Delivery } from './socket-mode.ts';
import type { ResponseUrls, Triggers } from './tickets.ts';
import { viewProblems } from './view-problems.ts';
import { type FormValues, fillForm } from './view-state.ts';
import type { EphemeralMessage, OpenView, PostedMessage, StoredFile, Workspace } from './workspace.ts';

export interface Origin {
  /** Default `U0ADA`. */
  user?: string;
  /** Default `C0MUSIC`. */
  channel?: string;
}

export interface Interaction extends Delivery {
  triggerId: string;
  responseUrl: string | undefined;
}

export interface SentMessage {
  message: PostedMessage;
  /** One delivery per event that the app subscribes to. */
  deliveries: Delivery[];
  eventIds: string[];
}

export interface PeopleOptions {
  workspace: Workspace;
  deliver: Deliver;
  triggers: Triggers;
  responseUrls: ResponseUrls;
  settings: Settings;
  /** The events that the app subscribes to. */
  events: ReadonlySet<string>;
  /** The time that Slack sends for people's actions. */
  sentAt: () => number;
}

/** People's actions in Slack. Functions resolve when the app has acknowledged, or Slack has given up. */
export function people({
  workspace,
  deliver,
  triggers,
  responseUrls,
  settings,
  events,
  sentAt,
}: PeopleOptions) {
  const actionTs = () => (sentAt() / 1000).toFixed(6);
  const wire = (file: StoredFile) =>
    file.isIdOnly ? { id: file.id, file_access: 'check_file_info' } : wireFile(file, settings.baseUrl);

  const common = (user: string) => {
    const known = workspace.users.get(user);
    if (known === undefined) throw new Error(`No such user: ${user}`);
    return {
      // With an app installed for an organisation, interactions name only the person's workspace.
      team: workspace.organisation === undefined ? { id: workspace.teamId, domain: 'minstrel' } : null,
      user: { id: user, username: known.name, name: known.name, team_id: workspace.teamId },
      api_app_id: workspace.appId,
      token: 'verification-token',
      enterprise: enterprise() ?? null,
      is_enterprise_install: workspace.organisation !== undefined,
    };
  };

  const enterprise = () => {
    const { organisation } = workspace;
    return organisation && { id: organisation.id, name: organisation.name };
  };

  const origin = ({ user = 'U0ADA', channel = 'C0MUSIC' }: Origin) => {
    const known = workspace.channels.get(channel);
    if (known === undefined) throw new Error(`No such channel: ${channel}`);
    return { user, channel: known };
  };

  function replyInAck(delivery: Delivery, channel: string, user: string): void {
    if (delivery.ack === undefined) return;
    try {
      const ticket = { channel, user, messageTs: undefined, threadTs: undefined, at: 0, uses: 0 };
      showReply(workspace, ticket, delivery.ack, 'ack');
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      workspace.refuse({ method: 'ack', error: error.error, detail: error.detail, arguments: delivery.ack });
    }
  }

  /**
   * Types `/command text`. Slack escapes `&`, `<` and `>`, and has no slash commands in threads. @param triggerId resends the
   * earlier command. @param isEscaped the text is escaped already, with chosen people.
   */
  async function slash(
    command: string,
    text = '',
    {
      triggerId: again,
      isEscaped = false,
      ...where
    }: Origin & { triggerId?: string; isEscaped?: boolean } = {},
  ): Promise<Interaction> {
    const { user, channel } = origin(where);
    const triggerId = again ?? triggers.issue(user);
    const responseUrl = responseUrls.issue({ team: workspace.teamId, channel: channel.id, user });
    const delivery = await deliver(
      'slash_commands',
      {
        token: 'verification-token',
        team_id: workspace.teamId,
        team_domain: 'minstrel',
        channel_id: channel.id,
        channel_name:
          channel.kind === 'im' ? 'directmessage' : channel.kind === 'group' ? 'privategroup' : channel.name,
        user_id: user,
        user_name: workspace.users.get(user)?.name ?? user,
        command,
        text: isEscaped ? text : escapeText(text),
        api_app_id: workspace.appId,
        is_enterprise_install: String(workspace.organisation !== undefined),
        ...(workspace.organisation === undefined ? {} : { enterprise_id: workspace.organisation.id }),
        response_url: responseUrl,
        trigger_id: triggerId,
      },
      true,
    );
    replyInAck(delivery, channel.id, user);
    return { ...delivery, triggerId, responseUrl };
  }

  function element(
    blocks: readonly unknown[],
    action: string,
  ): { block: Fields; element: Fields; choice?: string | undefined } {
    const all = blocks.flatMap((block) =>
      elementsOf(block).map((item) => ({ block: asFields(block), element: item })),
    );
    const match = all.find(
      ({ element: item }) => item.action_id === action || namesOf(item).includes(action),
    );
    if (match !== undefined) return match;
    for (const { block, element: menu } of all) {
      const choice =
        optionsOf(menu).find((option) => labelOf(asFields(option)) === action) ?? groupedChoice(menu, action);
      if (choice !== undefined) return { block, element: menu, choice: asText(asFields(choice).value) };
    }
    const known = all
      .map(({ element: item }) => `${String(item.action_id)} (${labelOf(item) ?? '-'})`)
      .join(', ');
    throw new Error(`No button ${action}; there are: ${known || 'none'}`);
  }

  /** Presses a button by action_id, label or accessible name, or chooses the menu option with that label. */
  async function press(
    message: PostedMessage | EphemeralMessage,
    action: string,
    { user = 'U0ADA', value }: { user?: string; value?: string } = {},
  ): Promise<Interaction> {
    const { block, element: pressed, choice = value } = element(message.blocks, action);
    const ephemeral = 'via' in message;
    const threadTs = message.threadTs;
    const triggerId = triggers.issue(user);
    const responseUrl = responseUrls.issue({
      team: workspace.teamId,
      channel: message.channel,
      user,
      messageTs: ephemeral ? undefined : message.ts,
      threadTs,
    });
    const channel = workspace.channels.get(message.channel);
    const delivery = await deliver(
      'interactive',
      {
        type: 'block_actions',
        ...common(user),
        container: {
          type: 'message',
          message_ts: message.ts,
          channel_id: message.channel,
          is_ephemeral: ephemeral,
          ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
        },
        trigger_id: triggerId,
        channel: { id: message.channel, name: channel?.name ?? '' },
        ...(ephemeral ? {} : { message: { ...wireMessage(message), app_id: workspace.appId } }),
        state: { values: {} },
        response_url: responseUrl,
        actions: [pressedAction(block, pressed, choice, actionTs())],
      },
      false,
    );
    return { ...delivery, triggerId, responseUrl };
  }

  /** Presses a button in an open modal or in the Home tab. */
  async function pressInView(
    open: OpenView,
    action: string,
    { value, values = {} }: { value?: string; values?: FormValues } = {},
  ): Promise<Interaction> {
    const { block, element: pressed } = element(asList(open.view.blocks), action);
    const triggerId = triggers.issue(open.user);
    const delivery = await deliver(
      'interactive',
      {
        type: 'block_actions',
        ...common(open.user),
        container: { type: 'view', view_id: open.id },
        trigger_id: triggerId,
        view: {
          ...wireView(open, workspace.organisation?.id),
          ...(open.view.type === 'modal' && {
            state: fillForm(open.view, values, wire, { unfinished: true }),
          }),
        },
        actions: [pressedAction(block, pressed, value, actionTs())],
      },
      false,
    );
    return { ...delivery, triggerId, responseUrl: undefined };
  }

  /** Fills and submits the modal. With `errors` in the acknowledgement it stays open, as in Slack. */
  async function submitView(open: OpenView, values: FormValues): Promise<Interaction> {
    if (!open.open) throw new Error('That modal is closed');
    const state = fillForm(open.view, values, wire);
    const triggerId = triggers.issue(open.user);
    const delivery = await deliver(
      'interactive',
      {
        type: 'view_submission',
        ...common(open.user),
        trigger_id: triggerId,
        view: { ...wireView(open, workspace.organisation?.id), state },
        response_urls: [],
      },
      true,
    );
    if (delivery.acknowledged) answerSubmission(open, delivery.ack);
    return { ...delivery, triggerId, responseUrl: undefined };
  }

  function answerSubmission(open: OpenView, ack: Fields | undefined): void {
    const refuse = (error: string, detail: string[]) =>
      workspace.refuse({ method: 'view_submission', error, detail, arguments: ack ?? {} });
    switch (ack?.response_action) {
      case 'errors': {
        const fields = new Set(asList(open.view.blocks).map((block) => asFields(block).block_id));
        const unknownFields = Object.keys(asFields(ack.errors)).filter((key) => !fields.has(key));
        if (unknownFields.length > 0)
          refuse('invalid_errors', [`no such block: ${unknownFields.join(', ')}`]);
        return;
      }
      case 'update':
      case 'push': {
        const problems = viewProblems(ack.view);
        if (problems.length > 0) refuse('invalid_view', problems);
        else if (ack.response_action === 'push') storeView(workspace, open.user, asFields(ack.view), open.id);
        else open.view = asFields(ack.view);
        return;
      }
      default:
        open.open = false;
        workspace.emit('changed');
    }
  }

  /** Types into a menu with external options, in a partially filled form. Resolves with the app's options. */
  async function suggest(
    open: OpenView,
    action: string,
    typed: string,
    values: FormValues = {},
  ): Promise<{ text: string; value: string }[]> {
    const { block, element: menu } = element(asList(open.view.blocks), action);
    const delivery = await deliver(
      'interactive',
      {
        type: 'block_suggestion',
        ...common(open.user),
        container: { type: 'view', view_id: open.id },
        view: {
          ...wireView(open, workspace.organisation?.id),
          state: fillForm(open.view, values, wire, { unfinished: true }),
        },
        action_id: menu.action_id,
        block_id: block.block_id,
        value: typed,
      },
      true,
    );
    const options = asList(asFields(delivery.ack).options);
    const problems = new Problems();
    if (options.length > 0) optionProblems(problems, '/options', options, SLACK.options);
    if (problems.list.length > 0) {
      workspace.refuse({
        method: 'block_suggestion',
        error: 'invalid_options',
        detail: problems.list,
        arguments: delivery.ack ?? {},
      });
    }
    return options.map((option) => ({
      text: asText(asFields(asFields(option).text).text) ?? '',
      value: asText(asFields(option).value) ?? '',
    }));
  }

  /** Uses a global shortcut. */
  async function shortcut(
    callbackId: string,
    { user = 'U0ADA' }: { user?: string } = {},
  ): Promise<Interaction> {
    const triggerId = triggers.issue(user);
    const payload = {
      type: 'shortcut',
      ...common(user),
      callback_id: callbackId,
      trigger_id: triggerId,
      action_ts: actionTs(),
    };
    return {
      ...(await deliver('interactive', payload, false)),
      triggerId,
      responseUrl: undefined,
    };
  }

  /** Uses a shortcut from a message's menu. */
  async function messageShortcut(
    callbackId: string,
    message: PostedMessage,
    { user = 'U0ADA' }: { user?: string } = {},
  ): Promise<Interaction> {
    const triggerId = triggers.issue(user);
    const responseUrl = responseUrls.issue({
      team: workspace.teamId,
      channel: message.channel,
      user,
      threadTs: message.threadTs,
    });
    const payload = {
      type: 'message_action',
      ...common(user),
      callback_id: callbackId,
      trigger_id: triggerId,
      response_url: responseUrl,
      message_ts: message.ts,
      action_ts: actionTs(),
      channel: { id: message.channel, name: workspace.channels.get(message.channel)?.name ?? '' },
      message: { ...wireMessage(message), files: message.files.map(wire) },
    };
    return { ...(await deliver('interactive', payload, false)), triggerId, responseUrl };
  }

  async function sendEvent(
    event: Fields,
    eventId = workspace.id('Ev'),
    eventTime = Math.floor(workspace.now() / 1000),
  ): Promise<{ delivery: Delivery; eventId: string }> {
    const payload = {
      token: 'verification-token',
      team_id: workspace.teamId,
      ...(workspace.organisation === undefined ? {} : { enterprise_id: workspace.organisation.id }),
      api_app_id: workspace.appId,
      event,
      type: 'event_callback',
      event_id: eventId,
      event_time: eventTime,
      authorizations: [
        {
          enterprise_id: workspace.organisation?.id ?? null,
          team_id: workspace.organisation === undefined ? workspace.teamId : null,
          user_id: workspace.botUser,
          is_bot: true,
          is_enterprise_install: workspace.organisation !== undefined,
        },
      ],
    };
    return { delivery: await deliver('events_api', payload, false), eventId };
  }

  /** Posts a message. The app gets the events that it subscribes to. */
  async function say(
    text: string,
    {
      threadTs,
      files = [],
      blocks = [],
      attachments,
      bot,
      ...where
    }: Origin & Pick<Partial<PostedMessage>, 'threadTs' | 'files' | 'blocks' | 'attachments' | 'bot'> = {},
  ): Promise<SentMessage> {
    const { user, channel } = origin(where);
    const message = workspace.post({
      channel: channel.id,
      user,
      text,
      blocks,
      threadTs,
      files,
      ...(attachments ? { attachments } : {}),
      ...(bot ? { bot } : {}),
    });
    const types = eventsFor(message);
    const sent = await Promise.all(types.map((type) => sendEvent(eventOf(message, type))));
    return {
      message,
      deliveries: sent.map(({ delivery }) => delivery),
      eventIds: sent.map(({ eventId }) => eventId),
    };
  }

  /** Deletes a message and notifies apps that receive the channel's messages. With replies, a tombstone remains. */
  async function remove(message: PostedMessage): Promise<void> {
    const { channel, ts } = message;
    const previous = eventOf(message, 'message.channels');
    message.deleted = true;
    workspace.emit('changed');
    const types = eventsFor(message).filter((type) => type.startsWith('message.'));
    const isRoot = workspace.root(channel, ts) === message;
    const event = {
      type: 'message',
      hidden: true,
      channel,
      channel_type: workspace.channels.get(channel)?.kind ?? 'channel',
      ts: workspace.nextTs(),
      previous_message: previous,
      ...(isRoot
        ? { subtype: 'message_changed', message: wireMessage(message) }
        : { subtype: 'message_deleted', deleted_ts: ts }),
    };
    if (types.length > 0) await sendEvent(event);
  }

  function eventsFor(message: PostedMessage): string[] {
    const channel = workspace.channels.get(message.channel);
    if (channel === undefined || !channel.members.has(workspace.botUser)) return [];
    const byKind = {
      im: 'message.im',
      mpim: 'message.mpim',
      channel: 'message.channels',
      group: 'message.groups',
    }[channel.kind];
    const mentioned = channel.kind !== 'im' && message.text.includes(`<@${workspace.botUser}>`);
    return [...(mentioned ? ['app_mention'] : []), byKind].filter((type) => events.has(type));
  }

  function eventOf(message: PostedMessage, type: string): Fields {
    const channel = workspace.channels.get(message.channel);
    return {
      ...wireMessage(message),
      ...parentOf(message),
      type: type.startsWith('message.') ? 'message' : type,
      ...(message.files.length > 0 ? { subtype: 'file_share', files: message.files.map(wire) } : {}),
      channel: message.channel,
      channel_type: channel?.kind ?? 'channel',
      team: workspace.teamId,
      event_ts: message.ts,
    };
  }

  /** Returns the author of a reply's thread. */
  function parentOf({ channel, threadTs, ts }: PostedMessage): Fields {
    const parent =
      threadTs === undefined || threadTs === ts ? undefined : workspace.message(channel, threadTs);
    return parent === undefined ? {} : { parent_user_id: parent.user };
  }

  /** Posts a message that mentions the bot. */
  const mention = (text: string, options: Parameters<typeof say>[1] = {}) =>
    say(`<@${workspace.botUser}> ${text}`, options);

  /** Sends the bot a direct message. */
  const directMessage = (
    text: string,
    { user = 'U0ADA', ...rest }: Omit<NonNullable<Parameters<typeof say>[1]>, 'channel'> = {},
  ) => say(text, { ...rest, user, channel: workspace.directChannel(user).id });

  /** Resends an event with the same event_id, as Slack does if it is not acknowledged. */
  const repeat = (result: SentMessage) =>
    Promise.all(
      result.eventIds.map((eventId, index) =>
        sendEvent(eventOf(result.message, eventsFor(result.message)[index] ?? ''), eventId),
      ),
    );

  /** Opens the bot's Home tab. */
  async function openHome({ user = 'U0ADA' }: { user?: string } = {}): Promise<Delivery> {
    const channel = workspace.directChannel(user).id;
    const shown = workspace.homes.get(user);
    const event = {
      type: 'app_home_opened',
      user,
      channel,
      tab: 'home',
      event_ts: workspace.nextTs(),
      ...(shown === undefined ? {} : { view: wireView(shown) }),
    };
    return (await sendEvent(event)).delivery;
  }

  /** Opens the bot's messages, like the agent view. */
  async function openMessages({ user = 'U0ADA' }: { user?: string } = {}): Promise<Delivery> {
    const channel = workspace.directChannel(user).id;
    const event = { type: 'app_home_opened', user, channel, tab: 'messages', event_ts: workspace.nextTs() };
    return (await sendEvent(event)).delivery;
  }

  /** Presses Slack's own stop button in a thread. Slack ends its streams, and notifies the app if it subscribes to that. */
  async function stopSession(root: PostedMessage, { user = 'U0ADA' }: { user?: string } = {}): Promise<void> {
    const streams = workspace.messages.filter(
      ({ threadTs, streaming }) => threadTs === root.ts && streaming?.open,
    );
    for (const { streaming } of streams) Object.assign(streaming ?? {}, { open: false, endedBySlack: true });
    if (!events.has('agent_session_stopped')) return;
    await sendEvent({
      type: 'agent_session_stopped',
      channel: root.channel,
      user,
      thread_ts: root.ts,
      streaming_message_ts: streams.map(({ ts }) => ts),
      event_ts: workspace.nextTs(),
    });
  }

  /** Presses one of the two feedback buttons under a message. */
  async function judge(
    message: PostedMessage,
    judgement: 'good' | 'bad',
    { user = 'U0ADA' }: { user?: string } = {},
  ): Promise<Interaction> {
    const buttons = message.blocks.flatMap(elementsOf).find((item) => item.type === 'feedback_buttons');
    if (buttons === undefined) throw new Error('There are no feedback buttons');
    const button = judgement === 'good' ? buttons.positive_button : buttons.negative_button;
    return press(message, String(buttons.action_id), { user, value: String(asFields(button).value) });
  }

  /** Uninstalls the app from the workspace. */
  async function uninstall(): Promise<void> {
    await sendEvent({ type: 'tokens_revoked', tokens: { oauth: [], bot: [workspace.botUser] } });
    await sendEvent({ type: 'app_uninstalled' });
  }

  /** Uploads a file for a message or a form. */
  function upload(
    name: string,
    bytes: Buffer,
    { user = 'U0ADA', mimetype = 'application/octet-stream' } = {},
  ): StoredFile {
    const file: StoredFile = {
      id: workspace.id('F'),
      name,
      title: name,
      bytes,
      mimetype,
      altText: undefined,
      user,
      state: 'completed',
      announcedLength: bytes.length,
      readyAt: 0,
    };
    workspace.files.set(file.id, file);
    return file;
  }

  return {
    slash,
    press,
    pressInView,
    submitView,
    suggest,
    shortcut,
    messageShortcut,
    say,
    mention,
    directMessage,
    remove,
    repeat,
    openHome,
    openMessages,
    stopSession,
    judge,
    sendEvent,
    uninstall,
    upload,
  };
}

function labelOf(element: Fields): string | undefined {
  return asText(asFields(element.text).text);
}

/** Its label with and without the icon, and its accessible name with and without the subject. */
function namesOf(element: Fields): string[] {
  const label = labelOf(element) ?? '';
  const accessibleName = asText(element.accessibility_label) ?? '';
  return [
    label,
    label.replace(/^\p{Extended_Pictographic}\ufe0f? /u, ''),
    accessibleName,
    accessibleName.replace(/: .*$/s, ''),
  ];
}

/** The option of a group, such as `WAV take 1` for “WAV” in the group “Take 1”. */
const groupedChoice = (menu: Fields, action: string): unknown =>
  asList(menu.option_groups).flatMap((each) => {
    const group = asFields(each);
    const name = asText(asFields(group.label).text)?.toLowerCase();
    return asList(group.options).filter((option) => `${labelOf(asFields(option))} ${name}` === action);
  })[0];

const optionsOf = (menu: Fields): unknown[] => [
  ...asList(menu.options),
  ...asList(menu.option_groups).flatMap((group) => asList(asFields(group).options)),
];

function pressedAction(block: Fields, element: Fields, value: string | undefined, ts: string): Fields {
  const chosen = optionsOf(element).find((option) => asFields(option).value === value);
  return {
    type: element.type,
    action_id: element.action_id,
    block_id: block.block_id,
    action_ts: ts,
    ...(element.type === 'button' ? { text: element.text, value: element.value } : {}),
    ...(element.type === 'feedback_buttons' ? { value } : {}),
    ...(element.type === 'static_select' || element.type === 'overflow' ? { selected_option: chosen } : {}),
    ...(element.type === 'external_select'
      ? { selected_option: { text: { type: 'plain_text', text: String(value) }, value } }
      : {}),
    ...(element.type === 'conversations_select' ? { selected_conversation: value } : {}),
    ...(element.type === 'channels_select' ? { selected_channel: value } : {}),
  };
}
