/** Allows only requests from the playground's own page in a browser on this machine. */
import type { IncomingHttpHeaders } from 'node:http';

interface GuardedRequest {
  readonly method?: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly socket: { readonly remoteAddress?: string | undefined };
}

export type Guard = (request: GuardedRequest) => boolean;

/** Headers that proxies add. A proxy without them looks like this machine. */
const FORWARDED = [
  'forwarded',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-real-ip',
  'cf-connecting-ip',
  'via',
];
const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;

/**
 * Whether a request comes from this machine and from our own page. Checks the host name to prevent DNS rebinding, and the origin
 * to block other sites.
 */
export function createGuard(port: string): Guard {
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => `${name}:${port}`);
  // Browsers omit the default port.
  if (port === '' || port === '80') hosts.push('127.0.0.1', 'localhost', '[::1]');
  return ({ headers, method, socket }) => {
    const { host = '', origin } = headers;
    if (!LOOPBACK.test(socket.remoteAddress ?? '') || !hosts.includes(host)) return false;
    if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
    if (origin !== undefined && origin !== `http://${host}`) return false;
    if (method !== 'GET' && method !== 'HEAD') return origin !== undefined;
    const site = headers['sec-fetch-site'] ?? 'none';
    return site === 'none' || site === 'same-origin' || headers['sec-fetch-mode'] === 'navigate';
  };
}
