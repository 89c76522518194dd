import { writeLyrics } from '../lyrics.ts';
import { createRandom } from '../random.ts';
import type { Question } from './answer.ts';
import { capital, topicAfter } from './topic.ts';

const about = /\b(?:about|on|for|of)\s+/i;
const middles = [
  'the whole world leans in to hear',
  'a small door opens in time',
  'light moves slowly through the leaves',
  'somewhere a kettle answers',
] as const;
const ends = ['then it is quiet', 'and we walk on home', 'nobody hurries', 'the evening stays warm'] as const;

/** Haiku, limericks, poems and lyrics about what the question names. */
export function answerVerse({ text }: Question): string | null {
  const form = /\b(haiku|limerick|poem|verse|lyrics|joke|riddle)\b/i.exec(text)?.[1]?.toLowerCase();
  if (form === undefined) return null;
  const topic = topicAfter(text, about) ?? 'this moment';
  const random = createRandom(`${form} ${topic}`);
  switch (form) {
    case 'haiku':
      return `*${capital(topic)}, listen:*  \n*${random.pick(middles)},*  \n*${random.pick(ends)}.*`;
    case 'limerick':
      return [
        `There once was a thing called ${topic},`,
        'That no one could file by its topic;',
        'They put it in drawers,',
        'In attics, on floors,',
        'Till its fame was no less than galactic.',
      ].join('  \n');
    case 'joke':
      return `Why did ${topic} cross the road?\n\nBecause the emulator *deterministically* said so.`;
    case 'riddle':
      return `I am never quite here, and I rhyme with nothing. The more you ask, the more I am about ${topic}. What am I?\n\n*(An answer.)*`;
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
