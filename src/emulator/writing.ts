import { createRandom, type Random } from './random.ts';

/** Returns the lower-case words of a text: letters, digits, apostrophes and hyphens. */
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

/** Returns the distinct keywords of a topic in order, or `moment` if it has no keywords. */
export function topicWords(topic: string): string[] {
  const words = wordsOf(topic).filter((word) => !smallWords.has(word) && word.length > 1);
  return words.length === 0 ? ['moment'] : [...new Set(words)];
}

/** Creates a title from up to four words of a prompt. */
export function titleFrom(prompt: string): string {
  return topicWords(prompt).slice(0, 4).map(capital).join(' ');
}

/** Returns the topic of a question, without question words and final punctuation. */
export function topicAfter(text: string, questionWords: RegExp): string | null {
  const match = questionWords.exec(text);
  if (match === null) return null;
  const rest = text
    .slice(match.index + match[0].length)
    .split('\n')[0]
    ?.replace(/(?<![?!.,;:\s])[?!.,;:\s]+$/, '')
    .trim();
  return rest?.slice(0, 200) || null;
}

/** Whether a question asks for something to be created, such as a song. */
export function asksToCreate(question: string): boolean {
  return /\b(?:make|create|write|compose|sing|record|want|need)\b/i.test(question);
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Returns the entry whose words occur most often in a text, or undefined. */
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

const verseLines = [
  'I was looking for the WORD when the morning came around',
  'There is WORD in every window on the quiet side of town',
  'You said WORD would find us and we laughed until the light',
  'We were counting every WORD on the long road through the night',
  'I kept a little WORD in my pocket all along',
  'And the radio sang WORD like it knew me by my name',
  'Since you told me of the WORD nothing ever was the same',
  'Hold on to the WORD, let the heavy evening go',
  'WORD on the horizon and the river running slow',
  'Tell me of the WORD, tell me everything you know',
] as const;
const chorusLines = [
  ['Oh WORD, WORD, stay a little longer', 'Every time you leave me I come back a little stronger'],
  ['WORD, take me home tonight', 'WORD, be the only light'],
  ['We are dancing with the WORD', 'Loudest song you ever heard'],
  ['Sing it, WORD, sing it slow', 'Never, never let me go'],
] as const;
const bridgeLines = [
  'If the WORD should fade away',
  'I would find it anyway',
  'One more WORD before we part',
  'Leave the rest inside my heart',
] as const;
const titles = ['WORD', 'The WORD and Me', 'Song for WORD', 'Oh WORD', 'WORD at Dawn', 'Little WORD'];

/**
 * Writes lyrics about a topic, with section tags. The same topic and variant give the same text. Short lyrics are a verse
 * and a chorus, which fit a short song.
 */
export function writeLyrics(topic: string, variant: number, length: 'short' | 'full') {
  const words = topicWords(topic);
  const random = createRandom(JSON.stringify([topic, variant]));
  let next = variant;
  const fill = (line: string): string =>
    capital(line.replaceAll('WORD', () => words[next++ % words.length] ?? 'moment'));
  const verse = (lines: number): string =>
    ['[Verse]', ...draw(verseLines, lines, random).map(fill)].join('\n');
  const pair = random.pick(chorusLines);
  const chorusWord = words[variant % words.length] ?? 'moment';
  const sung = pair.map((line) => capital(line.replaceAll('WORD', chorusWord)));
  const chorus = ['[Chorus]', ...sung, ...(length === 'full' ? sung : [])].join('\n');
  const title = random.pick(titles).replaceAll('WORD', capital(chorusWord));
  const sections =
    length === 'short'
      ? [verse(2), chorus]
      : [verse(4), chorus, verse(4), chorus, ['[Bridge]', ...bridgeLines.map(fill)].join('\n'), chorus];
  return { title, text: sections.join('\n\n') };
}

function draw<Value>(values: readonly Value[], count: number, random: Random): Value[] {
  const left = [...values];
  return Array.from({ length: count }, () => left.splice(random.integer(left.length), 1)).flat();
}
