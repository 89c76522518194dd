/** Markdown in parts that mean alone what they mean together, so that of a growing text only the end is read anew. */

/** Where it is open whether what follows a blank line belongs to what came before: HTML, and fences in something else. */
const UNSURE = /^[ \t]*<|^(?:[ \t>+*-]|\d{1,9}[.)]).*(?:`{3}|~{3})/;
/** What begins so may go on a list or code above the blank line. */
const GOES_ON = /^(?:[ \t]|(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$))/;
const FENCE = /^(`{3,}|~{3,})/;

/** Joined by line breaks, the parts are the text. */
export function markdownParts(markdown: string): string[] {
  // A definition counts for the whole text.
  if (markdown.includes(']:') || markdown.includes('\r')) return [markdown];
  const parts: string[] = [];
  let part: string[] = [];
  let fence: string | undefined;
  let isAfterBlank = false;
  let isUnsure = false;
  for (const line of markdown.split('\n')) {
    if (isAfterBlank && fence === undefined && !isUnsure && line !== '' && !GOES_ON.test(line)) {
      parts.push(part.join('\n'));
      part = [];
    }
    part.push(line);
    isAfterBlank = line.trim() === '';
    isUnsure ||= UNSURE.test(line);
    const [, marks] = FENCE.exec(line) ?? [];
    if (marks === undefined) continue;
    if (fence === undefined)
      fence = marks.startsWith('`') && line.slice(marks.length).includes('`') ? undefined : marks;
    else if (marks.startsWith(fence) && line.trim() === marks) fence = undefined;
  }
  return [...parts, part.join('\n')];
}

/** Parts that are remembered, the latest ones. */
const REMEMBERED = 1_000;
/** In characters. Longer parts are read anew. */
const LONGEST_REMEMBERED = 4_000;

/** Reads a text part by part, each of the last ones once for each variant. */
export function createPartReader<Piece, Variant extends string | number | boolean>(
  read: (part: string, variant: Variant) => readonly Piece[],
): (markdown: string, variant: Variant) => Piece[] {
  const known = new Map<string, readonly Piece[]>();
  return (markdown, variant) =>
    markdownParts(markdown).flatMap((part) => {
      const key = `${variant} ${part}`;
      const pieces = known.get(key) ?? read(part, variant);
      known.delete(key);
      if (part.length <= LONGEST_REMEMBERED) known.set(key, pieces);
      const [oldest] = known.size > REMEMBERED ? known.keys() : [];
      if (oldest !== undefined) known.delete(oldest);
      return pieces;
    });
}
