/** Attached files. Work refers to them by URL until the first step of its job fetches them. */
import type { TextPart } from '../gateway/answers.ts';
import type { ConversationTurn } from './invocation.ts';
import type { FileReference } from './options.ts';
import { present } from './util/present.ts';
import type { AnswerWork, InquiryPart, InquiryTurn, NamedFile, WorkFile } from './work.ts';

/** True if the file has yet to be fetched. */
export function isNamed(file: WorkFile): file is NamedFile {
  return 'url' in file || 'job' in file;
}

/** Trusts the platform's description. The content is checked when the file is fetched. */
export function isPicture({ name, contentType }: FileReference): boolean {
  return contentType?.startsWith('image/') ?? /\.(png|jpe?g|webp|gif|avif|bmp)$/i.test(name);
}

/** False only for known binary types. Names and types of JSON, YAML, SQL and log files are not reliable. */
export function mayBeText({ contentType = '' }: FileReference): boolean {
  return !/^(?:image|audio|video|font)\/|\/(?:zip|pdf|gzip|x-7z|vnd\.)/.test(contentType);
}

/** True if the model gets the images of the conversation. */
export function getsImages({ dialect, readsImages }: Pick<AnswerWork, 'dialect' | 'readsImages'>): boolean {
  return dialect !== 'chat' || readsImages === true;
}

/** Replaces images with notes, for a model that rejects them. */
export function withoutImages(turns: readonly InquiryTurn[]): readonly InquiryTurn[] {
  return turns.map((turn) => ({
    ...turn,
    parts: turn.parts.map((part) => (part.type === 'image' ? attachmentNote(part) : part)),
  }));
}

/** Replaces an attachment that the model doesn't get, so that later turns still make sense. */
export function attachmentNote(part: Exclude<InquiryPart, TextPart>): TextPart {
  const isImage = part.type === 'image' || (part.type === 'file' && isPicture(part.file));
  const name = part.type === 'file' ? part.file.name : part.type === 'document' ? part.name : '';
  return { type: 'text', text: isImage ? '(an image)' : `(the file ${name})` };
}

/** Where the image of a question (the last turn) is: attached to it, or in the message it refers to. */
export type ImagePlace = 'attached' | 'replied-to' | 'none';

export function imagePlaceIn(turns: readonly InquiryTurn[]): ImagePlace {
  const pictures = (turn?: InquiryTurn): readonly { readonly embedded?: true }[] =>
    (turn?.parts ?? []).flatMap((part): { readonly embedded?: true }[] => {
      if (part.type === 'image') return [part];
      return part.type === 'file' && isPicture(part.file) ? [part.file] : [];
    });
  const question = pictures(turns.at(-1));
  if (question.some(({ embedded }) => !embedded)) return 'attached';
  return question.length > 0 || pictures(turns.at(-2)).length > 0 ? 'replied-to' : 'none';
}

/** Converts a message of a conversation into a turn. Its files are not fetched yet. */
export function inquiryTurn({ author, text, files, ...speaker }: ConversationTurn): InquiryTurn {
  const { name, person, job, answers } = speaker;
  return {
    role: author === 'bot' ? 'assistant' : 'user',
    parts: [
      ...files.map((file) => ({ type: 'file' as const, file })),
      ...(text === '' ? [] : [{ type: 'text' as const, text }]),
    ],
    ...present(author === 'bot' ? { job, answers } : { name, person }),
  };
}

export function cannotReadImagesSentence(model: string): string {
  return `The model “${model}” can't read images this way. In “model”, choose another one and put “msg:” or “gen:” before its ID, as in “msg:some-id”.`;
}
