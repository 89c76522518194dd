/** Saves files in a folder, under the names that people see. */
import { randomUUID } from 'node:crypto';
import { constants, createWriteStream } from 'node:fs';
import { copyFile, mkdir, readFile, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { systemErrorCode } from '../../core/errors.ts';
import type { KeptFile } from '../../core/message.ts';
import { type MediaReader, PlatformError } from '../platform.ts';
import { printable } from './render.ts';

/**
 * Writes the file whole or not at all, never over another; the same content under the same name is there once.
 * Resolves to its path. Throws PlatformError.
 */
export type SaveFile = (file: KeptFile, name: string) => Promise<string>;

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

/** Copies to the first of `name`, `name (2)`, … that is free or holds the same. */
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

async function haveSameContent(one: string, other: string): Promise<boolean> {
  const [a, b] = await Promise.all([stat(one), stat(other)]);
  return b.isFile() && a.size === b.size && (await readFile(one)).equals(await readFile(other));
}

/** A second guard: the path must not leave the folder. */
function safeName(name: string): string {
  const safe = basename(printable(name).replace(/[/\\\n]/g, '-'));
  return safe === '' || safe.startsWith('.') ? `file${safe}` : safe;
}

/** The folder cannot be written to until its owner changes it. */
const FINAL: ReadonlySet<unknown> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

function folderError(error: unknown, folder: string): PlatformError {
  const isFinal = FINAL.has(systemErrorCode(error));
  return new PlatformError(isFinal ? 'refused' : 'unavailable', `Could not save a file in ${folder}`, {
    cause: error,
    advice: isFinal ? `I can't save files in ${folder}. Make it a folder that you can write to.` : undefined,
  });
}
