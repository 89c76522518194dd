import type { Fault } from '../fault.ts';

const CALLBACK = 'test/http/music-callback.test.ts';

export const HTTP_FAULTS = [
  {
    name: 'a signature is compared loosely: the beginning of it is enough',
    file: 'src/core/http.ts',
    text: 'if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;',
    replacement: 'if (timingSafeEqual(given, expected.subarray(0, given.length))) matches = true;',
    tests: { [CALLBACK]: 'gets the answer of an unknown route' },
  },
  {
    name: 'a signature is compared loosely: what is behind it does not count',
    file: 'src/core/http.ts',
    text: 'if (given.length === expected.length && timingSafeEqual(given, expected)) matches = true;',
    replacement: 'if (given.subarray(0, expected.length).equals(expected)) matches = true;',
    tests: { [CALLBACK]: 'gets the answer of an unknown route' },
  },
  {
    name: 'a callback needs no signature',
    file: 'src/http/music-callback.ts',
    text: 'if (!isSignedBy(signedText(job), signature, secrets)) {',
    replacement: "if (!isSignedBy(signedText(job), signature, secrets) && job === '') {",
    tests: { [CALLBACK]: 'gets the answer of an unknown route' },
  },
  {
    name: 'the signature of one job opens every job',
    file: 'src/http/music-callback.ts',
    text: 'function signedText(job: string): string {',
    replacement: "function signedText(job: string): string {\n  if (job !== '') return 'music-callback';",
    tests: { [CALLBACK]: 'gets the answer of an unknown route' },
  },
  {
    name: 'a callback is answered before it is stored',
    file: 'src/http/music-callback.ts',
    text: "options.receive(job, request.body ?? ''),\n        )",
    replacement:
      "Promise.race([options.receive(job, request.body ?? ''), Promise.resolve('stored' as const)]),\n        )",
    tests: { [CALLBACK]: 'is answered only once it is stored' },
  },
  {
    name: 'a callback that could not be stored is answered 200',
    file: 'src/http/music-callback.ts',
    text: "return 'unavailable' as const;",
    replacement: "return 'stored' as const;",
    tests: { [CALLBACK]: 'because storage is away is 503' },
  },
  {
    name: 'a callback may be of any size',
    file: 'src/http/music-callback.ts',
    text: 'bodyLimit: CALLBACK_BODY_BYTES,',
    replacement: 'bodyLimit: Number.MAX_SAFE_INTEGER,',
    tests: { [CALLBACK]: 'of exactly the limit is taken, of one byte more is 413' },
  },
  {
    name: 'a link to a file works for ever',
    file: 'src/media/links.ts',
    text: 'return link.expires * 1000 > now() ? link : undefined;',
    replacement: 'return link;',
    tests: { 'test/http/files.test.ts': 'after the link has expired' },
  },
  {
    name: 'a browser may run what is in a file',
    file: 'src/http/files.ts',
    text: `'content-security-policy': "default-src 'none'; sandbox",`,
    replacement: '',
    tests: { 'test/http/files.test.ts': 'nothing that a browser would run' },
  },
  {
    name: 'what a broken part says goes to the world',
    file: 'src/http/server.ts',
    text: "return reply.code(status).send({ error: REASONS[status] ?? (status < 500 ? 'bad request' : 'broken') });",
    replacement: 'return reply.code(status).send({ error: String(error) });',
    tests: { 'test/http/server.test.ts': 'a route that breaks answers 500 without its reason' },
  },
] as const satisfies readonly Fault[];
