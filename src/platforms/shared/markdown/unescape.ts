/** Markdown that we wrote, read back. */

/** An escape, or code between fences or backticks as the first group. */
const ESCAPE_OR_CODE = /\\[\s\S]|(```[\s\S]*?(?:```|$)|(`+)(?!`)[^\n]*?(?<!`)\2(?!`))/g;

/** Undoes escapes, after `change`. Code is left as it is: it was never escaped. */
export function unescapeOutsideCode(markdown: string, change = (text: string) => text): string {
  const outside = (text: string) => change(text).replace(/\\([!-/:-@[-`{-~])/g, '$1');
  let read = '';
  let at = 0;
  for (const { 1: code, index } of markdown.matchAll(ESCAPE_OR_CODE)) {
    if (code === undefined) continue;
    read += outside(markdown.slice(at, index)) + code;
    at = index + code.length;
  }
  return read + outside(markdown.slice(at));
}
