import type { IncomingMessage, ServerResponse } from 'node:http';
import { Call, type Method, type Settings, SlackRefusal } from './call.ts';
import type { Fault, Faults } from './faults.ts';
import { type Fields, isFields } from './json.ts';
import type { Tokens } from './tokens.ts';
import type { Workspace } from './workspace.ts';

export interface WebApiOptions {
  /** The workspace for calls without a token. */
  workspace: Workspace;
  settings: Settings;
  faults: Faults;
  tokens: Tokens;
  methods: Readonly<Record<string, Method>>;
  /** True to limit chat.postMessage to one message per second and channel. */
  limitsPosts: () => boolean;
}

/** A logged call. */
export interface LoggedCall {
  method: string;
  arguments: Fields;
  at: number;
  outcome: 'ok' | 'refused' | 'fault';
  /** The token's workspace. */
  team: string;
}

/** Serves `/api/:method`. */
export function webApi({ workspace, settings, faults, tokens, methods, limitsPosts }: WebApiOptions) {
  const calls: LoggedCall[] = [];
  const lastPost = new Map<string, number>();
  const held = new Set<string>();

  /** Returns the workspace of the call's token. */
  function authorize(request: IncomingMessage, args: Fields, method: string): Workspace {
    if (method === 'oauth.v2.access') return workspace;
    const bearer = /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
    const token = bearer ?? args.token;
    if (token === undefined) throw new SlackRefusal('not_authed');
    const expected = { 'apps.connections.open': tokens.app, 'apps.manifest.create': tokens.configuration }[
      method
    ];
    if (expected === undefined) return tokens.workspaceOf(token, args);
    if (token !== expected) throw new SlackRefusal('invalid_auth');
    return workspace;
  }

  function tooFast(method: string, args: Fields): boolean {
    if (method !== 'chat.postMessage' || !limitsPosts()) return false;
    const channel = String(args.channel);
    const last = lastPost.get(channel);
    if (last !== undefined && workspace.now() - last < 1000) return true;
    lastPost.set(channel, workspace.now());
    return false;
  }

  async function handle(request: IncomingMessage, response: ServerResponse, method: string, body: Buffer) {
    const args = readArguments(request, body);
    const log = (outcome: LoggedCall['outcome'], team = workspace) =>
      calls.push({ method, arguments: args, at: workspace.now(), outcome, team: team.teamId });
    if (held.has(method)) {
      log('fault');
      return;
    }
    const fault = faults.take(method);
    if (fault !== undefined && fault.type !== 'answer lost') {
      log('fault');
      answerFault(request, response, fault);
      return;
    }
    if (tooFast(method, args)) {
      log('fault');
      answerFault(request, response, { type: 'ratelimited', retryAfter: 1 });
      return;
    }
    try {
      const team = authorize(request, args, method);
      const run = methods[method];
      if (run === undefined) throw new SlackRefusal('unknown_method');
      const result = run(new Call(method, args, team, settings));
      log('ok', team);
      if (fault !== undefined) request.socket.destroy();
      else
        answer(response, 200, { ok: true, ...result }, { 'x-oauth-scopes': [...settings.scopes].join(',') });
    } catch (error) {
      if (!(error instanceof SlackRefusal)) throw error;
      log('refused');
      if (error.counts) {
        workspace.refuse({ method, error: error.error, detail: error.detail, arguments: args });
      }
      answer(response, 200, {
        ok: false,
        error: error.error,
        ...(error.error === 'missing_scope'
          ? { needed: error.detail.join(), provided: [...settings.scopes].join() }
          : {}),
        ...(error.detail.length > 0 ? { response_metadata: { messages: error.detail } } : {}),
      });
    }
  }

  /** Leaves calls of this method without a response from now on. */
  const hold = (method: string) => void held.add(method);

  return { handle, calls, hold };
}

function answer(
  response: ServerResponse,
  status: number,
  body: Fields,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json; charset=utf-8', ...headers });
  response.end(JSON.stringify(body));
}

function answerFault(request: IncomingMessage, response: ServerResponse, fault: Fault): void {
  switch (fault.type) {
    case 'ratelimited':
      answer(response, 429, { ok: false, error: 'ratelimited' }, { 'retry-after': String(fault.retryAfter) });
      return;
    case 'status':
      response.writeHead(fault.status, { 'content-type': 'text/html' });
      response.end('<html><body>Something went wrong</body></html>');
      return;
    case 'error':
      answer(response, 200, { ok: false, error: fault.error });
      return;
    case 'nonsense':
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end('{"ok": tru');
      return;
    case 'dropped':
    case 'answer lost':
      request.socket.destroy();
      return;
    default:
      fault satisfies never;
  }
}

function readArguments(request: IncomingMessage, body: Buffer): Fields {
  const query = new URL(request.url ?? '/', 'http://slack').searchParams;
  const fromQuery = Object.fromEntries(query);
  const type = request.headers['content-type'] ?? '';
  if (type.startsWith('application/json')) {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return isFields(parsed) ? parsed : {};
  }
  return { ...fromQuery, ...Object.fromEntries(new URLSearchParams(body.toString('utf8'))) };
}
