/** The beginnings of files of every type that is kept, as small as their formats allow. */
import { PNG } from 'pngjs';
import { mp3 } from './helpers.ts';

const ascii = (text: string) => Buffer.from(text, 'latin1');

function box(type: string, ...content: Buffer[]): Buffer {
  const body = Buffer.concat([ascii(type), ...content]);
  const size = Buffer.alloc(4);
  size.writeUInt32BE(body.length + 4);
  return Buffer.concat([size, body]);
}

const fileType = (brand: string) =>
  Buffer.concat([box('ftyp', ascii(brand), Buffer.alloc(4), ascii('isom')), box('mdat', Buffer.alloc(64))]);

/** An ID3v2.4 header of that many bytes of padding; its size is written in 7-bit groups. */
export function id3(bytes: number): Buffer {
  const size = [21, 14, 7, 0].map((shift) => (bytes >> shift) & 0x7f);
  return Buffer.concat([ascii('ID3'), Buffer.from([4, 0, 0, ...size]), Buffer.alloc(bytes)]);
}

function ogg(firstPacket: Buffer): Buffer {
  const header = Buffer.alloc(27);
  header.write('OggS', 0);
  header[5] = 2;
  header[26] = 1;
  return Buffer.concat([header, Buffer.from([firstPacket.length]), firstPacket, Buffer.alloc(200)]);
}

/** Silence: 8 kHz, 16 bits, one channel. */
export function wavOf({ seconds }: { seconds: number }): Buffer {
  const bytes = Math.round(seconds * 8000) * 2;
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(8000, 24);
  header.writeUInt32LE(16000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return Buffer.concat([header, Buffer.alloc(bytes)]);
}

const wav = () => wavOf({ seconds: 50 / 8000 });

/** EBML header with a document type, as Matroska files begin. */
function matroska(documentType: string): Buffer {
  const type = Buffer.concat([Buffer.from([0x42, 0x82, 0x80 | documentType.length]), ascii(documentType)]);
  return Buffer.concat([Buffer.from([0x1a, 0x45, 0xdf, 0xa3, 0x80 | type.length]), type, Buffer.alloc(64)]);
}

function zip(): Buffer {
  const header = Buffer.alloc(30);
  header.writeUInt32LE(0x04034b50, 0);
  header.writeUInt16LE(8, 26);
  return Buffer.concat([header, ascii('song.mp3'), Buffer.alloc(64)]);
}

export const samples = {
  mp3: mp3(3),
  mp3WithTags: Buffer.concat([id3(2000), mp3(3)]),
  mp3WithLargeCover: Buffer.concat([id3(300_000), mp3(3)]),
  wav: wav(),
  m4a: fileType('M4A '),
  flac: Buffer.concat([ascii('fLaC'), Buffer.from([0x80, 0, 0, 34]), Buffer.alloc(34)]),
  oggVorbis: ogg(Buffer.concat([Buffer.from([1]), ascii('vorbis'), Buffer.alloc(23)])),
  voiceMessage: ogg(Buffer.concat([ascii('OpusHead'), Buffer.from([1, 1]), Buffer.alloc(9)])),
  aac: Buffer.concat([Buffer.from([0xff, 0xf1, 0x50, 0x80, 0x02, 0x1f, 0xfc]), Buffer.alloc(64)]),
  mp4: fileType('isom'),
  quicktime: fileType('qt  '),
  webm: matroska('webm'),
  matroska: matroska('matroska'),
  png: PNG.sync.write(new PNG({ width: 1, height: 1 })),
  jpeg: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 16]), ascii('JFIF\0'), Buffer.alloc(64)]),
  webp: Buffer.concat([ascii('RIFF'), Buffer.from([72, 0, 0, 0]), ascii('WEBPVP8 '), Buffer.alloc(64)]),
  gif: Buffer.concat([ascii('GIF89a'), Buffer.alloc(64)]),
  avif: fileType('avif'),
  zip: zip(),
  text: Buffer.from('[00:12.00]Rain on a tin roof\n雨が降る\n'),
  html: Buffer.from('<!doctype html><html><title>Sign in</title></html>'),
  svg: Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>'),
  program: Buffer.concat([ascii('MZ'), Buffer.alloc(200)]),
  pdf: Buffer.concat([ascii('%PDF-1.7\n'), Buffer.alloc(64)]),
  nothing: Buffer.alloc(0),
  zeros: Buffer.alloc(5000),
} as const satisfies Record<string, Buffer>;
