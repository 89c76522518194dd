/** The lower-case words of a text: letters, digits, apostrophes and hyphens. */
export function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}][\p{L}\p{N}'-]*/gu) ?? [];
}

const smallWords = new Set(
  (
    'a an the and or but of for to in on at by with from about into over under is are was were be been it its this that ' +
    'these those i you he she we they my your our their me him her us them song songs lyrics write make sing please some ' +
    'tune music style like very so just as if when who what where how why not no yes do does did has have had can could'
  ).split(' '),
);

/** The words that a topic is about, in its order, each once; `the moment` when it has none. */
export function topicWords(topic: string): string[] {
  const words = wordsOf(topic).filter((word) => !smallWords.has(word) && word.length > 1);
  return words.length === 0 ? ['moment'] : [...new Set(words)];
}

/** A title from the words of a prompt: at most four of them. */
export function titleFrom(prompt: string): string {
  return topicWords(prompt).slice(0, 4).map(capital).join(' ');
}

/** What a question is about: the words after its asking words, without the final punctuation. */
export function topicAfter(text: string, asking: RegExp): string | null {
  const match = asking.exec(text);
  if (match === null) return null;
  const rest = text
    .slice(match.index + match[0].length)
    .split('\n')[0]
    ?.replace(/(?<![?!.,;:\s])[?!.,;:\s]+$/, '')
    .trim();
  return rest?.slice(0, 200) || null;
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The entry whose words, separated by spaces, a text uses most; undefined when it uses none. */
export function bestMatch<Entry extends { readonly words: string }>(
  entries: readonly Entry[],
  text: readonly string[],
): Entry | undefined {
  const scores = entries.map(({ words }) => {
    const known = new Set(words.split(' '));
    return text.filter((word) => known.has(word)).length;
  });
  const highest = Math.max(...scores);
  return highest === 0 ? undefined : entries[scores.indexOf(highest)];
}
