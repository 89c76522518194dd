/** A stored question as the gateway's, with the bytes of its pictures and the words of its documents. */
import { buffer } from 'node:stream/consumers';
import type { Inquiry, InquiryPart } from '../../core/work.ts';
import type { Question, TurnPart } from '../../gateway/questions.ts';
import { MediaError } from '../../media/errors.ts';
import type { Media } from '../../media/media.ts';
import { MOST_DOCUMENT_BYTES } from './memory.ts';

/** Files that are not kept any more, or cannot be read now, are left out, and a note replaces them. */
export async function toQuestion(inquiry: Inquiry, media: Pick<Media, 'open'>): Promise<Question> {
  const turns = await Promise.all(
    inquiry.turns.map(async ({ role, parts }) => ({
      role,
      parts: await Promise.all(parts.map((part) => toPart(part, media))),
    })),
  );
  return { ...inquiry, turns };
}

async function toPart(part: InquiryPart, media: Pick<Media, 'open'>): Promise<TurnPart> {
  switch (part.type) {
    case 'text':
      return part;
    case 'image': {
      const bytes = await read(part.file.name, media);
      if (!bytes) return { type: 'text', text: '(A picture that is no longer kept.)' };
      return { type: 'image', mimeType: part.file.contentType, data: bytes.toString('base64') };
    }
    case 'document': {
      const bytes = await read(part.file.name, media);
      if (!bytes) return { type: 'text', text: `(The file ${part.name} is no longer kept.)` };
      const text = new TextDecoder().decode(bytes.subarray(0, MOST_DOCUMENT_BYTES));
      const cut = bytes.byteLength > MOST_DOCUMENT_BYTES ? '\n(The file goes on.)' : '';
      return { type: 'text', text: `The file ${part.name}:\n\n${text}${cut}` };
    }
    default:
      return part satisfies never;
  }
}

async function read(name: string, media: Pick<Media, 'open'>): Promise<Buffer | undefined> {
  try {
    const opened = await media.open(name);
    return opened && (await buffer(opened.stream));
  } catch (error) {
    if (!(error instanceof MediaError)) throw error;
    return undefined;
  }
}
