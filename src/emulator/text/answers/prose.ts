import { createRandom, type Random } from '../../random.ts';
import { writeLyrics } from '../../writing/lyrics.ts';
import { capital, topicAfter, topicWords } from '../../writing/words.ts';

const numberWords = 'zero one two three four five six seven eight nine ten eleven twelve'.split(' ');
const knownLists: readonly (readonly [RegExp, string])[] = [
  [/planets?/i, 'Mercury, Venus, Earth, Mars, Jupiter, Saturn, Uranus, Neptune'],
  [/continents?/i, 'Africa, Antarctica, Asia, Europe, North America, Oceania, South America'],
  [/instruments?/i, 'lute, fiddle, flute, harp, drum, cello, oboe, horn, piano, bagpipes'],
  [/colou?rs?/i, 'red, orange, yellow, green, blue, indigo, violet'],
  [/days?/i, 'Monday, Tuesday, Wednesday, Thursday, Friday, Saturday, Sunday'],
  [/fruits?/i, 'apple, banana, cherry, date, fig, grape, kiwi, lemon, mango, orange, pear, quince'],
  [/animals?/i, 'badger, cat, dolphin, eagle, fox, giraffe, hedgehog, ibex, jackdaw, koala'],
];
const angles = ['the history', 'the practice', 'the folklore', 'the craft', 'the sound', 'the future'];
const adjectives = 'quiet bold curious classic late-night seasonal surprising patient shared'.split(' ');
const claims = [
  'rewards patience more than talent',
  'is simpler than it looks once you name its parts',
  'changes with the person who looks at it',
  'has a rule and a beautiful exception to it',
  'works best when you stop before the last step',
  'began as a mistake that somebody kept',
];

function readCount(text: string): number | null {
  const digits = /\b(\d{1,3})\b/.exec(text)?.[1];
  if (digits !== undefined) return Number(digits);
  const word = numberWords.findIndex((candidate) => new RegExp(`\\b${candidate}\\b`, 'i').test(text));
  return word === -1 ? null : word;
}

export function answerList(text: string): string | null {
  const asked = topicAfter(text, /\b(?:list|name|give me|suggest|tell me|what are)\s+/i);
  if (
    asked === null ||
    !/\b(list|name|give me \w+|suggest|tell me (\d+|\w+) \w+s|ideas|what are (\d+|some|the))\b/i.test(text)
  )
    return null;
  const count = Math.min(100, readCount(asked) ?? 5);
  const topic = asked.replace(/^(me\s+)?(some|the|a few|\d+|[a-z]+(?=\s+\w+s\b))\s+/i, '');
  const known = knownLists.find(([words]) => words.test(topic))?.[1].split(', ');
  const random = createRandom(`list ${topic}`);
  const items = Array.from({ length: count }, (_, index) => {
    const item = known?.[index];
    if (item !== undefined) return `${index + 1}. ${capital(item)}`;
    return `${index + 1}. **${capital(random.pick(adjectives))} ${topic}**: start from ${random.pick(angles)}`;
  });
  return `Here are ${count} for you:\n\n${items.join('\n')}`;
}

export function answerTable(text: string): string | null {
  if (!/\b(table|compare|versus|vs)\b/i.test(text)) return null;
  const [left = 'this', right = 'that'] = (
    topicAfter(text, /\b(?:compare|table of|between|table)\s+/i) ?? text
  )
    .split(/\s(?:and|with|to|versus|vs\.?)\s/i)
    .map((side) => capital(side.replace(/(?<![?.!])[?.!]+$/, '').trim()));
  const random = createRandom(`table ${left} ${right}`);
  const rows = ['Pace', 'Cost', 'Charm', 'Risk'].map(
    (row) => `| ${row} | ${stars(random)} | ${stars(random)} |`,
  );
  return `| | ${left} | ${right} |\n| --- | --- | --- |\n${rows.join('\n')}\n\nOn balance I would begin with **${random.pick([left, right])}**.`;
}

function stars(random: Random): string {
  return '★'.repeat(1 + random.integer(5));
}

export function answerEssay(text: string): string | null {
  if (!/\b(essay|story|article|long|detailed|paragraphs?)\b/i.test(text)) return null;
  const topic = topicAfter(text, /\b(?:about|on|of)\s+/i) ?? topicWords(text).slice(0, 3).join(' ');
  const count = Math.min(60, /\bparagraphs?\b/i.test(text) ? (readCount(text) ?? 6) : 8);
  const random = createRandom(`essay ${topic}`);
  const paragraphs = Array.from({ length: count }, (_, index) => {
    const sentences = Array.from(
      { length: 5 },
      () => `${capital(random.pick(angles))} of ${topic} ${random.pick(claims)}.`,
    );
    return `${index === 0 ? `Let us begin with ${topic}. ` : ''}${sentences.join(' ')}`;
  });
  return `# ${capital(topic)}\n\n${paragraphs.join('\n\n')}`;
}

export function answerExplanation(text: string): string | null {
  const topic = topicAfter(
    text,
    /\b(?:explain|what(?:'s| is| are)|describe|define|tell me about|how (?:does|do|to)|why (?:is|are|do|does))\s+/i,
  );
  if (topic === null) return null;
  const random = createRandom(`explain ${topic}`);
  const points = Array.from(
    { length: 3 },
    () => `- ${capital(random.pick(angles))} of it ${random.pick(claims)}.`,
  );
  return `**${capital(topic)}**, in short: it ${random.pick(claims)}.\n\n${points.join('\n')}\n\nIf you tell me where you met ${topic}, I can go further.`;
}

/** An honest answer to what no other answers. */
export function answerAnything(text: string): string {
  if (text === '') return 'That message was empty. Ask me anything!';
  const words = topicWords(text).slice(0, 3);
  const random = createRandom(text);
  const count = text.split(/\s+/).length;
  return `You said “${text.length > 300 ? `${text.slice(0, 300)}…` : text}” (${count} ${count === 1 ? 'word' : 'words'}).\n\nWhat stands out to me is **${words.join('**, **')}**: it ${random.pick(claims)}. Shall I explain, list, or rhyme?`;
}

const about = /\b(?:about|on|for|of)\s+/i;
const middles = [
  'the whole world leans in to hear',
  'a small door opens in time',
  'light moves slowly through the leaves',
  'somewhere a kettle answers',
] as const;
const ends = ['then it is quiet', 'and we walk on home', 'nobody hurries', 'the evening stays warm'] as const;

/** Haiku, jokes, poems and lyrics about what the question names. */
export function answerVerse(text: string): string | null {
  const form = /\b(haiku|limerick|poem|verse|lyrics|joke)\b/i.exec(text)?.[1]?.toLowerCase();
  if (form === undefined) return null;
  const topic = topicAfter(text, about) ?? 'this moment';
  const random = createRandom(`${form} ${topic}`);
  switch (form) {
    case 'haiku':
      return `*${capital(topic)}, listen:*  \n*${random.pick(middles)},*  \n*${random.pick(ends)}.*`;
    case 'joke':
      return `Why did ${topic} cross the road?\n\nBecause the emulator *deterministically* said so.`;
    default: {
      const { title, text: lines } = writeLyrics(topic, 0, 'short');
      const poem = lines
        .replace(/^\[.*\]\n/gm, '')
        .replaceAll('\n', '  \n')
        .replaceAll('  \n  \n', '\n\n');
      return `**${title}**\n\n${poem}`;
    }
  }
}
