import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';
import { type Condition, untilChanged } from '../until.ts';
import { type Settings, SlackRefusal } from './call.ts';
import { Faults } from './faults.ts';
import { httpDelivery } from './http-delivery.ts';
import { type InstallOptions, installIn } from './install.ts';
import { asFields, type Fields } from './json.ts';
import { SLACK } from './limits.ts';
import { agents } from './methods/agents.ts';
import { chat } from './methods/chat.ts';
import { conversations } from './methods/conversations.ts';
import { files } from './methods/files.ts';
import { streams } from './methods/streams.ts';
import { viewMethods } from './methods/views.ts';
import { people } from './people.ts';
import { showReply } from './replies.ts';
import { type Deliver, SocketMode } from './socket-mode.ts';
import { ResponseUrls, Triggers } from './tickets.ts';
import { Tokens } from './tokens.ts';
import { webApi } from './web-api.ts';
import { type OpenView, type Organisation, type PostedMessage, Workspace } from './workspace.ts';

/** The SDK sends JSON in a string: https://docs.slack.dev/reference/methods/apps.manifest.create */
const manifestSchema = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(
    z.object({
      display_information: z.object({ name: z.string().max(35) }),
      features: z.object({ slash_commands: z.array(z.object({ command: z.string().startsWith('/') })) }),
      settings: z.object({ socket_mode_enabled: z.literal(true) }),
    }),
  );

/** The manifest's scopes. Tests remove some to cause `missing_scope`. */
const SCOPES = [
  'app_mentions:read',
  'assistant:write',
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'im:history',
  'im:write',
  'mpim:history',
  'users:read',
];

const EVENTS = [
  'agent_session_stopped',
  'app_mention',
  'message.im',
  'app_home_opened',
  'app_uninstalled',
  'tokens_revoked',
];

/** The status of an expired response_url; 400 for other errors. */
const REPLY_STATUS: Readonly<Record<string, number>> = {
  used_url: 404,
  expired_url: 404,
  channel_not_found: 404,
  channel_is_archived: 410,
};

export interface SlackServerOptions {
  scopes?: readonly string[];
  /** Events that the app subscribes to. */
  events?: readonly string[];
  /** True if the first workspace's plan includes agents. Default: false. */
  agents?: boolean;
  ackTimeoutMs?: number;
  redeliveryMs?: readonly number[];
  shareDelayMs?: number;
  pictureDelayMs?: number;
  pageMessages?: number;
  now?: () => number;
  /** The clock for headers and interactions. Default: `now`. */
  writtenNow?: () => number;
}

export type SlackServer = Awaited<ReturnType<typeof startSlackServer>>;

