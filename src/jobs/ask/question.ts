/** Converts a stored question for the gateway: adds speaker names, image bytes and document texts. */
import { buffer } from 'node:stream/consumers';
import { attachmentNote } from '../../core/attachments.ts';
import type { Inquiry, InquiryPart, InquiryTurn } from '../../core/work.ts';
import type { Question, TurnPart } from '../../gateway/questions.ts';
import { decodeText } from '../../media/content/text.ts';
import { MediaError } from '../../media/errors.ts';
import type { Media } from '../../media/media.ts';
import { MOST_DOCUMENT_BYTES } from './context-budget.ts';

const GROUP_PROMPT = "Several people talk here. Each message starts with its author's name.";

/** Adds the speaker's name to each turn if several people take part. */
export function withSpeakers(inquiry: Inquiry): Inquiry {
  const names = namesIn(inquiry.turns);
  if (new Set(names.values()).size < 2) return inquiry;
  const system = [inquiry.system, GROUP_PROMPT].filter(Boolean).join('\n\n');
  return { ...inquiry, system, turns: inquiry.turns.map((turn) => withSpeaker(turn, names)) };
}

function withSpeaker(turn: InquiryTurn, names: ReadonlyMap<string, string>): InquiryTurn {
  const { person = '', name = '', parts, role } = turn;
  const speaker = names.get(person) ?? name;
  const last = parts.findLastIndex(({ type }) => type === 'text');
  if (role === 'assistant' || speaker === '') return turn;
  const prefixed = parts.map((part, index) =>
    part.type === 'text' && index === last ? { ...part, text: `${oneLine(speaker)}: ${part.text}` } : part,
  );
  return { ...turn, parts: prefixed };
}

/** Maps each person to one name, the most recent one. */
function namesIn(turns: readonly InquiryTurn[]): Map<string, string> {
  const names = new Map<string, string>();
  for (const { role, person, name } of turns)
    if (role === 'user' && name !== undefined) names.set(person ?? name, name);
  return names;
}

/** Keeps a name from imitating a message. */
function oneLine(name: string): string {
  return name.replace(/[\s:]+/g, ' ').trim();
}

/** Replaces files that are no longer stored, or that cannot be read right now, with notes. */
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
    case 'file':
      return attachmentNote(part);
    case 'image': {
      const bytes = await read(part.file.name, media);
      if (!bytes) return { type: 'text', text: '(An image that is no longer stored.)' };
      return { type: 'image', mimeType: part.file.contentType, data: bytes.toString('base64') };
    }
    case 'document': {
      const bytes = await read(part.file.name, media);
      if (!bytes) return { type: 'text', text: `(The file ${part.name} is no longer stored.)` };
      const text = decodeText(bytes.subarray(0, MOST_DOCUMENT_BYTES)) ?? '';
      const cut = bytes.byteLength > MOST_DOCUMENT_BYTES ? '\n(The rest of the file is cut off.)' : '';
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
