/** The files of finished work, to be worked on further. */
import { UserError } from '../errors.ts';
import { MediaError } from '../media/errors.ts';
import type { MediaKind } from '../media/kinds.ts';
import type { KeptFile, MediaSource } from '../message.ts';
import type { JobDependencies } from './dependencies.ts';

type FileTools = Pick<JobDependencies, 'storage' | 'media'>;

/** A file of a job's result: as it is kept, or fetched anew from the gateway. Throws UserError when it is nowhere. */
export async function madeFile(
  job: string,
  source: MediaSource,
  kinds: readonly MediaKind[],
  { storage, media }: FileTools,
): Promise<KeptFile> {
  try {
    const known = source.type === 'kept' ? source.file : (await storage.jobs.read(job))?.kept[source.url];
    if (known && (await media.stat(known.name)) !== undefined) return known;
    if (source.type === 'kept') throw new MediaError('missing', 'The file is not kept any more');
    const { name, bytes, contentType } = await media.keep(source.url, { kinds });
    return { name, bytes, contentType };
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    throw new UserError(
      error.code === 'disk-full' || error.code === 'store'
        ? 'I cannot reach the files I keep right now. Please try again soon.'
        : 'This file is not kept any more, here or at the gateway. If you have saved it, attach it instead.',
    );
  }
}
