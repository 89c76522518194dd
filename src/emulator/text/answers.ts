/** Answers of the emulator's language models: Markdown of every kind, built from the words of the question. */
import sharp from 'sharp';
import { createRandom } from '../random.ts';
import { asksToCreate, capital, topicAfter, topicWords, writeLyrics } from '../writing.ts';
import { type ConversationMessage, countTextTokens, countTokens, type Picture } from './conversation.ts';

/**
 * Answers the last question of a conversation, cut between words at a number of tokens. `read` and `written` are the tokens
 * of the conversation and of the answer. Equal conversations give equal answers.
 */
export async function writeAnswer(messages: readonly ConversationMessage[], maxTokens: number) {
  const whole = await answerLast(messages);
  const cut = countTextTokens(whole) > maxTokens;
  const text = cut ? whole.slice(0, maxTokens * 4).replace(/(?<!^) [^ ]*$/, '') : whole;
  return { text, cut, read: countTokens(messages), written: countTextTokens(text) };
}

async function answerLast(messages: readonly ConversationMessage[]): Promise<string> {
  const last = messages.findLast(({ role }) => role === 'user');
  const question = last?.text.trim() ?? '';
  if (last !== undefined && last.pictures.length > 0) {
    const descriptions = await Promise.all(last.pictures.map(describePicture));
    return `I see ${descriptions.join(', and ')}.${question === '' ? '' : ` You asked: “${question}”`}`;
  }
  const before = last === undefined ? [] : messages.slice(0, messages.lastIndexOf(last));
  for (const answerer of Object.values(ANSWERERS)) {
    const text = answerer(question, before);
    if (text !== undefined) return text;
  }
  return question === '' ? INVITATION : `You said: “${question.slice(0, 300)}”. ${INVITATION}`;
}

const INVITATION = 'Ask me for a haiku, a sum, a list, a table, code or a story.';

/** Names Minstrel's commands, because a model doesn't know what it is used for. */
const COMMANDS = [
  ['/song a tune for evening rain --style lofi, soft piano', 'creates a song'],
  ['/lyrics a lighthouse in winter', 'writes lyrics'],
  ['/image a fox under a street lamp', 'creates an image'],
  ['/video the tide comes in at dusk', 'creates a video'],
  ['/minstrel', 'lists all commands'],
] as const;
const HELP = [
  'I answer questions, and the commands do the rest:\n',
  ...COMMANDS.map(([line, effect]) => `- \`${line}\` ${effect}`),
  `\n${INVITATION}`,
].join('\n');

const STYLES = ['warm indie folk', 'dreamy synth pop', 'lofi, soft piano', 'upbeat funk', 'slow jazz ballad'];

async function describePicture(picture: Picture): Promise<string> {
  if (picture.kind === 'address') return `an image at ${picture.url}`;
  try {
    const { format, width, height } = await sharp(picture.bytes).metadata();
    return `a ${format.toUpperCase()} image of ${width} × ${height} pixels`;
  } catch {
    return `a file sent as ${picture.claimedType}, which I cannot open`;
  }
}

const subjectOf = (question: string): string =>
  topicAfter(question, /\b(?:about|on|for|of)\s+/i) ?? 'this moment';

type Answerer = (question: string, before?: readonly ConversationMessage[]) => string | undefined;

