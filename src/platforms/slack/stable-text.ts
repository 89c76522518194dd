/** Text that grows at its end: which part of it will not change any more. */

/** What could open or be markup, and so look different when more has come. */
const MARKUP = /[*_~`[\]!\\<&|]/;
/** The first signs of a line may make it a list, a heading, a quote or a fence. */
const FIRST_SIGNS = /^[ \t]*(?:[-=_*+>#`~|]+|\d{1,9}[.)]?)?[ \t]*$/;

/**
 * The beginning of `text` that will stay as it is: whole lines that came twice alike, and of the last line whole words,
 * as long as nothing in it could be markup.
 */
export function stableText(before: string, text: string): string {
  const same = commonBeginning(before, text);
  const line = same.lastIndexOf('\n') + 1;
  const last = same.slice(line);
  const words = last.slice(0, last.lastIndexOf(' ') + 1);
  return MARKUP.test(last) || FIRST_SIGNS.test(words) ? same.slice(0, line) : same.slice(0, line) + words;
}

function commonBeginning(left: string, right: string): string {
  const most = Math.min(left.length, right.length);
  let at = 0;
  while (at < most && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  return right.slice(0, at);
}
