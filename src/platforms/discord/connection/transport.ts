/** Sends discord.js's requests. Streams bodies, and does not retry requests that Discord would process twice. */

import { STATUS_CODES } from 'node:http';
import { HTTPError, type RESTOptions } from 'discord.js';
import { type Dispatcher, Headers, request } from 'undici';
import { present } from '../../../core/util/present.ts';
import { UnreadableFile } from './multipart.ts';

/** Long enough for ten files on a slow connection. */
const TIMEOUT_MS = 60_000;
/** Discord waits three seconds for the response to an interaction. A job starts after ten unless it is declined. */
const RESPONSE_TIMEOUT_MS = 5_000;
/** Each interaction has its own queues, which discord.js would keep for an hour. */
const QUEUE_SWEEP_MS = 5 * 60_000;

const RESPONSE = /\/interactions\/\d+\/[^/]+\/callback$/;
/** Follow-ups have no nonce, so discord.js must not retry them. */
const FOLLOW_UP = /\/webhooks\/\d+\/[^/]+$/;

/** @param apiUrl base URL without the version, for proxies and tests; default: Discord's own */
export const restOptions = (apiUrl: string | undefined) => ({
  version: '10',
  timeout: TIMEOUT_MS,
  handlerSweepInterval: QUEUE_SWEEP_MS,
  makeRequest: sendRequest,
  ...present({ api: apiUrl }),
});

const sendRequest: RESTOptions['makeRequest'] = async (url, { method, headers, body, signal }) => {
  const { pathname } = new URL(url);
  const isSentOnce = method === 'POST' && FOLLOW_UP.test(pathname);
  // Responses with files get the full timeout.
  const isUrgent = RESPONSE.test(pathname) && typeof body === 'string';
  const timeouts = isUrgent ? [AbortSignal.timeout(RESPONSE_TIMEOUT_MS)] : [];
  try {
    // discord.js passes a method name, plain objects, and text or the body of `multipartOf`, but uses the types of fetch.
    const options = {
      method,
      headers,
      body,
      signal: AbortSignal.any([...(signal ? [signal] : []), ...timeouts]),
    } as unknown as Dispatcher.DispatchOptions;
    const { statusCode: status, headers: fields, body: content } = await request(url, options);
    // Read immediately: an unread response keeps its connection in use.
    const bytes = await content.arrayBuffer();
    const text = () => new TextDecoder().decode(bytes);
    const statusText = STATUS_CODES[status] ?? '';
    if (isSentOnce && status >= 500) throw new HTTPError(status, statusText, method, url, {});
    return {
      body: null,
      bodyUsed: true,
      arrayBuffer: async () => bytes,
      text: async () => text(),
      json: async () => JSON.parse(text()),
      headers: new Headers(Object.entries(fields).map(([name, value]) => [name, String(value)])),
      ok: status >= 200 && status < 300,
      status,
      statusText,
    };
  } catch (error) {
    if (error instanceof UnreadableFile || error instanceof HTTPError) throw error;
    const failure = new Error('Discord connection failed', { cause: error });
    // discord.js retries errors with this code.
    throw isSentOnce ? failure : Object.assign(failure, { code: 'ECONNRESET' });
  }
};
