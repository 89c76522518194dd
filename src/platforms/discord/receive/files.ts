import type { Attachment } from 'discord.js';
import type { FileReference } from '../../../core/options.ts';

export const fileOf = ({ name, url, contentType, size }: Attachment): FileReference => ({
  name,
  url,
  contentType: contentType ?? undefined,
  bytes: size,
  attached: true,
});
