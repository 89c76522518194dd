import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input, MP3, WAVE } from 'mediabunny';
import { expect, onTestFinished, test } from 'vitest';
import { createMp3Encoder } from 'wasm-media-encoders';
import type { MediaFile } from '../../../src/core/message.ts';
import { createMedia, type Media } from '../../../src/media/media.ts';
import { createFolderStore } from '../../../src/media/store/folder.ts';
import type { MediaStore } from '../../../src/media/store/media-store.ts';
import { id3, samples } from '../../fixtures/media-samples.ts';
import { bytesOf, fetcherFor, mp3, temporaryFolder } from '../helpers.ts';

const rate = 44_100;

/** A second of a note from an encoder. */
async function encodedMp3(): Promise<Buffer> {
  const encoder = await createMp3Encoder();
  encoder.configure({ sampleRate: rate, channels: 1, bitrate: 128 });
  const note = Float32Array.from({ length: rate }, (_, at) => Math.sin((2 * Math.PI * 440 * at) / rate) / 2);
  return Buffer.concat([Buffer.from(encoder.encode([note])), Buffer.from(encoder.finalize())]);
}

async function open(store: Partial<MediaStore> = {}) {
  const logged: unknown[] = [];
  const folder = createFolderStore({ directory: await temporaryFolder(), now: () => Date.now() });
  const media = createMedia({
    store: { ...folder, ...store },
    fetcher: fetcherFor(),
    publicUrl: 'https://bot.example',
    secrets: ['secret'],
    linkTtlSeconds: 60,
    now: () => Date.now(),
    log: { warn: (fields) => logged.push(fields) },
  });
  return { media, logged };
}

async function contentOf(media: Media, { name }: MediaFile): Promise<Buffer> {
  const opened = await media.open(name);
  return bytesOf(opened?.stream ?? []);
}

/** Reads a file with a library that does not write the tags. */
async function readBack(content: Buffer) {
  const input = new Input({ source: new BufferSource(content), formats: ALL_FORMATS });
  onTestFinished(() => input.dispose());
  const track = await input.getPrimaryAudioTrack();
  const packets: Buffer[] = [];
  if (track)
    for await (const packet of new EncodedPacketSink(track).packets()) packets.push(Buffer.from(packet.data));
  return {
    format: await input.getFormat(),
    tags: await input.getMetadataTags(),
    duration: await input.computeDuration(),
    packets: Buffer.concat(packets),
  };
}

const song = { title: '雨 – Rain', artist: 'Minstrel for Åsa', album: 'Tin', lyrics: '[Verse]\nla la\n雨' };

test('a song gets title, artist, cover and lyrics, with unchanged audio', async () => {
  const { media } = await open();
  const plain = await encodedMp3();
  const stored = await media.keepBytes(plain, { kinds: ['audio'] });
  const cover = await media.keepBytes(samples.png, { kinds: ['image'] });

  const tagged = await media.tag(stored, { ...song, cover: cover.name });

  expect(tagged).toMatchObject({ contentType: 'audio/mpeg' });
  expect(tagged.name).not.toBe(stored.name);
  const content = await contentOf(media, tagged);
  expect(content.length).toBe(tagged.bytes);
  expect(content.subarray(-plain.length).equals(plain)).toBe(true);
  const before = await readBack(plain);
  const after = await readBack(content);
  expect(after.format).toBe(MP3);
  expect(after.tags).toMatchObject(song);
  expect(after.tags.images).toMatchObject([{ mimeType: 'image/png', kind: 'coverFront' }]);
  expect(Buffer.from(after.tags.images?.[0]?.data ?? []).equals(samples.png)).toBe(true);
  expect(after.duration).toBeCloseTo(before.duration, 5);
  expect(after.packets.equals(before.packets)).toBe(true);
  expect(await media.stat(stored.name)).toBeDefined();
});

test('tags replace those of the song, and equal tags give equal files', async () => {
  const { media } = await open();
  const plain = await encodedMp3();
  const had = await media.keepBytes(Buffer.concat([id3(70_000), plain]), { kinds: ['audio'] });
  const first = await media.tag(had, { title: 'First' });
  const second = await media.tag(first, { title: 'Second' });
  expect((await readBack(await contentOf(media, second))).tags).toMatchObject({ title: 'Second' });
  expect((await contentOf(media, second)).subarray(-plain.length).equals(plain)).toBe(true);
  expect(second.bytes).toBe((await media.tag(had, { title: 'Second' })).bytes);
  expect(await media.tag(had, { title: 'Second' })).toEqual(second);
});

test('a WAV gets tags with unchanged audio', async () => {
  const { media } = await open();
  const stored = await media.keepBytes(samples.wav, { kinds: ['audio'] });
  const tagged = await media.tag(stored, song);
  const content = await contentOf(media, tagged);
  expect(content.readUInt32LE(4)).toBe(content.length - 8);
  const { format, tags, packets } = await readBack(content);
  expect(format).toBe(WAVE);
  expect(tags).toMatchObject(song);
  expect(packets.equals((await readBack(samples.wav)).packets)).toBe(true);
});

