/** Slack's requests to the listener, in place of Socket Mode: proven, taken once, answered in time. */
import type { IncomingHttpHeaders } from 'node:http';
import { parse as parseForm } from 'node:querystring';
import { type App, type Receiver, verifySlackRequest } from '@slack/bolt';
import { z } from 'zod';
import type { Log } from '../../command.ts';
import type { WebhookAnswer, WebhookRequest } from '../platform.ts';

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const MOST_SKEW_MS = 5 * 60_000;

export interface WebhookOptions {
  readonly signingSecret: string;
  readonly now: () => number;
  readonly log: Log;
}

export interface Webhook extends Receiver {
  receive(request: WebhookRequest): Promise<WebhookAnswer>;
  /** Takes nothing new. */
  refuse(): void;
  /** Why nothing is taken. */
  readonly trouble: string | undefined;
}

const bodySchema = z.record(z.string(), z.unknown());
const challengeSchema = z.object({ type: z.literal('url_verification'), challenge: z.string() });

/** A Bolt receiver that the listener feeds. */
export function createWebhook({ signingSecret, now, log }: WebhookOptions): Webhook {
  let app: App | undefined;
  let taking = false;

  function isFromSlack({ headers, body }: WebhookRequest): boolean {
    const seconds = Number(headerOf(headers, 'x-slack-request-timestamp'));
    if (!(Math.abs(now() - seconds * 1000) <= MOST_SKEW_MS)) return false;
    try {
      verifySlackRequest({
        signingSecret,
        body: body.toString('utf8'),
        headers: {
          'x-slack-signature': headerOf(headers, 'x-slack-signature'),
          'x-slack-request-timestamp': seconds,
        },
        nowMilliseconds: now(),
      });
      return true;
    } catch {
      return false;
    }
  }

  /** Answers when the app acknowledges; 503 when it never does, so that Slack sends events again. */
  async function pass(
    body: z.infer<typeof bodySchema>,
    headers: WebhookRequest['headers'],
  ): Promise<WebhookAnswer> {
    const { promise, resolve } = Promise.withResolvers<WebhookAnswer>();
    const ack = async (response?: unknown): Promise<void> => resolve(answerOf(response));
    const retry = Number(headerOf(headers, 'x-slack-retry-num'));
    const handled = app?.processEvent({
      body,
      ack,
      ...(retry > 0 ? { retryNum: retry, retryReason: headerOf(headers, 'x-slack-retry-reason') } : {}),
    });
    void Promise.resolve(handled)
      .catch((error: unknown) => log.error({ err: error }, 'A request from Slack was not handled'))
      .then(() => resolve({ status: 503 }));
    return promise;
  }

  return {
    get trouble() {
      return taking ? undefined : 'Not taking requests from Slack';
    },
    init(started) {
      app = started;
    },
    async start() {
      taking = true;
    },
    refuse() {
      taking = false;
    },
    async stop() {
      taking = false;
    },
    async receive(request) {
      if (!isFromSlack(request)) return { status: 401 };
      const body = read(request.body);
      if (body === undefined) return { status: 400 };
      const challenge = challengeSchema.safeParse(body);
      if (challenge.success) return { status: 200, json: { challenge: challenge.data.challenge } };
      // Slack asks now and then whether the certificate holds.
      if (body.ssl_check !== undefined) return { status: 200 };
      return taking ? pass(body, request.headers) : { status: 503 };
    },
  };
}

function answerOf(response: unknown): WebhookAnswer {
  if (typeof response === 'string') return { status: 200, json: { text: response } };
  return typeof response === 'object' && response !== null
    ? { status: 200, json: response }
    : { status: 200 };
}

function headerOf(headers: IncomingHttpHeaders | WebhookRequest['headers'], name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Events are JSON; commands are a form, and interactions JSON in a form. Undefined for what is neither. */
function read(body: Buffer): z.infer<typeof bodySchema> | undefined {
  const text = body.toString('utf8');
  try {
    if (text.startsWith('{')) return bodySchema.parse(JSON.parse(text));
    const form = parseForm(text);
    return bodySchema.parse(typeof form.payload === 'string' ? JSON.parse(form.payload) : { ...form });
  } catch {
    return undefined;
  }
}
