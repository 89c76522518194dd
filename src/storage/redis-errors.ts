import { StorageError, type StorageErrorCode } from './storage.ts';

// First words of Redis's own error replies. https://redis.io/docs/latest/develop/reference/protocol-spec/#simple-errors
const REPLIES: ReadonlyMap<string, { readonly code: StorageErrorCode; readonly detail: string }> = new Map([
  ['OOM', { code: 'full', detail: 'Redis has no memory left.' }],
  ['MISCONF', { code: 'full', detail: 'Redis cannot write to its disk.' }],
  ['READONLY', { code: 'unavailable', detail: 'This Redis is a replica, which cannot be written.' }],
  ['LOADING', { code: 'unavailable', detail: 'Redis is still loading its data.' }],
  ['MASTERDOWN', { code: 'unavailable', detail: 'Redis has lost its master.' }],
  ['NOREPLICAS', { code: 'unavailable', detail: 'Redis has too few replicas to accept writes.' }],
  ['NOAUTH', { code: 'unavailable', detail: 'Redis wants a password: put it into the URL.' }],
  ['WRONGPASS', { code: 'unavailable', detail: 'Redis refuses the user name or password.' }],
  ['NOPERM', { code: 'unavailable', detail: 'The Redis user lacks a permission.' }],
]);

/** What Redis refuses for a reason that lies with Redis; undefined for anything else. */
export function refusalOfRedis(error: unknown): StorageError | undefined {
  if (!(error instanceof Error)) return undefined;
  const known = REPLIES.get(error.message.split(' ', 1)[0] ?? '');
  return known && new StorageError(known.code, known.detail, error);
}
