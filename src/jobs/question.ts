/** Turns a stored question into the gateway's, with the bytes of its pictures. */
import { buffer } from 'node:stream/consumers';
import type { Part, Question } from '../gateway/answers.ts';
import type { Media } from '../media/media.ts';
import type { Inquiry, InquiryPart } from '../work.ts';

/** Pictures that are not kept any more are left out, and a note stands in their place. */
export async function toQuestion(inquiry: Inquiry, media: Pick<Media, 'open'>): Promise<Question> {
  const turns = await Promise.all(
    inquiry.turns.map(async ({ role, parts }) => ({
      role,
      parts: await Promise.all(parts.map((part) => toPart(part, media))),
    })),
  );
  return { ...inquiry, turns };
}

async function toPart(part: InquiryPart, media: Pick<Media, 'open'>): Promise<Part> {
  if (part.type === 'text') return part;
  const opened = await media.open(part.file.name);
  if (!opened) return { type: 'text', text: '(A picture that is no longer kept.)' };
  const bytes = await buffer(opened.stream);
  return { type: 'image', mimeType: part.file.contentType, data: bytes.toString('base64') };
}
