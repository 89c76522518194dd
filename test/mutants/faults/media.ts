import type { Fault } from '../fault.ts';

const ADDRESSES = 'test/media/fetch/hostile-addresses.test.ts';

export const MEDIA_FAULTS = [
  {
    name: 'a name is connected to that resolves to an address inside',
    file: 'src/media/fetch/guard.ts',
    text: '!addresses.every(({ address }) => isIP(address) !== 0 && isAcceptable(address))',
    replacement: '!addresses.some(({ address }) => isIP(address) !== 0 && isAcceptable(address))',
    tests: { [ADDRESSES]: 'an address inside is refused before anything is sent' },
  },
  {
    name: 'an address inside is connected to when it is written as a number',
    file: 'src/media/fetch/guard.ts',
    text: 'if (isIP(literal) !== 0 && !isPublicAddress(literal)) return callback(notPublic(host), null);',
    replacement: '',
    tests: { [ADDRESSES]: 'an address inside is refused before anything is sent' },
  },
  {
    name: 'an IPv4 address inside hides in an IPv6 address',
    file: 'src/media/fetch/guard.ts',
    text: "return address.range() === 'unicast' && address.match(globalUnicast) && !isIsatap(address);",
    replacement: "return address.range() !== 'loopback';",
    tests: { 'test/media/fetch/guard.test.ts': 'no private IPv4 address is public in any coat of IPv6' },
  },
  {
    name: 'what is open for the gateway is open for what people type',
    file: 'src/media/fetch/fetch.ts',
    text: 'person: dispatcherFor(new Set()),',
    replacement: 'person: dispatcherFor(options.allowedHosts.gateway),',
    tests: { [ADDRESSES]: 'are for the gateway: what a person typed never reaches them' },
  },
  {
    name: 'credentials follow a redirect to another host',
    file: 'src/media/fetch/fetch.ts',
    text: 'const own = url.origin === first.origin ? headers : {};',
    replacement: 'const own = headers;',
    tests: { [ADDRESSES]: 'takes credentials along to the same origin only' },
  },
  {
    name: 'a file has no bound on its size',
    file: 'src/media/fetch/request.ts',
    text: 'if (received > maximumBytes) throw tooLarge(maximumBytes);',
    replacement: '',
    tests: { 'test/media/fetch/hostile-answers.test.ts': 'has no end' },
  },
  {
    name: 'uploads may be of any size',
    file: 'src/media/attachments.ts',
    text: 'return await media.keep(url, { ...access, kinds, maximumBytes: MAXIMUM_BYTES });',
    replacement: 'return await media.keep(url, { ...access, kinds });',
    tests: { 'test/media/attachments.test.ts': 'is refused with a sentence that helps' },
  },
  {
    name: 'each file of a request has a deadline of its own',
    file: 'src/app/inside/context.ts',
    text: 'signal ??= filesDeadline()',
    replacement: 'signal = filesDeadline()',
    tests: { 'test/app/files-deadline.test.ts': 'share one deadline' },
  },
  {
    name: 'listeners are left on a signal that lives long',
    file: 'src/media/fetch/fetch.ts',
    text: "for (const source of present) source.removeEventListener('abort', follow);",
    replacement: '',
    tests: { 'test/media/fetch/fetch.test.ts': 'a fetch leaves nothing behind on signals that live on' },
  },
  {
    name: 'kept files are readable by everybody on the machine',
    file: 'src/media/store/store.ts',
    text: "createWriteStream(path, { flags: 'wx', mode: 0o600,",
    replacement: "createWriteStream(path, { flags: 'wx',",
    tests: { 'test/media/store/folder.test.ts': 'keeps files where no one else on the machine reads them' },
  },
  {
    name: 'a file is served by its path',
    file: 'src/media/store/store.ts',
    text: 'return storedName.test(name);',
    replacement: "return name !== '';",
    tests: { 'test/media/store/folder.test.ts': 'anything under a name that is a path' },
  },
  {
    name: 'half a file is kept',
    file: 'src/media/fetch/request.ts',
    text: 'if (!isBroken || entityTag === undefined || declared === undefined) throw failure;',
    replacement: 'if (!isBroken || entityTag === undefined || declared === undefined) return;',
    tests: { 'test/media/fetch/hostile-answers.test.ts': 'is shorter than declared' },
  },
  {
    name: 'a page passes for a picture',
    file: 'src/media/fetch/fetch.ts',
    text: 'const type = await detectMediaType(head, expect.kinds);',
    replacement:
      "const type = (await detectMediaType(head, expect.kinds)) ?? { extension: 'png', contentType: 'image/png' };",
    tests: { 'test/media/fetch/hostile-answers.test.ts': 'a body is refused that' },
  },
] as const satisfies readonly Fault[];