/** The first one that understands a question answers it. */
export const ANSWERERS = {
  recall(question, before = []) {
    const statements = before.filter(({ role }) => role === 'user').map(({ text }) => text);
    const nameIn = (text: string) => /\b(?:my name is|call me)\s+([\p{L}][\p{L}'-]*)/iu.exec(text)?.[1];
    if (/\bwhat('?s| is) my name\b/i.test(question)) {
      const name = statements.map(nameIn).findLast((found) => found !== undefined);
      return name === undefined ? 'You have not told me your name yet.' : `Your name is **${name}**.`;
    }
    if (/\bwhat did i (just )?(ask|say)\b/i.test(question)) return `You said: “${statements.at(-1) ?? ''}”`;
    const name = nameIn(question);
    return name === undefined ? undefined : `Nice to meet you, **${name}**!`;
  },

  greet: (question) =>
    /^(?:hi|hello|hey|good (?:morning|evening|afternoon))\b[^\p{L}\p{N}]*(?:minstrel\b[^\p{L}\p{N}]*)?$/iu.test(
      question,
    )
      ? `Hello! ${INVITATION}`
      : undefined,

  help: (question) => (/\bwhat (?:all )?can (?:you|i) do\b|^help$/i.test(question) ? HELP : undefined),

  suggest(question) {
    if (!asksToCreate(question) || !/\bsong\b/i.test(question)) return undefined;
    const topic = subjectOf(question).replaceAll('`', '');
    const style = createRandom(`style ${topic}`).pick(STYLES);
    return `Here is an idea for a song about ${topic}:\n\n\`/song ${topic} --style ${style}\`\n\nPress **Make this song**, or change the line and send it.`;
  },

  calculate(question) {
    const tokens = sumIn(SIGNS.reduce((text, [words, sign]) => text.replace(words, sign), question));
    if (tokens === undefined) return undefined;
    let [total, term] = [0, Number(tokens[0])];
    for (let at = 1; at < tokens.length; at += 2) {
      const number = Number(tokens[at + 1]);
      if (tokens[at] === '*') term *= number;
      else if (tokens[at] === '/') term /= number;
      else [total, term] = [total + term, tokens[at] === '-' ? -number : number];
    }
    return `${tokens.join(' ')} = **${Number.parseFloat((total + term).toPrecision(12))}**`;
  },

  rhyme(question) {
    const form = /\b(haiku|poem|verse|lyrics)\b/i.exec(question)?.[1]?.toLowerCase();
    if (form === undefined) return undefined;
    const topic = subjectOf(question);
    if (form === 'haiku')
      return `*${capital(topic)}, listen:*  \n*the whole world leans in to hear,*  \n*then it is quiet.*`;
    const { title, text } = writeLyrics(topic, 0, 'short');
    return `**${title}**\n\n${text.replace(/^\[.*\]\n/gm, '').replace(/(?<!\n)\n(?!\n)/g, '  \n')}`;
  },

  program(question) {
    if (!/\b(code|function|program|script)\b/i.test(question)) return undefined;
    const task = topicAfter(question, /\b(?:that|which|to|for)\s+/i) ?? 'answers';
    const name = topicWords(task).slice(0, 3).join('_').replace(/\W/g, '_');
    return /\bpython\b/i.test(question)
      ? `\`\`\`python\n# ${capital(task)}.\ndef ${name}(value):\n    return value\n\`\`\``
      : `\`\`\`typescript\n/** ${capital(task)}. */\nconst ${name} = (value: string) => value;\n\`\`\``;
  },

  compare(question) {
    if (!/\b(table|compare|versus|vs)\b/i.test(question)) return undefined;
    const sides = (topicAfter(question, /\b(?:compare|table of|between)\s+/i) ?? question).split(
      /\s(?:and|with|to|versus|vs\.?)\s/i,
    );
    const [left = 'This', right = 'That'] = sides.map((side) => capital(side.trim()));
    const random = createRandom(`table ${left} ${right}`);
    const stars = () => '★'.repeat(1 + random.integer(5));
    const rows = ['Pace', 'Cost', 'Charm', 'Risk'].map((row) => `| ${row} | ${stars()} | ${stars()} |`);
    return `| | ${left} | ${right} |\n| --- | --- | --- |\n${rows.join('\n')}`;
  },

  list(question) {
    const topic = topicAfter(question, /\b(?:list|name|give me|suggest)\s+/i);
    if (topic === null) return undefined;
    const say = sentences(topic);
    const length = Math.min(100, countIn(question) ?? 5);
    const items = Array.from({ length }, (_, index) => `${index + 1}. ${say()}`);
    return `Here are ${items.length}:\n\n${items.join('\n')}`;
  },

  narrate(question) {
    if (!/\b(essay|story|article|long|paragraphs?)\b/i.test(question)) return undefined;
    const topic = topicAfter(question, /\b(?:about|on|of)\s+/i) ?? topicWords(question).slice(0, 3).join(' ');
    const say = sentences(topic);
    const paragraph = () => Array.from({ length: 5 }, say).join(' ');
    const paragraphs = Array.from({ length: Math.min(60, countIn(question) ?? 8) }, paragraph);
    return `# ${capital(topic)}\n\n${paragraphs.join('\n\n')}`;
  },

  explain(question) {
    const topic = topicAfter(
      question,
      /\b(?:explain|what(?:'s| is| are)|describe|tell me about|how (?:does|do|to)|why (?:is|are|do|does))\s+/i,
    );
    if (topic === null) return undefined;
    const say = sentences(topic);
    return `**${capital(topic)}**, in short: ${say()}\n\n- ${say()}\n- ${say()}\n- ${say()}`;
  },
} as const satisfies Record<string, Answerer>;

const ANGLES = ['the history', 'the practice', 'the folklore', 'the craft', 'the sound', 'the future'];
const CLAIMS = [
  'rewards patience more than talent',
  'is simpler than it looks once you name its parts',
  'changes with the person who looks at it',
  'has a rule and a beautiful exception to it',
  'works best when you stop before the last step',
  'began as a mistake that somebody kept',
];

/** Returns a generator of sentences about a topic. */
function sentences(topic: string): () => string {
  const random = createRandom(`about ${topic}`);
  return () => `${capital(random.pick(ANGLES))} of ${topic} ${random.pick(CLAIMS)}.`;
}

const COUNTS = 'zero one two three four five six seven eight nine ten'.split(' ');

function countIn(text: string): number | undefined {
  const digits = /\b\d{1,3}\b/.exec(text)?.[0];
  const word = COUNTS.findIndex((count) => new RegExp(`\\b${count}\\b`, 'i').test(text));
  return digits === undefined ? (word === -1 ? undefined : word) : Number(digits);
}

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b/gi, '+'],
  [/\bminus\b/gi, '-'],
  [/\btimes\b/gi, '*'],
  [/\bdivided by\b/gi, '/'],
];

/** Returns the numbers and signs of the first sum in a text, alternating. */
function sumIn(text: string): string[] | undefined {
  for (const [run] of text.matchAll(/[-+*/.\d\s]+/g)) {
    const tokens = run.match(/\d+(?:\.\d+)?|[-+*/]/g) ?? [];
    const isSum = tokens.every((token, at) => /\d/.test(token) === (at % 2 === 0));
    if (isSum && tokens.length > 2 && tokens.length % 2 === 1) return tokens;
  }
  return undefined;
}
