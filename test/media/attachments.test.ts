import { buffer } from 'node:stream/consumers';
import sharp from 'sharp';
import { expect, test } from 'vitest';
import { UserError } from '../../src/core/errors.ts';
import { keepAttachment, keepPicture, keepReadable } from '../../src/media/attachments.ts';
import { createPictures } from '../../src/media/content/pictures.ts';
import { createMedia } from '../../src/media/media.ts';
import { createFolderStore, type FolderStoreOptions } from '../../src/media/store/folder.ts';
import { samples } from '../fixtures/media-samples.ts';
import { fetcherFor, listen, mp3, temporaryFolder } from './helpers.ts';

async function open(store: Partial<FolderStoreOptions> = {}) {
  return createMedia({
    store: createFolderStore({ directory: await temporaryFolder(), now: () => 0, ...store }),
    fetcher: fetcherFor({ maximumBytes: 100_000_000 }),
    publicUrl: 'https://bot.example',
    secrets: ['secret'],
    log: { warn: () => undefined },
    linkTtlSeconds: 3600,
    now: () => 0,
  });
}

test('an attachment is downloaded with the headers of its platform and stored', async () => {
  const received: (string | undefined)[] = [];
  const { origin } = await listen((request, response) => {
    received.push(request.headers.authorization);
    response.end(mp3(100));
  });
  const access = { from: 'platform', headers: { authorization: 'Bearer of the platform' } } as const;
  const attachment = { name: 'humming.mp3', url: `${origin}/private/humming.mp3` };
  const stored = await keepAttachment(await open(), attachment, ['audio'], access);
  expect(stored).toMatchObject({ contentType: 'audio/mpeg', bytes: 41_700 });
  expect(received).toEqual(['Bearer of the platform']);
});

test('the headers of a platform are not sent after a redirect to another host', async () => {
  const received: (string | undefined)[] = [];
  const elsewhere = await listen((request, response) => {
    received.push(request.headers.authorization);
    response.end(mp3(100));
  });
  const { origin } = await listen((_request, response) =>
    response.writeHead(302, { location: elsewhere.origin }).end(),
  );
  await keepAttachment(await open(), { name: 'a.mp3', url: origin }, ['audio'], {
    from: 'platform',
    headers: { authorization: 'Bearer x' },
  });
  expect(received).toEqual([undefined]);
});

test.each<[string, Parameters<typeof listen>[0], string]>([
  [
    'a sign-in page',
    (_request, response) => response.end('<!doctype html><title>Sign in</title>'),
    "humming.mp3 isn't an audio file that I can read. Attach a different file.",
  ],
  [
    'gone',
    (_request, response) => response.writeHead(410).end(),
    "I couldn't read humming.mp3. Attach it again.",
  ],
  [
    'too large',
    (_request, response) => response.setHeader('content-length', 26 * 1024 * 1024).end(mp3(200)),
    'humming.mp3 is too large. The limit is 25 MB. Attach a smaller file.',
  ],
])('an attachment that is %s is refused with advice', async (_case, answer, sentence) => {
  const { origin } = await listen(answer);
  const stored = keepAttachment(await open(), { name: 'humming.mp3', url: origin }, ['audio'], {
    from: 'platform',
  });
  await expect(stored).rejects.toThrow(new UserError(sentence));
});

test('an attachment at a private address is refused without a request', async () => {
  const attachment = { name: 'x.mp3', url: 'http://169.254.169.254/latest/meta-data' };
  const stored = keepAttachment(await open(), attachment, ['audio'], { from: 'platform' });
  await expect(stored).rejects.toThrow("x.mp3 is at an address that isn't public");
});

test('a full disk is not reported as a fault of the attachment', async () => {
  const openForWriting = () => {
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC', syscall: 'open' });
  };
  const { origin } = await listen((_request, response) => response.end(mp3(100)));
  const stored = keepAttachment(await open({ openForWriting }), { name: 'x.mp3', url: origin }, ['audio'], {
    from: 'platform',
  });
  await expect(stored).rejects.toThrow("I can't store files right now.");
});

test.each([
  ['an image at an address without an extension', samples.png, 'image'],
  ['a text', Buffer.from('My favourite colour is teal.'), 'document'],
] as const)('%s is detected by its content', async (_case, bytes, type) => {
  const { origin } = await listen((_request, response) => response.end(bytes));
  const tools = { media: await open(), pictures: createPictures(), person: 'ada' };
  expect(
    await keepReadable(tools, { name: 'file', url: `${origin}/file` }, { from: 'platform' }),
  ).toMatchObject({ type });
});

test.each([
  ['setup.exe', Buffer.from('MZ\u0090\u0000\u0003\u0000')],
  ['paper.pdf', Buffer.from('%PDF-1.7\n%\u00e2\u00e3\u00cf\u00d3\n', 'latin1')],
])('%s is refused with advice', async (name, bytes) => {
  const { origin } = await listen((_request, response) => response.end(bytes));
  const tools = { media: await open(), pictures: createPictures(), person: 'ada' };
  await expect(keepReadable(tools, { name, url: origin }, { from: 'platform' })).rejects.toThrow(
    `${name} isn't an image or text file that I can read. Attach a different file.`,
  );
});

test('an image for a video is stored without the position that its camera recorded', async () => {
  const photo = await sharp({ create: { width: 32, height: 16, channels: 3, background: '#c81e3c' } })
    .jpeg()
    .withExif({ IFD0: { Make: 'Example Phone' }, IFD3: { GPSLatitude: '52/1 31/1 0/1' } })
    .toBuffer();
  const { origin } = await listen((_request, response) => response.end(photo));
  const media = await open();
  const file = await keepPicture(
    { media, pictures: createPictures(), person: 'ada' },
    { name: 'photo.jpg', url: origin },
    { from: 'platform' },
  );
  const opened = await media.open(file.name);
  const bytes = opened && (await buffer(opened.stream));
  expect(await sharp(bytes).metadata()).toMatchObject({ format: 'jpeg', width: 32, height: 16 });
  expect(bytes?.includes('Example Phone')).toBe(false);
});
