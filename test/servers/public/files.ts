/** Small valid files with unique content. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { PNG } from 'pngjs';
import { wavOf } from '../../fixtures/media-samples.ts';
import { mp3 } from '../../media/helpers.ts';

const digestOf = (name: string): Buffer => createHash('sha256').update(name).digest();

/** An image of one colour, which its name decides. */
export function pngFile(name: string): Buffer {
  const png = new PNG({ width: 8, height: 8 });
  png.data.fill(Buffer.concat([digestOf(name).subarray(0, 3), Buffer.from([255])]));
  return PNG.sync.write(png);
}

/** Twelve seconds of MPEG frames, whose audio has the digest of the name. */
function mp3File(name: string): Buffer {
  const bytes = mp3(460);
  digestOf(name).copy(bytes, 100);
  return bytes;
}

function wavFile(name: string): Buffer {
  const bytes = wavOf({ seconds: 2 });
  digestOf(name).copy(bytes, 100);
  return bytes;
}

/** A second of film, and the name in a box that players skip. */
function mp4File(name: string): Buffer {
  const box = Buffer.concat([Buffer.from('____free', 'latin1'), digestOf(name)]);
  box.writeUInt32BE(box.length);
  return Buffer.concat([readFileSync(new URL('../../fixtures/film.mp4', import.meta.url)), box]);
}

const CREATORS = {
  mp3: { create: mp3File, type: 'audio/mpeg' },
  wav: { create: wavFile, type: 'audio/wav' },
  png: { create: pngFile, type: 'image/png' },
  mp4: { create: mp4File, type: 'video/mp4' },
} as const;

/** The file at a path such as `/files/rain.mp3`. */
export function fileAt(path: string): { readonly bytes: Buffer; readonly type: string } | undefined {
  const [, name, extension] = /^\/files\/([\w.-]+)\.(mp3|wav|png|mp4)$/.exec(path) ?? [];
  if (name === undefined || extension === undefined) return undefined;
  // Sound: the expression lists the keys.
  const { create, type } = CREATORS[extension as keyof typeof CREATORS];
  return { bytes: create(name), type };
}
