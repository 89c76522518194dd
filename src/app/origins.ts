/** Reads the marks of files that people attach. */
import type { Address, Person } from '../core/invocation.ts';
import type { JobView } from '../core/job.ts';
import type { FileReference } from '../core/options.ts';
import type { FileOrigin } from '../core/origin.ts';
import { attachmentAccess } from '../jobs/steps/attachments.ts';
import { filesDeadline, inspectAttachment } from '../media/attachments.ts';
import type { Media } from '../media/media.ts';
import type { Platform } from '../platforms/platform.ts';

interface OriginOptions {
  readonly media: Pick<Media, 'inspect'>;
  readonly platform: (name: string) => Pick<Platform, 'attachmentHeaders'> | undefined;
  readonly find: (job: string) => Promise<JobView | undefined>;
  readonly canRead: (address: Address, person: Person) => boolean;
}

/** Throws UserError if the file cannot be fetched, or is not a song, an image or a video. */
export type ReadOrigin = (file: FileReference, address: Address, person: Person) => Promise<FileOrigin>;

export function createReadOrigin({ media, platform, find, canRead }: OriginOptions): ReadOrigin {
  /** Other people's jobs are shown only where they can read them. */
  function isVisible(job: JobView, address: Address, person: Person): boolean {
    if (job.address.platform !== address.platform) return false;
    const isHere = job.address.guild === address.guild && job.address.channel === address.channel;
    return (
      job.person.id === person.id ||
      (job.undelivered !== true && job.hidden !== true && (isHere || canRead(job.address, person)))
    );
  }

  return async (file, address, person) => {
    const access = await attachmentAccess(platform(address.platform), file, address, filesDeadline());
    const { mark, ...origin } = await inspectAttachment(media, file, access);
    if (!mark) return origin;
    const { job: id, ...written } = mark;
    const job = await find(id);
    return { ...origin, mark: { ...written, ...(job && isVisible(job, address, person) && { job }) } };
  };
}
