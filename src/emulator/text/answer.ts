import { createRandom } from '../random.ts';
import { answerArithmetic } from './arithmetic.ts';
import { answerCode } from './code.ts';
import type { Turn } from './conversation.ts';
import { answerFromMemory } from './memory.ts';
import { describePicture } from './picture.ts';
import { answerProse } from './prose.ts';
import { answerVerse } from './verse.ts';

/** What an answerer sees: the question and everything said before it. */
export interface Question {
  readonly text: string;
  readonly before: readonly Turn[];
}
/** Answers the questions it understands, in Markdown; null leaves them to the next. */
type Answerer = (question: Question) => string | null;

const answerers: readonly Answerer[] = [
  answerFromMemory,
  answerGreeting,
  answerArithmetic,
  answerVerse,
  answerCode,
  answerProse,
];

/** Answers a conversation's last turn. The same conversation always gets the same answer. */
export function answer(turns: readonly Turn[]): string {
  const last = turns.findLast((turn) => turn.role === 'user');
  if (last === undefined) return 'You have not asked me anything yet. What would you like to know?';
  const before = turns.slice(0, turns.lastIndexOf(last));
  const question: Question = { text: last.text.trim(), before };
  if (last.pictures.length > 0) return answerPictures(last, question);
  for (const answerer of answerers) {
    const text = answerer(question);
    if (text !== null) return briefly(text, turns);
  }
  return 'I have no answer to that.';
}

/** Keeps to the first paragraph when the system asks for short answers. */
function briefly(text: string, turns: readonly Turn[]): string {
  const isAsked = turns.some(
    (turn) => turn.role === 'system' && /\b(brief|concise|short|one sentence)\b/i.test(turn.text),
  );
  return isAsked && !text.includes('```') ? (text.split('\n\n')[0] ?? text) : text;
}

function answerPictures(turn: Turn, question: Question): string {
  const seen = turn.pictures.map(describePicture);
  const [only] = seen;
  const what =
    seen.length === 1
      ? `I see ${only}.`
      : `I see ${seen.length} pictures:\n\n${seen.map((one) => `- ${one}`).join('\n')}`;
  return question.text === ''
    ? what
    : `${what}\n\nYou asked: “${question.text}” From here I can tell its size and colours; for the rest I would need better glasses.`;
}

const hellos = ['Hello', 'Hi there', 'Good to see you', 'Greetings'] as const;

function answerGreeting({ text, before }: Question): string | null {
  if (
    /^(hi|hello|hey|good (morning|evening|afternoon)|greetings|yo)\b[\s!.,]*(there|minstrel|everyone|all)?[\s!.,]*$/i.test(
      text,
    )
  ) {
    const again = before.some((turn) => turn.role === 'assistant');
    const random = createRandom(text);
    return again
      ? 'Hello again! Where were we?'
      : `${random.pick(hellos)}! Ask me for a haiku, a sum, a list, or an explanation.`;
  }
  if (/^(thanks|thank you|cheers|ta)\b/i.test(text)) return 'You are very welcome!';
  if (/\bhow are you\b/i.test(text)) return 'Running smoothly, all circuits in tune. How are *you*?';
  if (/\b(who|what) are you\b/i.test(text)) {
    return 'I am the answering half of a **gateway emulator**: deterministic, cheerful, and entirely on this machine.';
  }
  if (/^(bye|goodbye|good night)\b/i.test(text))
    return 'Goodbye! I will remember nothing and be just as glad next time.';
  return null;
}
