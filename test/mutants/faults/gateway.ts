import type { Fault } from '../fault.ts';

const TRANSPORT = 'test/gateway/transport/transport.test.ts';
const ERRORS = 'test/gateway/transport/errors.test.ts';

export const GATEWAY_FAULTS = [
  {
    name: 'a broken connection is read as work that was not taken',
    file: 'src/gateway/transport/errors.ts',
    text: "'ECONNREFUSED',\n  'ENOTFOUND',",
    replacement: "'ECONNREFUSED',\n  'ECONNRESET',\n  'UND_ERR_SOCKET',\n  'ENOTFOUND',",
    tests: { [TRANSPORT]: 'leaves it unknown whether paid work was taken, and is not tried again' },
  },
  {
    name: 'a “server error” in a 200 body of paid work is tried again',
    file: 'src/gateway/transport/errors.ts',
    text: "const vague = saidInBody && decided !== 'rate' && decided !== 'maintenance';",
    replacement: 'const vague = false;',
    tests: { [TRANSPORT]: 'a “server error” inside a good answer is not tried again' },
  },
  {
    name: 'one of several addresses that failed before sending counts as never sent',
    file: 'src/gateway/transport/errors.ts',
    text: 'link.errors.every(surelyBeforeSending)',
    replacement: 'link.errors.some(surelyBeforeSending)',
    tests: { [TRANSPORT]: 'has taken nothing only where each of them failed before sending' },
  },
  {
    name: 'a bare 503 is read as work that was not taken',
    file: 'src/gateway/transport/errors.ts',
    text: 'if (status !== 503) return status === 529;',
    replacement: 'if (status === 503 || status === 529) return true;',
    tests: { [TRANSPORT]: 'a 503 or a redirect on paid work' },
  },
  {
    name: 'a stream that had begun is asked for again',
    file: 'src/gateway/transport/errors.ts',
    text: "const taken: Taken = isRead(route) || (plainly && !midStream) ? 'no' : 'unknown';",
    replacement: "const taken: Taken = isRead(route) || plainly ? 'no' : 'unknown';",
    tests: { 'test/gateway/transport/streams.test.ts': 'ends with it, and keeps what came' },
  },
  {
    name: 'a timeout of paid work is tried again',
    file: 'src/gateway/transport/errors.ts',
    text: "const taken: Taken = isRead(route) || neverSent ? 'no' : 'unknown';",
    replacement:
      "const taken: Taken = isRead(route) || neverSent || failure.code === 'timeout' ? 'no' : 'unknown';",
    tests: { [TRANSPORT]: 'leaves it unknown whether paid work was taken' },
  },
  {
    name: 'a stream has no bound on its size',
    file: 'src/gateway/transport/stream.ts',
    text: 'if (size > maxBytes()) {',
    replacement: 'if (size > Number.MAX_SAFE_INTEGER) {',
    tests: { 'test/gateway/transport/streams.test.ts': 'of small events is read up to a bound of its whole' },
  },
  {
    name: 'an answer has no bound on its size',
    file: 'src/gateway/transport/request.ts',
    text: 'const left = maxBytes - size;',
    replacement: 'const left = Number.MAX_SAFE_INTEGER + maxBytes - size;',
    tests: { [TRANSPORT]: 'are read up to a bound' },
  },
  {
    name: 'a stream that ended in the middle passes for whole',
    file: 'src/gateway/transport/stream.ts',
    text: 'if (collector.hasFinished() || decoder.end().some(take)',
    replacement: 'if (events > 0 || decoder.end().some(take)',
    tests: { 'test/gateway/transport/streams.test.ts': 'is broken, and keeps what came' },
  },
  {
    name: 'Retry-After is ignored',
    file: 'src/gateway/transport/retry.ts',
    text: 'Math.max(backoff, (error.retryAfterMs ?? 0) * (1 + (JITTER * random()) / 2))',
    replacement: 'backoff',
    tests: { [TRANSPORT]: 'ends with the budget, however short each try is' },
  },
  {
    name: 'a signed address that is escaped as JSON is not redacted',
    file: 'src/gateway/transport/errors.ts',
    text: "secret.replaceAll('/', '\\\\/'),\n",
    replacement: '',
    tests: { [ERRORS]: 'shows a signed address in no other writing either' },
  },
  {
    name: 'a secret that is cut in two is not redacted',
    file: 'src/gateway/transport/errors.ts',
    text: 'const whole = secrets.reduce(withoutHalfAtEnd, clean);',
    replacement: 'const whole = clean;',
    tests: { [ERRORS]: 'nor its half where a text was cut' },
  },
  {
    name: 'the key follows a redirect',
    file: 'src/gateway/transport/request.ts',
    text: "redirect: 'manual',",
    replacement: "redirect: 'follow',",
    tests: { [TRANSPORT]: 'a redirect is not followed' },
  },
  {
    name: 'listeners are left on a signal that lives long',
    file: 'src/gateway/transport/retry.ts',
    text: "outer?.removeEventListener('abort', onOuterAbort);",
    replacement: '',
    tests: { [TRANSPORT]: 'a request leaves nothing behind on a signal that lives on' },
  },
] as const satisfies readonly Fault[];
