/** How the requests of discord.js are sent: bodies are streamed, and nothing is sent twice that Discord would take twice. */

import { STATUS_CODES } from 'node:http';
import { HTTPError, type RESTOptions } from 'discord.js';
import { type Dispatcher, Headers, request } from 'undici';
import { present } from '../../../core/util/present.ts';
import { UnreadableFile } from './multipart.ts';

/** Long enough for ten files on a slow line. */
const TIMEOUT_MS = 60_000;
/** Discord waits three seconds for the response to an interaction; a job that was not declined begins after ten. */
const RESPONSE_TIMEOUT_MS = 5_000;
/** Each interaction has queues of its own, which discord.js would keep for an hour. */
const QUEUES_KEPT_MS = 5 * 60_000;

const RESPONSE = /\/interactions\/\d+\/[^/]+\/callback$/;
/** It takes no nonce, so the library must not repeat it. */
const FOLLOW_UP = /\/webhooks\/\d+\/[^/]+$/;

/** @param apiUrl base without the version, for proxies and tests; Discord's own by default */
export const restOptions = (apiUrl: string | undefined) => ({
  version: '10',
  timeout: TIMEOUT_MS,
  handlerSweepInterval: QUEUES_KEPT_MS,
  makeRequest: sendRequest,
  ...present({ api: apiUrl }),
});

const sendRequest: RESTOptions['makeRequest'] = async (url, { method, headers, body, signal }) => {
  const { pathname } = new URL(url);
  const isOnce = method === 'POST' && FOLLOW_UP.test(pathname);
  // One with files takes as long as it takes.
  const isUrgent = RESPONSE.test(pathname) && typeof body === 'string';
  const timeouts = isUrgent ? [AbortSignal.timeout(RESPONSE_TIMEOUT_MS)] : [];
  try {
    // discord.js passes names of methods, plain objects, and text or what `multipartOf` made; its types are those of fetch.
    const options = {
      method,
      headers,
      body,
      signal: AbortSignal.any([...(signal ? [signal] : []), ...timeouts]),
    } as unknown as Dispatcher.DispatchOptions;
    const { statusCode: status, headers: fields, body: content } = await request(url, options);
    // Read at once: an unread response keeps its connection in use.
    const bytes = await content.arrayBuffer();
    const text = () => new TextDecoder().decode(bytes);
    const statusText = STATUS_CODES[status] ?? '';
    if (isOnce && status >= 500) throw new HTTPError(status, statusText, method, url, {});
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
    // The library tries again what has this code.
    throw isOnce ? failure : Object.assign(failure, { code: 'ECONNRESET' });
  }
};
