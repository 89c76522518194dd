import { StorageError, type StorageErrorCode } from '../storage.ts';

// First words of Redis's own error replies. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
const REPLIES: ReadonlyMap<string, { readonly code: StorageErrorCode; readonly detail: string }> = new Map([
  ['OOM', { code: 'full', detail: 'Redis has no memory left.' }],
  ['MISCONF', { code: 'full', detail: 'Redis cannot write to its disk.' }],
  ['READONLY', { code: 'unavailable', detail: 'This Redis is a replica, which cannot be written.' }],
  ['LOADING', { code: 'unavailable', detail: 'Redis is still loading its data.' }],
  ['MASTERDOWN', { code: 'unavailable', detail: 'Redis has lost its master.' }],
  ['NOREPLICAS', { code: 'unavailable', detail: 'Redis has too few replicas to accept writes.' }],
  ['NOAUTH', { code: 'unavailable', detail: 'Redis wants a password: put it into the URL.' }],
  ['WRONGPASS', { code: 'unavailable', detail: 'Redis refuses the user name or password of the URL.' }],
  ['NOPERM', { code: 'unavailable', detail: 'The Redis user lacks a permission.' }],
]);

const NO_PASSWORD = {
  code: 'unavailable',
  detail: 'Redis takes no password: take it out of the URL, or set one in Redis.',
} as const;

/** The first word of an error reply of Redis, such as `ERR`; undefined for an error of the connection. */
export function replyOf(error: unknown): string | undefined {
  return error instanceof Error ? /^([A-Z]+) /.exec(error.message)?.[1] : undefined;
}

/** What Redis refuses for a reason that lies with Redis; undefined for anything else. */
export function refusalOfRedis(error: unknown): StorageError | undefined {
  const reply = replyOf(error);
  const known = reply === 'ERR' && /\bAUTH\b/.test(String(error)) ? NO_PASSWORD : REPLIES.get(reply ?? '');
  return known && new StorageError(known.code, known.detail, error);
}
