import { createHmac } from 'node:crypto';
import { asText, type Fields, isFields } from './json.ts';
import type { Deliver, Delivery, EnvelopeType } from './socket-mode.ts';
import type { Workspace } from './workspace.ts';

export interface HttpDeliveryOptions {
  /** The app's request URL. */
  url: string;
  signingSecret: string;
  workspace: Workspace;
  ackTimeoutMs: number;
  redeliveryMs: readonly number[];
  now: () => number;
}

/** Slack's side of a request URL: signed requests, a deadline of three seconds, resent events. */
export function httpDelivery(options: HttpDeliveryOptions): Deliver {
  const { workspace, redeliveryMs, ackTimeoutMs } = options;

  const refuse = (type: EnvelopeType, error: string, payload: Fields) =>
    workspace.refuse({
      method: type,
      error,
      detail: [`Not acknowledged within ${ackTimeoutMs} ms`],
      arguments: payload,
    });

  return async (type, payload, acceptsResponse): Promise<Delivery> => {
    const waits = type === 'events_api' ? redeliveryMs : [];
    for (let attempt = 0; ; attempt += 1) {
      const answer = await send(type, payload, attempt, options);
      if (answer?.status === 200) {
        if (answer.body !== '' && !acceptsResponse) refuse(type, 'unexpected_response_payload', payload);
        const ack = read(answer.body);
        return { ack, acknowledged: true, attempts: attempt + 1 };
      }
      refuse(type, answer === undefined ? 'operation_timeout' : `http_${answer.status}`, payload);
      const wait = waits[attempt];
      if (wait === undefined) return { ack: undefined, acknowledged: false, attempts: attempt + 1 };
      await new Promise((resolve) => setTimeout(resolve, wait));
    }
  };
}

/** Signs a body as Slack does: https://docs.slack.dev/authentication/verifying-requests-from-slack */
export function signed(body: string, secret: string, nowMs: number): Record<string, string> {
  const timestamp = String(Math.floor(nowMs / 1000));
  const hash = createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex');
  return { 'x-slack-request-timestamp': timestamp, 'x-slack-signature': `v0=${hash}` };
}

async function send(
  type: EnvelopeType,
  payload: Fields,
  attempt: number,
  { url, signingSecret, ackTimeoutMs, now }: HttpDeliveryOptions,
): Promise<{ status: number; body: string } | undefined> {
  const isEvent = type === 'events_api';
  const body = isEvent ? JSON.stringify(payload) : formOf(type, payload);
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        // A keep-alive connection may lead to an app that was just stopped.
        connection: 'close',
        'content-type': isEvent ? 'application/json' : 'application/x-www-form-urlencoded',
        ...signed(body, signingSecret, now()),
        ...(attempt > 0
          ? { 'x-slack-retry-num': String(attempt), 'x-slack-retry-reason': 'http_timeout' }
          : {}),
      },
      body,
      signal: AbortSignal.timeout(ackTimeoutMs),
    });
    return { status: response.status, body: await response.text() };
  } catch {
    return undefined;
  }
}

function formOf(type: EnvelopeType, payload: Fields): string {
  if (type === 'interactive') return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
  const fields = Object.entries(payload).map(([name, value]): [string, string] => [
    name,
    asText(value) ?? String(value),
  ]);
  return new URLSearchParams(fields).toString();
}

/** Text that is not JSON is a message to the person, as in Slack. */
function read(body: string): Fields | undefined {
  if (body === '') return undefined;
  try {
    const parsed: unknown = JSON.parse(body);
    return isFields(parsed) ? parsed : undefined;
  } catch {
    return { text: body };
  }
}
