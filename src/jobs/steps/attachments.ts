/** Fetches the files and earlier messages that the work of a job refers to. */
import { extname } from 'node:path';
import { isNamed } from '../../core/attachments.ts';
import { UserError } from '../../core/errors.ts';
import type { Address } from '../../core/invocation.ts';
import type { Job, JobFailure } from '../../core/job.ts';
import type { MediaFile } from '../../core/message.ts';
import { songModelOf } from '../../core/music/song.ts';
import { LONGEST_UPLOAD_SECONDS, songModelLimits } from '../../core/music/song-limits.ts';
import type { FileReference } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';
import { duration } from '../../core/util/words.ts';
import type {
  InquiryPart,
  MeasuredRecording,
  NamedFile,
  Recording,
  SongModel,
  Work,
  WorkFile,
} from '../../core/work.ts';
import {
  type AttachmentAccess,
  fitPicture,
  keepAttachment,
  keepPicture,
  keepReadable,
  keepReference,
} from '../../media/attachments.ts';
import { MediaError } from '../../media/errors.ts';
import type { Platform } from '../../platforms/platform.ts';
import { isRead, type ReadConversation } from '../ask/conversation.ts';
import type { JobDependencies } from '../dependencies.ts';
import type { Keep } from './keep.ts';

/** Files that the work requires. Images of a conversation are not required: a note replaces missing ones. */
function filesOf(work: Work): WorkFile[] {
  const image = 'image' in work ? work.image : undefined;
  const audio = 'audio' in work ? work.audio : undefined;
  const images = work.route === 'gen.image' ? (work.images ?? []) : [];
  return [image, audio, ...images].filter((file) => file !== undefined);
}

/** True if everything that the work refers to has been fetched. */
export function isPrepared(work: Work): boolean {
  return work.route === 'answer' ? isRead(work) : !filesOf(work).some(isNamed);
}

interface AttachmentParts
  extends Pick<JobDependencies, 'media' | 'platform' | 'pictures' | 'newId' | 'log'>,
    Pick<Keep, 'readResultFile'> {
  readonly readConversation: ReadConversation;
}

type Requester = Pick<Job, 'address' | 'person'>;

/** How to fetch a file. Only files that the platform's own event handed over are opened with its credentials. */
export async function attachmentAccess(
  platform: Pick<Platform, 'attachmentHeaders'> | undefined,
  { url, attached }: FileReference,
  address: Address,
  signal: AbortSignal,
): Promise<AttachmentAccess> {
  if (!attached) return { from: 'person', signal };
  const headers = (await platform?.attachmentHeaders(url, address)) ?? {};
  return { from: 'platform', headers, signal };
}

export type Attachments = ReturnType<typeof createAttachments>;

export function createAttachments({
  media,
  platform,
  pictures,
  readResultFile,
  readConversation,
  newId,
  log,
}: AttachmentParts) {
  async function keepFile(
    file: WorkFile,
    kind: 'audio' | 'image',
    { address, person }: Requester,
    signal: AbortSignal,
  ): Promise<MediaFile> {
    if (!isNamed(file)) return file;
    if ('job' in file) return readResultFile(file.job, file.source, { kinds: [kind], signal });
    const access = await attachmentAccess(platform(address.platform), file, address, signal);
    return kind === 'image'
      ? keepPicture({ media, pictures, person: person.id }, file, access)
      : keepAttachment(media, file, [kind], access);
  }

  async function keepReadablePart(
    file: FileReference,
    { address, person }: Requester,
    signal: AbortSignal,
  ): Promise<InquiryPart> {
    const access = await attachmentAccess(platform(address.platform), file, address, signal);
    const { type, file: stored } = await keepReadable({ media, pictures, person: person.id }, file, access);
    return { type, file: stored, name: file.name };
  }

  /** Images of results are converted too: some services return types and sizes that models refuse. */
  async function keepReferenceImage(
    file: WorkFile,
    { address, person }: Requester,
    signal: AbortSignal,
  ): Promise<MediaFile> {
    if (!isNamed(file)) return file;
    const tools = { media, pictures, person: person.id };
    if ('job' in file) {
      const image = await readResultFile(file.job, file.source, { kinds: ['image'], signal });
      return fitPicture(tools, image, `image${extname(image.name)}`);
    }
    return keepReference(
      tools,
      file,
      await attachmentAccess(platform(address.platform), file, address, signal),
    );
  }

  /** Throws UserError if the length of a recording is unknown or exceeds the gateway's limit. */
  async function keepRecording(
    recording: Recording,
    model: SongModel,
    requester: Requester,
    signal: AbortSignal,
  ): Promise<MeasuredRecording> {
    if (!isNamed(recording)) return recording;
    const file = await keepFile(recording, 'audio', requester, signal);
    const seconds = await media.seconds(file.name);
    const name = nameOf(recording);
    const limit = songModelLimits(model).uploadSeconds;
    if (seconds === undefined)
      throw new UserError(`I can't tell how long ${name} is. Attach it as MP3 or WAV.`);
    if (seconds > limit)
      throw new UserError(
        `${name} is too long: ${duration(seconds)}. The limit of the model ${model} is ${duration(limit)}. Attach a shorter part${limit < LONGEST_UPLOAD_SECONDS ? ', or choose another model' : ''}.`,
      );
    return { ...file, seconds };
  }

  /**
   * Returns the work with its files. Throws UserError if a file cannot be used or fetched, PlatformError if the platform is unavailable,
   * and the signal's reason.
   */
  async function prepareWork({ address, person, work }: Job, signal: AbortSignal): Promise<Work> {
    const requester = { address, person };
    switch (work.route) {
      case 'answer':
        return readConversation(address, work, (file) => keepReadablePart(file, requester, signal));
      case 'media.video': {
        const [image, audio] = await Promise.all([
          work.image && keepFile(work.image, 'image', requester, signal),
          work.audio && keepFile(work.audio, 'audio', requester, signal),
        ]);
        const { image: _, audio: __, ...rest } = work;
        return { ...rest, ...present({ image, audio }) };
      }
      case 'gen.image': {
        const images = work.images?.map((image) => keepReferenceImage(image, requester, signal));
        return { ...work, ...present({ images: images && (await Promise.all(images)) }) };
      }
      case 'music.uploadCover':
      case 'music.uploadExtend':
      case 'music.addVocals':
      case 'music.addInstrumental':
        return {
          ...work,
          audio: await keepRecording(work.audio, songModelOf(work), requester, signal),
        };
      default:
        return work;
    }
  }

  /**
   * The failure of a job whose files are no longer stored or cannot be read right now. **Again** may be pressed months after the files
   * were stored.
   */
  async function attachmentFailure(job: Job): Promise<JobFailure | undefined> {
    const fail = (code: string, sentence: string, cause?: MediaError) => {
      const reference = newId();
      log.warn({ job: job.id, reference, code, err: cause }, 'Could not use an attachment');
      return { code, sentence, reference, taken: 'no' as const };
    };
    try {
      const files = await Promise.all(
        filesOf(job.work).flatMap((file) => (isNamed(file) ? [] : [media.stat(file.name)])),
      );
      if (files.every((file) => file !== undefined)) return undefined;
      return fail('missing', 'I no longer have your attachment. Use the command again and attach the file.');
    } catch (error) {
      if (!(error instanceof MediaError)) throw error;
      return fail(
        error.code,
        "I can't start this right now because my file storage is down. Nothing was spent. Press Again in a minute.",
        error,
      );
    }
  }

  return { prepareWork, attachmentFailure };
}

function nameOf(file: NamedFile): string {
  return 'job' in file ? 'this song' : file.name;
}