/** Starts a strict Slack on loopback. README.md lists its checks and people's actions. */
export async function startSlackServer({
  scopes = SCOPES,
  events = EVENTS,
  agents: hasAgents = false,
  ackTimeoutMs = SLACK.ackMs,
  redeliveryMs = [0, 50, 100],
  shareDelayMs = 5,
  pictureDelayMs = 0,
  pageMessages = SLACK.pageMessages,
  now: wallClock = Date.now,
  writtenNow,
}: SlackServerOptions = {}) {
  let passed = 0;
  let limitsPosts = false;
  let onItsWayMs = 0;
  const now = () => wallClock() + passed;
  const shownTime = writtenNow ?? now;
  /** The time at which Slack sent the current delivery. */
  const sentAt = () => shownTime() - onItsWayMs;
  const counter = { count: 0 };
  const workspace = new Workspace(now, { counter });
  workspace.agents = hasAgents;
  const workspaces = [workspace];
  const faults = new Faults();
  const botToken = 'xoxb-minstrel-test';
  const tokens = new Tokens(now);
  tokens.add(botToken, workspace);
  const settings: Settings = {
    scopes: new Set(scopes),
    baseUrl: '',
    shareDelayMs,
    pictureDelayMs,
    pageMessages,
  };
  const triggers = new Triggers(workspace);
  const responseUrls = new ResponseUrls(workspace);
  const socketMode = new SocketMode({ workspace, ackTimeoutMs, redeliveryMs });
  const bySocket: Deliver = (...payload) => socketMode.deliver(...payload);
  let deliver = bySocket;
  const api = webApi({
    workspace,
    settings,
    faults,
    tokens,
    limitsPosts: () => limitsPosts,
    methods: {
      ...chat,
      ...streams,
      ...agents,
      ...files,
      ...conversations,
      ...viewMethods((id) => triggers.take(id)),
      'oauth.v2.access': ({ args }) => tokens.access(args),
      'apps.connections.open': () => ({ url: socketMode.ticket(settings.baseUrl) }),
      'apps.manifest.create': ({ args }) => {
        if (!manifestSchema.safeParse(args.manifest).success) throw new SlackRefusal('invalid_manifest');
        return { app_id: workspace.appId };
      },
    },
  });

  const http = createServer((request, response) => {
    response.setHeader('date', new Date(shownTime()).toUTCString());
    void route(request, response).catch(() => response.destroy());
  });
  socketMode.attach(http);

  async function route(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const path = new URL(request.url ?? '/', 'http://slack').pathname;
    const [, first, ...rest] = path.split('/');
    if (first === 'api') return await api.handle(request, response, rest.join('/'), body);
    if (first === 'upload') return await upload(request, response, rest.at(-1) ?? '', body);
    if (first === 'files-pri') return download(request, response, rest[0] ?? '');
    if (first === 'response') return reply(response, rest[0] ?? '', body);
    response.writeHead(404).end();
  }

  async function upload(
    request: IncomingMessage,
    response: ServerResponse,
    id: string,
    body: Buffer,
  ): Promise<void> {
    const fault = faults.take('upload');
    if (fault?.type === 'status') return void response.writeHead(fault.status).end();
    if (fault !== undefined) return void request.socket.destroy();
    const file = fileOf(id)?.file;
    const type = request.headers['content-type'] ?? '';
    const bytes = type.startsWith('multipart/form-data') ? await firstPart(type, body) : body;
    if (file?.state !== 'requested' || bytes.length !== file.announcedLength) {
      workspace.refuse({
        method: 'upload',
        error: file === undefined ? 'file_not_found' : 'wrong_length',
        detail: [`${bytes.length} of ${file?.announcedLength ?? 0} bytes`],
        arguments: { id },
      });
      return void response.writeHead(400).end('bad upload');
    }
    file.bytes = bytes;
    file.state = 'uploaded';
    response.writeHead(200, { 'content-type': 'text/plain' }).end(`OK - ${bytes.length}`);
  }

  function download(request: IncomingMessage, response: ServerResponse, id: string): void {
    const requested = fileOf(id);
    if (requested === undefined) return void response.writeHead(404).end();
    const { file, owner } = requested;
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const allowed = settings.scopes.has('files:read') && canAccess(token, owner);
    // Slack sends a sign-in page with status 200 to clients without a token.
    if (!allowed)
      return void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Sign in</html>');
    response
      .writeHead(200, { 'content-type': file.mimetype, 'content-length': file.bytes.length })
      .end(file.bytes);
  }

  const fileOf = (id: string) =>
    workspaces
      .map((owner) => ({ owner, file: owner.files.get(id) }))
      .flatMap(({ owner, file }) => (file === undefined ? [] : [{ owner, file }]))[0];

  function canAccess(token: string | undefined, owner: Workspace): boolean {
    try {
      return tokens.workspaceOf(token) === owner;
    } catch {
      return false;
    }
  }

  function reply(response: ServerResponse, key: string, body: Buffer): void {
    const fields: Fields = asFields(JSON.parse(body.toString('utf8')));
    try {
      const ticket = responseUrls.take(key);
      const owner = workspaces.find(({ teamId }) => teamId === ticket.team) ?? workspace;
      showReply(owner, ticket, fields, 'response_url');
      response.writeHead(200, { 'content-type': 'text/html' }).end('ok');
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      workspace.refuse({
        method: 'response_url',
        error: error.error,
        detail: error.detail,
        arguments: fields,
      });
      response.writeHead(REPLY_STATUS[error.error] ?? 400).end(error.error);
    }
  }

  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  // Sound: a TCP server that listens has an AddressInfo.
  const { port } = http.address() as AddressInfo;
  settings.baseUrl = `http://127.0.0.1:${port}`;
  responseUrls.baseUrl = settings.baseUrl;
  const apiUrl = `${settings.baseUrl}/api/`;

  /** Resolves with the condition's first truthy value. */
  const until = <Value>(condition: Condition<Value>): Promise<Value> =>
    untilChanged(condition, {
      emitter: workspace,
      event: 'changed',
      explain: () => `Timed out; refused: ${JSON.stringify(workspace.refused)}`,
    });

  const peopleOf = (team: Workspace) =>
    people({
      workspace: team,
      deliver: (...payload) => deliver(...payload),
      triggers,
      responseUrls,
      settings,
      events: new Set(events),
      sentAt,
    });

  function addWorkspace(teamId: string, teamName: string) {
    const team = new Workspace(now, { teamId, teamName, counter });
    team.refused.push = (...refusals) => workspace.refused.push(...refusals);
    team.on('changed', () => workspace.emit('changed'));
    workspaces.push(team);
    return { workspace: team, ...peopleOf(team) };
  }

  const shownIn = (channel: string) =>
    workspace.messages.filter((message) => message.channel === channel && !message.deleted);

  return {
    ...peopleOf(workspace),
    workspace,
    faults,
    socketMode,
    url: settings.baseUrl,
    apiUrl,
    /** The settings of a bot that connects over Socket Mode. */
    environment: {
      SLACK_BOT_TOKEN: botToken,
      SLACK_APP_TOKEN: tokens.app,
      SLACK_API_URL: apiUrl,
      MEDIA_ALLOWED_HOSTS: new URL(apiUrl).host,
    },
    botToken,
    appToken: tokens.app,
    signingSecret: tokens.signingSecret,
    clientId: tokens.clientId,
    clientSecret: tokens.clientSecret,
    tokens,
    /** From now on, sends everything as signed requests to this URL instead of over Socket Mode. */
    deliverTo: (url: string) => {
      deliver = httpDelivery({
        url,
        signingSecret: tokens.signingSecret,
        workspace,
        ackTimeoutMs,
        redeliveryMs,
        now: sentAt,
      });
    },
    /** Adds a workspace, with the same actions for its people. */
    addWorkspace,
    /** Adds a workspace of an organisation that installs the app for all its workspaces. */
    addToOrganisation: (organisation: Organisation, teamId: string, teamName: string) => {
      const added = addWorkspace(teamId, teamName);
      const { workspace: team } = added;
      team.organisation = organisation;
      organisation.workspaces.push(team);
      // Organisations have their own ids, so the default people and channels are removed.
      for (const id of ['C0MUSIC', 'C0QUIET', 'D0ADA']) team.channels.delete(id);
      for (const id of ['U0ADA', 'U0BOB']) team.users.delete(id);
      return added;
    },
    /** Installs the app in a workspace like a person with a browser, starting at the app's install page. */
    install: (
      installUrl: string,
      team: Workspace = workspace,
      how: Pick<InstallOptions, 'deny' | 'otherBrowser'> = {},
    ) => installIn(team, installUrl, { tokens, known: settings.scopes, ...how }),
    /** Requests that Slack would have refused; empty for a correct bot. */
    refused: workspace.refused,
    hold: api.hold,
    /** Every Web API call, in order. */
    calls: api.calls,
    callsOf: (method: string) => api.calls.filter((call) => call.method === method),
    /** Returns a channel's messages and replies without deleted ones, oldest first. */
    messages: shownIn,
    /** Returns the bot's messages and replies in a channel, oldest first. */
    botMessages: (channel = 'C0MUSIC') => shownIn(channel).filter(({ user }) => user === workspace.botUser),
    /** Returns the replies to a message. */
    thread: (message: PostedMessage) =>
      shownIn(message.channel).filter(({ threadTs }) => threadTs === message.ts),
    /** Returns a person's ephemeral messages. */
    ephemeralsOf: (user = 'U0ADA') => workspace.ephemerals.filter((message) => message.user === user),
    /** Returns the topmost modal on a person's screen. */
    openView: (user = 'U0ADA'): OpenView | undefined =>
      [...workspace.views.values()].findLast((view) => view.user === user && view.open),
    homeOf: (user = 'U0ADA') => workspace.homes.get(user),
    until,
    /** Advances the server's clock, which expires triggers, response_urls and streams. */
    passTime: (ms: number) => {
      passed += ms;
    },
    /** Delays the delivery of people's actions from now on. */
    delay: (ms: number) => {
      onItsWayMs = ms;
    },
    limitPosts: () => {
      limitsPosts = true;
    },
    revokeToken: () => {
      tokens.revoke();
    },
    takeScope: (scope: string) => settings.scopes.delete(scope),
    /** Ends all open streams, as Slack does after five minutes. */
    endStreams: () => {
      for (const { streaming } of workspace.messages)
        if (streaming?.open) Object.assign(streaming, { open: false, endedBySlack: true });
    },
    close: async () => {
      await socketMode.close();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

async function firstPart(contentType: string, body: Buffer): Promise<Buffer> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': contentType },
  }).formData();
  for (const [, value] of form) if (value instanceof Blob) return Buffer.from(await value.arrayBuffer());
  return Buffer.alloc(0);
}
