/** Reasons of failed connections, for messages to the operator. */

const UNTRUSTED = 'its certificate is not signed by a known authority';
const NOT_TLS = 'it does not speak TLS on this port';

/** Codes of Node (https://nodejs.org/api/errors.html, https://nodejs.org/api/tls.html) and undici (docs/docs/api/Errors.md). */
const FAULTS: ReadonlyMap<string, string> = new Map([
  ['ENOTFOUND', 'there is no host with this name'],
  ['EAI_AGAIN', 'its name could not be looked up'],
  ['ECONNREFUSED', 'nothing listens there'],
  ['ECONNRESET', 'it closed the connection'],
  ['UND_ERR_SOCKET', 'it closed the connection'],
  ['EHOSTUNREACH', 'there is no route to it'],
  ['ENETUNREACH', 'there is no route to it'],
  ['ETIMEDOUT', 'it does not answer'],
  ['UND_ERR_CONNECT_TIMEOUT', 'it does not answer'],
  ['ERR_SSL_WRONG_VERSION_NUMBER', NOT_TLS],
  ['ERR_SSL_PACKET_LENGTH_TOO_LONG', NOT_TLS],
  ['DEPTH_ZERO_SELF_SIGNED_CERT', UNTRUSTED],
  ['SELF_SIGNED_CERT_IN_CHAIN', UNTRUSTED],
  ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', UNTRUSTED],
  ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', UNTRUSTED],
  ['CERT_HAS_EXPIRED', 'its certificate has expired'],
  ['ERR_TLS_CERT_ALTNAME_INVALID', 'its certificate is for another host'],
]);

const DEEPEST_CAUSE = 8;

export interface ConnectionFault {
  readonly code: string;
  /** Completes “The host cannot be reached: …”. */
  readonly reason: string;
}

/** Explains a failed connection by the system error among the error and its causes. Undefined for other errors. */
export function connectionFault(error: unknown, depth = 0): ConnectionFault | undefined {
  if (!(error instanceof Error) || depth > DEEPEST_CAUSE) return undefined;
  const code = 'code' in error ? String(error.code) : '';
  const reason = FAULTS.get(code);
  if (reason !== undefined) return { code, reason };
  const inner = error instanceof AggregateError ? error.errors[0] : error.cause;
  return connectionFault(inner, depth + 1);
}

/** True if the server responds without TLS, so that its URL starts with `https` or `rediss` by mistake. */
export const isWithoutTls = (fault: ConnectionFault | undefined): boolean => fault?.reason === NOT_TLS;
