import { describe, expect, test } from 'vitest';
import { decodeText } from '../../../src/media/content/text.ts';
import {
  type ContentKind,
  contentTypeOf,
  DETECTION_BYTES,
  detectMediaType,
} from '../../../src/media/content/types.ts';
import { samples } from '../../fixtures/media-samples.ts';

const everyKind: readonly ContentKind[] = ['audio', 'image', 'video', 'archive', 'text'];
const detect = (sample: keyof typeof samples, kinds: readonly ContentKind[] = everyKind) =>
  detectMediaType(samples[sample].subarray(0, DETECTION_BYTES), kinds);

describe('the type of a file by its content', () => {
  test.each([
    ['mp3', 'audio', 'audio/mpeg', 'mp3'],
    ['mp3WithTags', 'audio', 'audio/mpeg', 'mp3'],
    ['mp3WithLargeCover', 'audio', 'audio/mpeg', 'mp3'],
    ['wav', 'audio', 'audio/wav', 'wav'],
    ['m4a', 'audio', 'audio/mp4', 'm4a'],
    ['flac', 'audio', 'audio/flac', 'flac'],
    ['oggVorbis', 'audio', 'audio/ogg', 'ogg'],
    ['voiceMessage', 'audio', 'audio/ogg', 'opus'],
    ['aac', 'audio', 'audio/aac', 'aac'],
    ['mp4', 'video', 'video/mp4', 'mp4'],
    ['quicktime', 'video', 'video/quicktime', 'mov'],
    ['webm', 'video', 'video/webm', 'webm'],
    ['matroska', 'video', 'video/matroska', 'mkv'],
    ['png', 'image', 'image/png', 'png'],
    ['jpeg', 'image', 'image/jpeg', 'jpg'],
    ['webp', 'image', 'image/webp', 'webp'],
    ['gif', 'image', 'image/gif', 'gif'],
    ['avif', 'image', 'image/avif', 'avif'],
    ['zip', 'archive', 'application/zip', 'zip'],
    ['text', 'text', 'text/plain; charset=utf-8', 'txt'],
  ] as const)('%s: %s, %s, .%s', async (sample, kind, contentType, extension) => {
    expect(await detect(sample)).toEqual({ kind, contentType, extension });
    expect(contentTypeOf(`name.${extension}`)).toBe(contentType);
  });
});

describe('refuses', () => {
  test.each(['html', 'svg', 'program', 'pdf', 'nothing', 'zeros', 'text'] as const)(
    '%s for a song',
    async (sample) => {
      expect(await detect(sample, ['audio', 'image', 'video', 'archive'])).toBeUndefined();
    },
  );

  test.each(['program', 'pdf', 'png', 'mp3', 'zip', 'zeros', 'nothing'] as const)(
    '%s for a text',
    async (sample) => {
      expect(await detect(sample, ['text'])).toBeUndefined();
    },
  );

  test('an image for audio, and audio for an image', async () => {
    expect(await detect('png', ['audio'])).toBeUndefined();
    expect(await detect('mp3', ['image'])).toBeUndefined();
    expect(await detect('mp3', ['video'])).toBeUndefined();
  });
});

test('a web page counts as text if text is accepted, with a type that browsers do not run', async () => {
  expect(await detect('html', ['text'])).toMatchObject({ contentType: 'text/plain; charset=utf-8' });
});

test('text that begins like an image is text', async () => {
  expect(await detectMediaType(Buffer.from('BM, said the song'), ['text', 'image'])).toMatchObject({
    kind: 'text',
  });
});

test.each([
  ['UTF-16 with a byte order mark', Buffer.from('\ufeffÜber, 東京', 'utf16le'), '\ufeffÜber, 東京'],
  ['Latin-1', Buffer.from('Der Bär läuft über die Straße.', 'latin1'), 'Der Bär läuft über die Straße.'],
  ['a log with colours', Buffer.from('\u001b[31mERROR\u001b[0m at line 7'), 'ERROR at line 7'],
  ['JSON', Buffer.from('{"a": 1}'), '{"a": 1}'],
])('is a text: %s', async (_, bytes, text) => {
  expect(await detectMediaType(bytes, ['text', 'image'])).toMatchObject({ kind: 'text' });
  expect(decodeText(bytes)).toBe(text.replace('\ufeff', ''));
});

test('an incomplete character at the end of the sample is still text', async () => {
  const cut = Buffer.from('Zürich').subarray(0, 2);
  expect(await detectMediaType(cut, ['text'])).toMatchObject({ kind: 'text' });
  expect(await detectMediaType(Buffer.from([0xfc, 0x41]), ['text'])).toBeUndefined();
});

test('an ambiguous container counts as audio if only audio is accepted', async () => {
  expect(await detect('mp4', ['audio'])).toMatchObject({ kind: 'audio', extension: 'm4a' });
  expect(await detect('webm', ['audio'])).toMatchObject({ kind: 'audio', extension: 'weba' });
  expect(await detect('mp4', ['audio', 'video'])).toMatchObject({ kind: 'video', extension: 'mp4' });
});
