/** Fetches what a command named: files, and what was said before a question. */
import { isNamed } from '../../core/attachments.ts';
import { UserError } from '../../core/errors.ts';
import type { Address } from '../../core/invocation.ts';
import type { Job } from '../../core/job.ts';
import { duration, type KeptFile } from '../../core/message.ts';
import { type FileReference, present } from '../../core/options.ts';
import type { InquiryPart, KeptRecording, NamedFile, Recording, Work, WorkFile } from '../../core/work.ts';
import { musicLimits } from '../../gateway/music/requests.ts';
import { type AttachmentAccess, keepAttachment, keepReadable } from '../../media/attachments.ts';
import { isRead, readConversation } from '../ask/conversation.ts';
import type { JobDependencies } from '../dependencies.ts';
import { madeFile } from './keep.ts';

type AttachmentDependencies = Pick<JobDependencies, 'storage' | 'media' | 'platform' | 'fitPicture'>;

/** Whether everything that the work needs is here. */
export function isPrepared(work: Work): boolean {
  if (work.route === 'answer') return isRead(work);
  const files: (WorkFile | undefined)[] = [
    'image' in work ? work.image : undefined,
    'audio' in work ? work.audio : undefined,
  ];
  return files.every((file) => file === undefined || !isNamed(file));
}

/**
 * The work with its files. Throws UserError for a file that cannot be used or fetched, PlatformError while the platform cannot
 * hand it over, and the signal's reason.
 */
export async function prepareWork(
  { address, work, ...job }: Job,
  signal: AbortSignal,
  deps: AttachmentDependencies,
): Promise<Work> {
  const keep = (file: WorkFile, kind: 'audio' | 'image') => keepFile(file, kind, address, signal, deps);
  switch (work.route) {
    case 'answer': {
      const keepPart = (file: FileReference) => keepReadablePart(file, address, signal, deps);
      return readConversation({ address, ...job }, work, { ...deps, keep: keepPart });
    }
    case 'media.video': {
      const [image, audio] = await Promise.all([
        work.image && keep(work.image, 'image'),
        work.audio && keep(work.audio, 'audio'),
      ]);
      const { image: _, audio: __, ...rest } = work;
      return { ...rest, ...present({ image, audio }) };
    }
    case 'music.uploadCover':
    case 'music.uploadExtend':
    case 'music.addVocals':
    case 'music.addInstrumental':
      return { ...work, audio: await keepRecording(work.audio, { address, signal }, deps) };
    default:
      return work;
  }
}

async function keepFile(
  file: WorkFile,
  kind: 'audio' | 'image',
  address: Address,
  signal: AbortSignal,
  deps: AttachmentDependencies,
): Promise<KeptFile> {
  if (!isNamed(file)) return file;
  if ('job' in file) return madeFile(file.job, file.source, { kinds: [kind], signal }, deps);
  return keepAttachment(deps.media, file, [kind], await accessTo(file, address, signal, deps));
}

async function keepReadablePart(
  file: FileReference,
  address: Address,
  signal: AbortSignal,
  deps: AttachmentDependencies,
): Promise<InquiryPart> {
  const { type, file: kept } = await keepReadable(deps, file, await accessTo(file, address, signal, deps));
  return type === 'image' ? { type, file: kept } : { type, file: kept, name: file.name };
}

async function accessTo(
  { url, attached }: FileReference,
  address: Address,
  signal: AbortSignal,
  { platform }: AttachmentDependencies,
): Promise<AttachmentAccess> {
  if (!attached) return { from: 'person', signal };
  const headers = (await platform(address.platform)?.attachmentHeaders(url, address)) ?? {};
  return { from: 'platform', headers, signal };
}

/** Throws UserError for a recording whose length is unknown or more than the gateway takes. */
async function keepRecording(
  recording: Recording,
  { address, signal }: { readonly address: Address; readonly signal: AbortSignal },
  deps: AttachmentDependencies,
): Promise<KeptRecording> {
  if (!isNamed(recording)) return recording;
  const kept = await keepFile(recording, 'audio', address, signal, deps);
  const seconds = await deps.media.seconds(kept.name);
  const name = nameOf(recording);
  const most = musicLimits.uploadSeconds;
  if (seconds === undefined)
    throw new UserError(
      `I cannot tell how long ${name} is, so I do not hand it over. Please attach it as MP3 or WAV.`,
    );
  if (seconds > most)
    throw new UserError(
      `${name} lasts ${duration(seconds)}, and the gateway takes ${duration(most)} at most. Please attach a part of it.`,
    );
  return { ...kept, seconds };
}

function nameOf(file: NamedFile): string {
  return 'job' in file ? 'this song' : file.name;
}
