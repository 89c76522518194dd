import { z } from 'zod';
import type { Body } from './body.ts';
import { checkCommands, type RegisteredCommand, registeredJson } from './commands.ts';
import type { Interactions } from './interactions.ts';
import { FLAG } from './limits.ts';
import { createMessage, editMessage, type Writing } from './messages.ts';
import { Refusal, requireValid } from './refusal.ts';
import type { Channel, StoredMessage } from './types.ts';
import type { World } from './world.ts';

export interface Reply {
  status: number;
  json?: unknown;
}

export interface RouteContext {
  world: World;
  interactions: Interactions;
  /** Registered global commands, in order. */
  commands: RegisteredCommand[];
  gatewayUrl: () => string;
  shards: () => number;
  /** The application's settings in the developer portal. */
  portal: () => { flags: number; interactionsUrl: string | undefined };
  /** Stores how people install the application. */
  setInstallation: (installation: z.infer<typeof installationSchema>) => void;
  /** Permissions of the bot's role in each guild. */
  rolePermissions: () => bigint;
  /** Sends an event through the gateway. */
  emit: (event: 'MESSAGE_CREATE' | 'MESSAGE_UPDATE' | 'MESSAGE_DELETE', message: StoredMessage) => void;
  emitThread: (channel: Channel) => void;
  /** Lets the bot speak on a stage. Returns false without an invitation. */
  speak: (guildId: string) => boolean;
  /** The number of times the commands were registered. */
  registrations: { count: number };
}

interface Request {
  parameters: string[];
  query: URLSearchParams;
  body: Body;
}

interface Route {
  method: string;
  path: RegExp;
  /** Interaction routes have a token in the path instead of the bot's token in a header. */
  open?: boolean;
  serve: (context: RouteContext, request: Request) => Reply;
}

const ok = (json: unknown): Reply => ({ status: 200, json });
const done: Reply = { status: 204 };

const route = (method: string, path: string, serve: Route['serve'], { open = false } = {}): Route => ({
  method,
  path: new RegExp(`^${path.replace(/:[a-z]+/g, '([^/]+)')}$`),
  open,
  serve,
});

function botWriting(world: World, channel: Channel): Writing {
  return {
    world,
    channelId: channel.id,
    author: world.bot,
    fileLimit: world.fileLimit(channel),
    flags: FLAG.suppressEmbeds | FLAG.suppressNotifications | FLAG.componentsV2,
    botToken: true,
  };
}

/** Ephemeral messages do not exist for the bot token. */
function visibleToBot(world: World, channel: Channel, id: string): StoredMessage {
  const message = world.message(channel.id, id);
  if (message.onlyFor !== null) throw new Refusal('unknownMessage', `message ${id} is ephemeral`);
  return message;
}

/** @throws Refusal unknownGuild */
function guildOf(context: RouteContext, request: Request) {
  const guild = context.world.guilds.get(one(request, 0));
  if (!guild?.installed) throw new Refusal('unknownGuild');
  return guild;
}

const one = (request: Request, index: number): string => decodeURIComponent(request.parameters[index] ?? '');

const application: Route['serve'] = ({ world, portal }) => {
  const { flags, interactionsUrl } = portal();
  return ok({
    id: world.bot.id,
    name: 'Minstrel',
    bot: world.bot,
    flags,
    interactions_endpoint_url: interactionsUrl ?? null,
  });
};

const installParamsSchema = z.strictObject({
  oauth2_install_params: z.strictObject({
    scopes: z.array(z.enum(['bot', 'applications.commands'])).nonempty(),
    permissions: z.string().regex(/^\d+$/),
  }),
});
/** By installation context, servers or people: https://docs.discord.com/developers/resources/application#edit-current-application */
export const installationSchema = z.strictObject({
  integration_types_config: z.strictObject({
    0: installParamsSchema.optional(),
    1: installParamsSchema.optional(),
  }),
});

/** Fields sent only by the gateway: https://docs.discord.com/developers/events/gateway-events#guild-create */
const WITH_GUILD_CREATE: ReadonlySet<string> = new Set([
  'joined_at',
  'large',
  'unavailable',
  'member_count',
  'voice_states',
  'members',
  'channels',
  'threads',
  'presences',
  'stage_instances',
  'guild_scheduled_events',
  'soundboard_sounds',
]);

