/** A picture that someone showed: its bytes, or only the address it was said to be at. */
export type Picture =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly claimedType: string }
  | { readonly kind: 'address'; readonly url: string };

/** What one side said, whatever dialect it came in. */
export interface ConversationMessage {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** A message of texts and pictures in any order. */
export function messageOf(
  role: ConversationMessage['role'],
  content: string | readonly (string | Picture)[],
): ConversationMessage {
  const parts = typeof content === 'string' ? [content] : content;
  return {
    role,
    text: parts.filter((part) => typeof part === 'string').join('\n'),
    pictures: parts.filter((part) => typeof part !== 'string'),
  };
}

export function pictureOf(claimedType: string, base64: string): Picture {
  return { kind: 'bytes', claimedType, bytes: Buffer.from(base64, 'base64') };
}

/** About four characters a token, as public tokenisers come to on English; a picture counts for 258. */
export function countTokens(messages: readonly ConversationMessage[]): number {
  return messages.reduce(
    (total, { text, pictures }) => total + countTextTokens(text) + 3 + 258 * pictures.length,
    0,
  );
}

export function countTextTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** A text in the pieces it is streamed in: words with the space after them. */
export function piecesOf(text: string): string[] {
  return text.match(/^\s+|\S+\s*/g) ?? [];
}

/** Seconds between two streamed pieces at speed 1, as fast as a brisk reader. */
export const pieceSeconds = 0.035;
