/** Saves files in a folder, under the names that people see. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseFile } from 'music-metadata';
import { systemErrorCode } from '../../../core/errors.ts';
import type { KeptFile, MediaKind } from '../../../core/message.ts';
import { type MediaReader, PlatformError } from '../../platform.ts';
import { printable } from '../render/style.ts';

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
        throw new PlatformError('unavailable', `The kept file had ${size} bytes instead of ${file.bytes}`);
      return await settle(part, folder, safeName(name), await digestOf(part));
    } catch (error) {
      throw error instanceof PlatformError ? error : folderError(error, folder);
    } finally {
      await rm(part, { force: true }).catch(() => {});
    }
  };
}

/** Moves the written file to the first of `name`, `name (2)`, … that is free or holds the same. */
async function settle(part: string, folder: string, name: string, digest?: string): Promise<string> {
  const extension = extname(name);
  const stem = basename(name, extension);
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? name : `${stem} (${number})${extension}`);
    if ((await digestOf(path)) === digest) return path;
    try {
      // The name is taken first, so that two files never take the same one.
      await (await open(path, 'wx')).close();
    } catch (error) {
      if (systemErrorCode(error) === 'EEXIST') continue;
      throw error;
    }
    await rename(part, path);
    return path;
  }
}

/** Undefined where there is no such file. */
async function digestOf(path: string): Promise<string | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) return undefined;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex');
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
  return new PlatformError(isFinal ? 'refused' : 'unavailable', `A file could not be saved in ${folder}`, {
    cause: error,
    ...(isFinal && { advice: `Files cannot be saved in ${folder}: make it a folder that you may write to.` }),
  });
}

/** In seconds; undefined for pictures, and for what cannot be read. */
export async function durationOf(path: string, kind: MediaKind): Promise<number | undefined> {
  if (kind !== 'audio' && kind !== 'video') return undefined;
  try {
    const { format } = await parseFile(path, { duration: true, skipCovers: true });
    return format.duration;
  } catch {
    // This reader may not know a file that plays elsewhere; the length is optional.
    return undefined;
  }
}