const ROUTES: readonly Route[] = [
  route('GET', '/gateway', (c) => ok({ url: c.gatewayUrl() })),
  route('GET', '/gateway/bot', (c) =>
    ok({
      url: c.gatewayUrl(),
      shards: c.shards(),
      session_start_limit: {
        total: 1000,
        remaining: 1000,
        reset_after: 0,
        max_concurrency: 16,
      },
    }),
  ),
  route('GET', '/users/@me', (c) => ok(c.world.bot)),
  route('GET', '/users/@me/guilds', (c) =>
    ok(
      [...c.world.guilds.values()]
        .filter(({ installed }) => installed)
        .map(({ id, name }) => ({
          id,
          name,
          owner: false,
          permissions: c.rolePermissions().toString(),
          features: [],
        })),
    ),
  ),
  route('GET', '/applications/@me', application),
  route('PATCH', '/applications/@me', (c, r) => {
    const edit = installationSchema.safeParse(r.body.json);
    requireValid(edit.success, 'integration_types_config');
    c.setInstallation(edit.data);
    return application(c, r);
  }),
  route('GET', '/oauth2/applications/@me', application),
  route('GET', '/users/:id', (c, r) => {
    const user = c.world.users.get(one(r, 0));
    if (!user) throw new Refusal('unknownUser');
    return ok(user);
  }),
  route('POST', '/users/@me/channels', (c, r) => {
    const { recipient_id } = z.object({ recipient_id: z.string() }).parse(r.body.json);
    const user = c.world.users.get(recipient_id);
    if (!user) throw new Refusal('unknownUser');
    if (user.bot) throw new Refusal('cannotMessageUser');
    const open = [...c.world.channels.values()].find(
      (channel) => channel.type === 1 && channel.recipients[0]?.id === user.id,
    );
    return ok(
      c.world.channelJson(open ?? c.world.addChannel(user.username, { type: 1, recipients: [user] })),
    );
  }),
  route('GET', '/guilds/:id', (c, r) => {
    const guildFields = Object.entries(c.world.guildJson(guildOf(c, r)));
    return ok(Object.fromEntries(guildFields.filter(([name]) => !WITH_GUILD_CREATE.has(name))));
  }),
  route('GET', '/guilds/:id/channels', (c, r) => ok(c.world.guildJson(guildOf(c, r)).channels)),
  route('GET', '/guilds/:id/members/:user', (c, r) => {
    guildOf(c, r);
    if (one(r, 1) !== c.world.bot.id) throw new Refusal('unknownUser');
    return ok(c.world.ownMember());
  }),

  // Commands
  route('GET', '/guilds/:id/voice-states/:user', (c, r) => {
    const state = c.world.voiceStates.get(`${guildOf(c, r).id} ${one(r, 1)}`);
    if (!state || state.channelId === null) throw new Refusal('unknownVoiceState');
    return ok(c.world.voiceStateJson(state));
  }),
  route('PATCH', '/guilds/:id/voice-states/@me', (c, r) => {
    if (!c.speak(one(r, 0))) throw new Refusal('missingPermissions', 'the bot has no invitation to speak');
    return done;
  }),
  route('GET', '/applications/:id/commands', (c, r) =>
    ok(c.commands.map((command) => registeredJson(command, r.query.get('with_localizations') === 'true'))),
  ),
  route('PUT', '/applications/:id/commands', (c, r) => {
    requireValid(one(r, 0) === c.world.bot.id, 'another application');
    const declared = checkCommands(r.body.json);
    const before = new Map(c.commands.map((command) => [`${command.type}:${command.name}`, command.id]));
    const registered = declared.map((command) => ({
      ...command,
      id: before.get(`${command.type}:${command.name}`) ?? c.world.nextId(),
      application_id: c.world.bot.id,
      version: c.world.nextId(),
    }));
    c.commands.splice(0, c.commands.length, ...registered);
    c.registrations.count += 1;
    return ok(registered.map((command) => registeredJson(command, true)));
  }),

  // Channels and messages, with the bot token
  route('GET', '/channels/:id', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    c.world.demand(channel);
    return ok(c.world.channelJson(channel));
  }),
  route('PATCH', '/channels/:id', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    const { archived } = z.strictObject({ archived: z.literal(false) }).parse(r.body.json);
    requireValid(channel.type === 11, 'only threads are archived');
    c.world.demand(channel, 'SendMessagesInThreads');
    if (channel.locked) throw new Refusal('missingPermissions', 'ManageThreads');
    channel.archived = archived;
    return ok(c.world.channelJson(channel));
  }),
  route('POST', '/channels/:id/typing', (c, r) => {
    c.world.demand(c.world.channel(one(r, 0)), 'SendMessages');
    return done;
  }),
  route('GET', '/channels/:id/messages', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    c.world.demand(channel);
    if (!c.world.has(channel, 'ReadMessageHistory')) return ok([]);
    const limit = Number(r.query.get('limit') ?? '50');
    requireValid(limit >= 1 && limit <= 100, `limit ${limit}`);
    const [before, after] = [r.query.get('before'), r.query.get('after')];
    requireValid(before === null || after === null, 'before and after');
    const listed = c.world
      .messagesIn(channel.id)
      .filter(
        ({ id, onlyFor }) =>
          onlyFor === null &&
          (before === null || BigInt(id) < BigInt(before)) &&
          (after === null || BigInt(id) > BigInt(after)),
      );
    return ok(
      (after === null ? listed.slice(-limit) : listed.slice(0, limit))
        .reverse()
        .map((m) => c.world.messageJson(m, { content: showsContent(c) })),
    );
  }),
  route('GET', '/channels/:id/messages/:message', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    c.world.demand(channel);
    if (!c.world.has(channel, 'ReadMessageHistory'))
      throw new Refusal('missingPermissions', 'ReadMessageHistory');
    const message = visibleToBot(c.world, channel, one(r, 1));
    const json = c.world.messageJson(message, { content: showsContent(c) });
    // Discord counts the votes precisely a moment after the end of a poll.
    if (message.poll && (message.poll.expiresAt ?? Number.POSITIVE_INFINITY) <= c.world.now())
      message.poll.finalized = true;
    return ok(json);
  }),
  route('POST', '/channels/:id/messages', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    if (channel.type === 15) throw new Refusal('wrongChannelType', 'forums accept only threads');
    if (channel.recipients.some(({ id }) => c.world.rejectsDirectMessages.has(id)))
      throw new Refusal('cannotMessageUser');
    c.world.demand(channel, channel.type === 11 ? 'SendMessagesInThreads' : 'SendMessages');
    if (r.body.files.length > 0) c.world.demand(channel, 'AttachFiles');
    const before = c.world.messages.size;
    const message = createMessage(botWriting(c.world, channel), r.body);
    if (c.world.messages.size > before) c.emit('MESSAGE_CREATE', message);
    return ok(c.world.messageJson(message));
  }),
  // https://docs.discord.com/developers/resources/poll#end-poll
  route('POST', '/channels/:id/polls/:message/expire', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    c.world.demand(channel);
    const message = visibleToBot(c.world, channel, one(r, 1));
    if (message.author.id !== c.world.bot.id) throw new Refusal('notAuthor');
    if (!message.poll) throw new Refusal('cannotExpireNonPoll');
    const { expiresAt = 0 } = message.poll;
    if (expiresAt <= c.world.now()) throw new Refusal('pollExpired');
    message.poll.expiresAt = c.world.now();
    c.emit('MESSAGE_UPDATE', message);
    return ok(c.world.messageJson(message));
  }),
  route('PATCH', '/channels/:id/messages/:message', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    c.world.demand(channel);
    const message = visibleToBot(c.world, channel, one(r, 1));
    if (message.author.id !== c.world.bot.id) throw new Refusal('notAuthor');
    if (r.body.files.length > 0) c.world.demand(channel, 'AttachFiles');
    const writing = { ...botWriting(c.world, channel), flags: FLAG.suppressEmbeds | FLAG.componentsV2 };
    editMessage(writing, message, r.body);
    c.emit('MESSAGE_UPDATE', message);
    return ok(c.world.messageJson(message));
  }),
  route('DELETE', '/channels/:id/messages/:message', (c, r) => {
    const channel = c.world.channel(one(r, 0));
    c.world.demand(channel);
    const message = visibleToBot(c.world, channel, one(r, 1));
    if (message.author.id !== c.world.bot.id) throw new Refusal('missingPermissions', 'ManageMessages');
    message.deleted = true;
    c.emit('MESSAGE_DELETE', message);
    return done;
  }),
  route('POST', '/channels/:id/messages/:message/threads', (c, r) => {
    const parent = c.world.channel(one(r, 0));
    c.world.demand(parent, 'CreatePublicThreads');
    const message = visibleToBot(c.world, parent, one(r, 1));
    const { name } = z.object({ name: z.string().min(1).max(100) }).parse(r.body.json);
    if (parent.type !== 0) throw new Refusal('wrongChannelType', 'messages here have no threads');
    if (c.world.channels.has(message.id)) throw new Refusal('threadExists');
    const thread = c.world.addChannel(name, {
      // A thread has the id of its message.
      id: message.id,
      type: 11,
      guildId: parent.guildId,
      parentId: parent.id,
      ownerId: c.world.bot.id,
    });
    const starter: StoredMessage = {
      id: c.world.nextId(),
      type: 21,
      channelId: thread.id,
      author: message.author,
      content: '',
      embeds: [],
      components: [],
      attachments: [],
      flags: 0,
      nonce: null,
      replyTo: message.id,
      interactionId: null,
      onlyFor: null,
      pinged: [],
      createdAt: c.world.now(),
      editedAt: null,
      history: [],
      deleted: false,
      chosen: new Map(),
    };
    c.world.messages.set(starter.id, starter);
    message.flags |= FLAG.hasThread;
    c.emitThread(thread);
    return { status: 201, json: c.world.channelJson(thread) };
  }),

  // Interactions, with their own token
  route(
    'POST',
    '/interactions/:id/:token/callback',
    (c, r) => {
      const { record, message } = c.interactions.respond(one(r, 0), one(r, 1), r.body);
      if (message && record.callback !== 6)
        c.emit(record.callback === 7 ? 'MESSAGE_UPDATE' : 'MESSAGE_CREATE', message);
      if (r.query.get('with_response') !== 'true') return done;
      return ok({
        interaction: {
          id: record.id,
          type: { command: 2, component: 3, autocomplete: 4, modal: 5 }[record.kind],
          ...(message
            ? {
                response_message_id: message.id,
                response_message_loading: (message.flags & FLAG.loading) !== 0,
                response_message_ephemeral: message.onlyFor !== null,
              }
            : {}),
        },
        ...(message ? { resource: { type: record.callback, message: c.world.messageJson(message) } } : {}),
      });
    },
    { open: true },
  ),
  route(
    'POST',
    '/webhooks/:application/:token',
    (c, r) => {
      const message = c.interactions.followUp(c.interactions.byToken(one(r, 0), one(r, 1)), r.body);
      c.emit('MESSAGE_CREATE', message);
      return ok(c.world.messageJson(message));
    },
    { open: true },
  ),
  route(
    'GET',
    '/webhooks/:application/:token/messages/:message',
    (c, r) =>
      ok(
        c.world.messageJson(c.interactions.message(c.interactions.byToken(one(r, 0), one(r, 1)), one(r, 2))),
      ),
    { open: true },
  ),
  route(
    'PATCH',
    '/webhooks/:application/:token/messages/:message',
    (c, r) => {
      const message = c.interactions.edit(c.interactions.byToken(one(r, 0), one(r, 1)), one(r, 2), r.body);
      c.emit('MESSAGE_UPDATE', message);
      return ok(c.world.messageJson(message));
    },
    { open: true },
  ),
  route(
    'DELETE',
    '/webhooks/:application/:token/messages/:message',
    (c, r) => {
      const message = c.interactions.message(c.interactions.byToken(one(r, 0), one(r, 1)), one(r, 2));
      message.deleted = true;
      c.emit('MESSAGE_DELETE', message);
      return done;
    },
    { open: true },
  ),
];

/** Serves one request of REST v10; `path` comes without `/api/v10`. @throws Refusal */
export function serve(
  context: RouteContext,
  method: string,
  path: string,
  query: URLSearchParams,
  body: Body,
  authorized: boolean,
): Reply {
  for (const candidate of ROUTES) {
    const match = candidate.method === method ? candidate.path.exec(path) : null;
    if (!match) continue;
    if (!candidate.open && !authorized) throw new Refusal('unauthorized');
    try {
      return candidate.serve(context, { parameters: match.slice(1), query, body });
    } catch (error) {
      if (error instanceof z.ZodError) throw new Refusal('invalidForm', error.message);
      throw error;
    }
  }
  throw new Refusal('notFound', `${method} ${path} is not a route of Discord`);
}

/** The message content intent also applies to REST: https://docs.discord.com/developers/events/gateway#message-content-intent */
const showsContent = (c: RouteContext): boolean => c.portal().flags !== 0;
