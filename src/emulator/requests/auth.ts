import type { IncomingHttpHeaders } from 'node:http';
import { routeFamily } from './family.ts';
import { RefusedRequest } from './refusal.ts';

/** The version that the messages dialect requires (contract, Versioning 3). */
const messagesVersion = '2023-06-01';

/**
 * Refuses a request whose headers break the contract's Authentication section: Bearer for music, media, chat and gen;
 * `x-api-key` with `vendor-version` for msg; either for the model list on the chat path.
 */
export function checkHeaders(path: string, headers: IncomingHttpHeaders, apiKey: string): void {
  const family = routeFamily(path);
  if (family === 'files' || family === 'none') return;
  const isMessages = family === 'msg' || (path === '/chat/v1/models' && headers.authorization === undefined);
  if (isMessages) checkMessagesHeaders(headers, apiKey);
  else checkBearer(headers, apiKey);
}

/** Refuses a request without `Authorization: Bearer` and the key. */
function checkBearer(headers: IncomingHttpHeaders, apiKey: string): void {
  const { authorization } = headers;
  if (authorization === undefined) {
    const mistaken = headers['x-api-key'] !== undefined || headers['x-goog-api-key'] !== undefined;
    throw unauthenticated(
      mistaken
        ? 'this route takes the key as "Authorization: Bearer <API_KEY>", not in another header'
        : 'the header "Authorization: Bearer <API_KEY>" is missing',
    );
  }
  const key = /^Bearer (\S+)$/.exec(authorization)?.[1];
  if (key === undefined) throw unauthenticated('the Authorization header must read "Bearer <API_KEY>"');
  if (key !== apiKey) throw unauthenticated('the API key is not known');
}

function checkMessagesHeaders(headers: IncomingHttpHeaders, apiKey: string): void {
  const { 'x-api-key': key, 'vendor-version': version, authorization } = headers;
  if (key === undefined) {
    throw unauthenticated(
      authorization === undefined
        ? 'the header "x-api-key" is missing'
        : 'msg routes take the key in "x-api-key", not as a Bearer token',
    );
  }
  if (key !== apiKey) throw unauthenticated('the API key is not known');
  if (version === undefined) throw new RefusedRequest('invalid', 'the header "vendor-version" is missing');
  if (version !== messagesVersion)
    throw new RefusedRequest('invalid', `vendor-version must be ${messagesVersion}`);
}

function unauthenticated(message: string): RefusedRequest {
  return new RefusedRequest('unauthenticated', message);
}
