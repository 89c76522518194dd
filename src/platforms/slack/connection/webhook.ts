/** Slack's requests to the listener, instead of Socket Mode: verified, taken once, answered in time. */
import { parse as parseForm } from 'node:querystring';
import { type App, verifySlackRequest } from '@slack/bolt';
import { z } from 'zod';
import type { WebhookAnswer, WebhookRequest } from '../../../core/http.ts';
import type { Connection, ConnectionOptions, HttpConnection } from './connection.ts';

/** https://docs.slack.dev/authentication/verifying-requests-from-slack */
const MOST_SKEW_MS = 5 * 60_000;

const TELL_EVERY_MS = 60_000;

const bodySchema = z.record(z.string(), z.unknown());
const challengeSchema = z.object({ type: z.literal('url_verification'), challenge: z.string() });

export function createWebhook(
  { signingSecret }: HttpConnection,
  { now, log }: Pick<ConnectionOptions, 'now' | 'log'>,
): Connection {
  let app: App | undefined;
  let taking = false;
  let refused = 0;
  let toldAt = Number.NEGATIVE_INFINITY;

  /** Changes nothing that others see: anybody can send such a request. */
  function refuse(): WebhookAnswer {
    refused += 1;
    if (now() - toldAt >= TELL_EVERY_MS) {
      toldAt = now();
      log.warn(
        { refused },
        "Refused requests without a valid signature: they are not from Slack, SLACK_SIGNING_SECRET is another app's, or this machine's clock is wrong",
      );
    }
    return { status: 401 };
  }

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
    // Whole seconds: it was sent before the next one began.
    const sentAt = (Number(headerOf(headers, 'x-slack-request-timestamp')) + 1) * 1000;
    const handled = app?.processEvent({
      body,
      ack,
      customProperties: { sentAt },
      ...(retry > 0 ? { retryNum: retry, retryReason: headerOf(headers, 'x-slack-retry-reason') } : {}),
    });
    void Promise.resolve(handled)
      .catch((error: unknown) => log.error({ err: error }, 'A request from Slack was not handled'))
      .then(() => resolve({ status: 503 }));
    return promise;
  }

  return {
    get trouble() {
      return taking ? undefined : 'takes no requests now';
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
      if (!isFromSlack(request)) return refuse();
      const body = read(request.body);
      if (body === undefined) return { status: 400 };
      const challenge = challengeSchema.safeParse(body);
      if (challenge.success) return { status: 200, json: { challenge: challenge.data.challenge } };
      // Slack checks the certificate now and then.
      if (body.ssl_check !== undefined) return { status: 200 };
      return taking ? pass(body, request.headers) : { status: 503 };
    },
  };
}

function answerOf(response: unknown): WebhookAnswer {
  const json = typeof response === 'string' ? { text: response } : response;
  return typeof json === 'object' && json !== null ? { status: 200, json } : { status: 200 };
}

function headerOf(headers: WebhookRequest['headers'], name: string): string {
  const value = headers[name];
  return typeof value === 'string' ? value : '';
}

/** Events are JSON, commands a form, interactions JSON in a form. Undefined for anything else. */
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
