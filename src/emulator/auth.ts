import type { IncomingHttpHeaders } from 'node:http';
import { familyOf } from './family.ts';
import { Refusal } from './refusal.ts';

/** The version that the messages dialect requires (contract, Versioning 3). */
const messagesVersion = '2023-06-01';

/**
 * Refuses a request whose headers break the contract's Authentication section: Bearer for music, media, chat and gen;
 * `x-api-key` with `vendor-version` for msg; either for the model list on the chat path.
 */
export function checkHeaders(path: string, headers: IncomingHttpHeaders, apiKey: string): void {
  switch (familyOf(path)) {
    case 'music':
    case 'media':
    case 'gen':
      checkBearer(headers, apiKey);
      return;
    case 'chat':
      if (path === '/chat/v1/models' && headers.authorization === undefined)
        checkMessagesHeaders(headers, apiKey);
      else checkBearer(headers, apiKey);
      return;
    case 'msg':
      checkMessagesHeaders(headers, apiKey);
      return;
    case 'files':
    case 'none':
      return;
  }
}

/** Refuses a request without `Authorization: Bearer` and the key. */
export function checkBearer(headers: IncomingHttpHeaders, apiKey: string): void {
  const { authorization } = headers;
  if (authorization === undefined) {
    const mistaken = headers['x-api-key'] !== undefined || headers['x-goog-api-key'] !== undefined;
    throw new Refusal(
      'unauthenticated',
      mistaken
        ? 'this route takes the key as "Authorization: Bearer <API_KEY>", not in another header'
        : 'the header "Authorization: Bearer <API_KEY>" is missing',
    );
  }
  const match = /^Bearer (\S+)$/.exec(authorization);
  if (match === null)
    throw new Refusal('unauthenticated', 'the Authorization header must read "Bearer <API_KEY>"');
  if (match[1] !== apiKey) throw new Refusal('unauthenticated', 'the API key is not known');
}

function checkMessagesHeaders(headers: IncomingHttpHeaders, apiKey: string): void {
  const key = headers['x-api-key'];
  if (key === undefined) {
    throw new Refusal(
      'unauthenticated',
      headers.authorization === undefined
        ? 'the header "x-api-key" is missing'
        : 'msg routes take the key in "x-api-key", not as a Bearer token',
    );
  }
  if (key !== apiKey) throw new Refusal('unauthenticated', 'the API key is not known');
  const version = headers['vendor-version'];
  if (version === undefined) throw new Refusal('invalid', 'the header "vendor-version" is missing');
  if (version !== messagesVersion) throw new Refusal('invalid', `vendor-version must be ${messagesVersion}`);
}
