/** Saves what people were sent, under names that people know. */
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, open, rename, rm, stat } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ALL_FORMATS, FilePathSource, Input } from 'mediabunny';
import type { KeptFile, MediaKind } from '../../message.ts';
import { type MediaReader, PlatformError } from '../platform.ts';
import { printable } from './style.ts';

export interface FileFolder {
  /**
   * Writes the file whole or not at all, never over another; the same content under the same name is there once.
   * Resolves to its path. Throws PlatformError.
   */
  save(file: KeptFile, name: string): Promise<string>;
}

export function createFileFolder(folder: string, media: Pick<MediaReader, 'open'>): FileFolder {
  return {
    async save(file, name) {
      const part = join(folder, `.${randomUUID()}.part`);
      try {
        await mkdir(folder, { recursive: true });
        const hash = createHash('sha256');
        let bytes = 0;
        await pipeline(
          await media.open(file),
          async function* (chunks: AsyncIterable<Uint8Array>) {
            for await (const chunk of chunks) {
              hash.update(chunk);
              bytes += chunk.byteLength;
              yield chunk;
            }
          },
          createWriteStream(part, { flags: 'wx' }),
        );
        if (bytes !== file.bytes)
          throw new PlatformError('unavailable', `The kept file had ${bytes} bytes instead of ${file.bytes}`);
        return await settle(part, folder, safeName(name), { bytes, hash: hash.digest('hex') });
      } catch (error) {
        throw error instanceof PlatformError ? error : folderError(error, folder);
      } finally {
        await rm(part, { force: true }).catch(() => {});
      }
    },
  };
}

/** Moves the written file to the first of `name`, `name (2)`, … that is free or holds the same. */
async function settle(
  part: string,
  folder: string,
  name: string,
  content: { readonly bytes: number; readonly hash: string },
): Promise<string> {
  const extension = extname(name);
  const stem = basename(name, extension);
  for (let number = 1; ; number += 1) {
    const path = join(folder, number === 1 ? name : `${stem} (${number})${extension}`);
    if (await holds(path, content)) return path;
    try {
      // Taking the name first means that two files on their way never take the same one.
      await (await open(path, 'wx')).close();
    } catch (error) {
      if (errorCode(error) === 'EEXIST') continue;
      throw error;
    }
    await rename(part, path);
    return path;
  }
}

async function holds(
  path: string,
  content: { readonly bytes: number; readonly hash: string },
): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile() || found.size !== content.bytes) return false;
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest('hex') === content.hash;
}

/** Names come safe; a path must not leave the folder even so. */
function safeName(name: string): string {
  const safe = basename(printable(name).replace(/[/\\\n]/g, '-'));
  return safe === '' || safe.startsWith('.') ? `file${safe}` : safe;
}

function folderError(error: unknown, folder: string): PlatformError {
  const code = errorCode(error);
  const isFinal =
    code === 'EACCES' || code === 'EPERM' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST';
  return new PlatformError(isFinal ? 'refused' : 'unavailable', `A file could not be saved in ${folder}`, {
    cause: error,
    ...(isFinal && { advice: `Files cannot be saved in ${folder}: make it a folder that you may write to.` }),
  });
}

function errorCode(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

/** In seconds; undefined for pictures, and for what cannot be read. */
export async function durationOf(path: string, kind: MediaKind): Promise<number | undefined> {
  if (kind !== 'audio' && kind !== 'video') return undefined;
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    return await input.computeDuration();
  } catch {
    // A file that this reader does not know may well play elsewhere; its length is only a courtesy.
    return undefined;
  } finally {
    input.dispose();
  }
}