const unsynchronised = id3(500);
unsynchronised[5] = 0x80;

/** An unfinished recording. */
function withSoundBytes(bytes: number): Buffer {
  const wav = Buffer.from(samples.wav);
  wav.writeUInt32LE(bytes, wav.indexOf('data') + 4);
  return wav;
}

test('the old title at the end of a song is removed', async () => {
  const { media } = await open();
  const plain = await encodedMp3();
  const stored = await media.keepBytes(plain, { kinds: ['audio'] });
  const id3v1 = Buffer.concat([Buffer.from('TAG'), Buffer.alloc(125, 'old')]);
  const had = await media.keepBytes(Buffer.concat([plain, id3v1]), { kinds: ['audio'] });
  const tagged = await media.tag(had, song);
  expect(await contentOf(media, tagged)).toEqual(await contentOf(media, await media.tag(stored, song)));
});

/** A tag with a title, and with a mark for generated audio. */
function markedTag(version: 3 | 4): Buffer {
  const frame = (id: string, text: string) => {
    const content = Buffer.from(`\0${text}`, 'latin1');
    const header = Buffer.from([...Buffer.from(id), 0, 0, content.length >> 7, content.length & 0x7f, 0, 0]);
    return Buffer.concat([header, content]);
  };
  const body = Buffer.concat([
    frame('TIT2', 'Old title'),
    frame('TXXX', 'AI_GENERATED\0true'),
    Buffer.alloc(50),
  ]);
  return Buffer.concat([Buffer.from([...Buffer.from('ID3'), version, 0, 0, 0, 0, 0, body.length]), body]);
}

const markedWav = (): Buffer => {
  const tag = markedTag(4);
  const chunk = Buffer.concat([Buffer.from('id3 '), Buffer.alloc(4), tag, Buffer.alloc(tag.length % 2)]);
  chunk.writeUInt32LE(tag.length, 4);
  const wav = Buffer.concat([samples.wav.subarray(0, 12), chunk, samples.wav.subarray(12)]);
  wav.writeUInt32LE(wav.length - 8, 4);
  return wav;
};

test.each([
  ['an MP3 with ID3v2.3', async () => Buffer.concat([markedTag(3), await encodedMp3()])],
  ['an MP3 with ID3v2.4', async () => Buffer.concat([markedTag(4), await encodedMp3()])],
  ['a WAV', async () => markedWav()],
])('keeps the mark that %s was generated', async (_case, content) => {
  const { media } = await open();
  const original = await content();
  const stored = await media.keepBytes(original, { kinds: ['audio'] });
  const tagged = await contentOf(media, await media.tag(stored, { title: 'Rain' }));
  const { tags, packets } = await readBack(tagged);
  expect(tags.title).toBe('Rain');
  expect(tags.raw).toMatchObject({ TXXX: { AI_GENERATED: 'true' } });
  expect(tagged.includes('Old title')).toBe(false);
  expect(packets.equals((await readBack(original)).packets)).toBe(true);
});

test.each([
  ['another type', samples.flac],
  ['a WAV with a wrong length', Buffer.concat([samples.wav, Buffer.alloc(10)])],
  ['a WAV whose audio has no length yet', withSoundBytes(0)],
  ['a WAV whose audio has the maximum length', withSoundBytes(0xffff_ffff)],
  ['a WAV whose audio ends after the file', withSoundBytes(samples.wav.length * 2)],
  ['an MP3 with an unsupported tag', Buffer.concat([unsynchronised, mp3(3)])],
  ['an MP3 that contains only tags', Buffer.concat([id3(90_000).subarray(0, 70_000)])],
])('%s is unchanged', async (_case, content) => {
  const { media } = await open();
  const stored = await media.keepBytes(content, { kinds: ['audio'] });
  expect(await media.tag(stored, song)).toEqual(stored);
});

test('a cover that is deleted or not an image is left out', async () => {
  const { media } = await open();
  const stored = await media.keepBytes(await encodedMp3(), { kinds: ['audio'] });
  for (const cover of [`${'0'.repeat(64)}.png`, '../../etc/passwd', stored.name]) {
    const { tags } = await readBack(
      await contentOf(media, await media.tag(stored, { title: 'Rain', cover })),
    );
    expect(tags.title).toBe('Rain');
    expect(tags.images).toBeUndefined();
  }
});

test('a song that cannot be tagged is returned unchanged, with a warning in the log', async () => {
  let full = false;
  const folder = createFolderStore({ directory: await temporaryFolder(), now: () => Date.now() });
  const { media, logged } = await open({
    ...folder,
    put: async (source, hint) => {
      if (full) throw new Error('no space');
      return folder.put(source, hint);
    },
  });
  const stored = await media.keepBytes(await encodedMp3(), { kinds: ['audio'] });
  full = true;
  expect(await media.tag(stored, song)).toBe(stored);
  expect(logged).toEqual([{ err: expect.objectContaining({ message: 'no space' }), file: stored.name }]);
});
