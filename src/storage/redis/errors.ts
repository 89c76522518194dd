import { StorageError, type StorageErrorCode } from '../storage.ts';

// First words of Redis error replies. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
const REPLIES: ReadonlyMap<string, { readonly code: StorageErrorCode; readonly detail: string }> = new Map([
  ['OOM', { code: 'full', detail: 'Redis has no memory left.' }],
  ['MISCONF', { code: 'full', detail: 'Redis cannot write to its disk.' }],
  ['READONLY', { code: 'unavailable', detail: 'This Redis is a read-only replica.' }],
  ['LOADING', { code: 'unavailable', detail: 'Redis is still loading its data.' }],
  ['MASTERDOWN', { code: 'unavailable', detail: 'This Redis has lost the connection to its master.' }],
  ['NOREPLICAS', { code: 'unavailable', detail: 'Redis has too few replicas to accept writes.' }],
  ['NOAUTH', { code: 'unavailable', detail: 'Redis requires a password. Add it to the URL.' }],
  ['WRONGPASS', { code: 'unavailable', detail: 'Redis rejected the user name or password in the URL.' }],
  ['NOPERM', { code: 'unavailable', detail: 'The Redis user is missing a permission.' }],
]);

const NO_PASSWORD = {
  code: 'unavailable',
  detail: 'Redis has no password, but the URL does. Remove the password from the URL, or set one in Redis.',
} as const;

/** Returns the first word of a Redis error reply, such as `ERR`; undefined for a connection error. */
export function replyOf(error: unknown): string | undefined {
  return error instanceof Error ? /^([A-Z]+) /.exec(error.message)?.[1] : undefined;
}

/** Returns a StorageError for a refusal that is due to the state or configuration of Redis; undefined for other errors. */
export function refusalOfRedis(error: unknown): StorageError | undefined {
  const reply = replyOf(error);
  const known = reply === 'ERR' && /\bAUTH\b/.test(String(error)) ? NO_PASSWORD : REPLIES.get(reply ?? '');
  return known && new StorageError(known.code, known.detail, error);
}
