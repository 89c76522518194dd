/** A picture that someone showed: its bytes, or only the address it was said to be at. */
export type Picture =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array; readonly claimedType: string }
  | { readonly kind: 'address'; readonly url: string };

/** One turn of a conversation, whatever dialect it came in. */
export interface Turn {
  readonly role: 'system' | 'user' | 'assistant';
  readonly text: string;
  readonly pictures: readonly Picture[];
}

/** About four characters a token, as public tokenisers come to on English; a picture counts for 258. */
export function countTokens(turns: readonly Turn[]): number {
  return turns.reduce(
    (total, turn) => total + countTextTokens(turn.text) + 3 + 258 * turn.pictures.length,
    0,
  );
}

export function countTextTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** An answer held to a number of tokens, cut between words. */
export function limitTokens(text: string, mostTokens: number): { text: string; cut: boolean } {
  if (countTextTokens(text) <= mostTokens) return { text, cut: false };
  const kept = text.slice(0, mostTokens * 4);
  const space = kept.lastIndexOf(' ');
  return { text: space > 0 ? kept.slice(0, space) : kept, cut: true };
}

/** A text in the pieces it is streamed in: words with the space after them. */
export function piecesOf(text: string): string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

/** Seconds between two streamed pieces at speed 1: a brisk reader's pace. */
export const pieceSeconds = 0.035;
