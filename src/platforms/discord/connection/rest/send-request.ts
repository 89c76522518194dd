import { STATUS_CODES } from 'node:http';
import type { RESTOptions } from 'discord.js';
import { type Dispatcher, Headers, request } from 'undici';
import { UnreadableFile } from '../../deliver/payload.ts';

/**
 * For discord.js's `makeRequest`. An answer is read whole before it resolves, so that no connection stays in use for one
 * that nobody reads.
 */
export const sendRequest: RESTOptions['makeRequest'] = async (url, { method, headers, body, signal }) => {
  try {
    // discord.js passes names of methods, plain objects, and text or what `formOf` made; its types are those of fetch.
    const options = { method, headers, body, signal } as unknown as Dispatcher.DispatchOptions;
    const { statusCode: status, headers: told, body: content } = await request(url, options);
    const bytes = await content.arrayBuffer();
    const text = () => new TextDecoder().decode(bytes);
    return {
      body: null,
      bodyUsed: true,
      arrayBuffer: async () => bytes,
      text: async () => text(),
      json: async () => JSON.parse(text()),
      headers: new Headers(Object.entries(told).map(([name, value]) => [name, String(value)])),
      ok: status >= 200 && status < 300,
      status,
      statusText: STATUS_CODES[status] ?? '',
    };
  } catch (error) {
    if (error instanceof UnreadableFile || signal?.aborted) throw error;
    // The library tries again what has this code.
    throw Object.assign(new Error('The connection to Discord failed', { cause: error }), {
      code: 'ECONNRESET',
    });
  }
};
