/** What a question is about: the words after its asking words, without the final punctuation. */
export function topicAfter(text: string, asking: RegExp): string | null {
  const match = asking.exec(text);
  if (match === null) return null;
  const rest = text
    .slice(match.index + match[0].length)
    .split('\n')[0]
    ?.replace(/[?!.,;:\s]+$/, '')
    .trim();
  return rest === undefined || rest === '' ? null : rest.slice(0, 200);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
