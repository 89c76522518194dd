/** Saves files in a folder under their display names. */
import { randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { copyFile, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemErrorCode } from '../../core/errors.ts';
import type { MediaFile } from '../../core/message.ts';
import { type MediaReader, PlatformError } from '../platform.ts';
import { printable } from './render.ts';

/**
 * Writes the file atomically and never overwrites another one. Identical content under the same name is stored once.
 * Resolves to the path. Throws PlatformError.
 */
export type SaveFile = (file: MediaFile, name: string) => Promise<string>;

export function fileSaver(folder: string, media: Pick<MediaReader, 'open'>): SaveFile {
  return async (file, name) => {
    const part = join(folder, `.${randomUUID()}.part`);
    try {
      await mkdir(folder, { recursive: true });
      await pipeline(await media.open(file), createWriteStream(part, { flags: 'wx' }));
      const { size } = await stat(part);
      if (size !== file.bytes)
        throw new PlatformError('unavailable', `The stored file had ${size} bytes instead of ${file.bytes}`);
      return await copyToFreeName(part, folder, safeName(name));
    } catch (error) {
      throw error instanceof PlatformError ? error : folderError(error, folder);
    } finally {
      await rm(part, { force: true }).catch(() => {});
    }
  };
}

/** Copies to the first of `name`, `name (2)`, … that is free or already has the same content. */
async function copyToFreeName(part: string, folder: string, name: string): Promise<string> {
  const extension = extname(name);
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` (${number})`;
    const path = join(folder, `${basename(name, extension)}${suffix}${extension}`);
    try {
      await copyFile(part, path, constants.COPYFILE_EXCL);
      return path;
    } catch (error) {
      if (systemErrorCode(error) !== 'EEXIST') throw error;
      if (await haveSameContent(part, path)) return path;
    }
  }
}

async function haveSameContent(first: string, second: string): Promise<boolean> {
  const [a, b] = await Promise.all([stat(first), stat(second)]);
  return b.isFile() && a.size === b.size && (await readFile(first)).equals(await readFile(second));
}

/** A second safeguard: the path must not leave the folder. */
function safeName(name: string): string {
  const safe = basename(printable(name).replace(/[/\\\n]/g, '-'));
  return safe === '' || safe.startsWith('.') ? `file${safe}` : safe;
}

/** The folder stays unwritable until its owner fixes it. */
const PERMANENT_ERRORS: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

function folderError(error: unknown, folder: string): PlatformError {
  const isPermanent = PERMANENT_ERRORS.has(systemErrorCode(error));
  return new PlatformError(isPermanent ? 'refused' : 'unavailable', `Could not save a file in ${folder}`, {
    cause: error,
    advice: isPermanent
      ? `I can't save files in ${folder}. Make the folder writable and try again.`
      : undefined,
  });
}
