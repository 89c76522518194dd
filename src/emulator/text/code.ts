import type { Question } from './answer.ts';
import { capital } from './topic.ts';

type Language = 'typescript' | 'javascript' | 'python';
const languageWords: readonly (readonly [RegExp, Language])[] = [
  [/\bpython\b/i, 'python'],
  [/\b(javascript|js|node)\b/i, 'javascript'],
  [/\b(typescript|ts)\b/i, 'typescript'],
];

interface Snippet {
  readonly asked: RegExp;
  readonly does: string;
  readonly script: (type: (name: string) => string) => string;
  readonly python: string;
}
const snippets: readonly Snippet[] = [
  {
    asked: /fibonacci/i,
    does: 'gives the first `count` Fibonacci numbers',
    script: (type) =>
      `function fibonacci(count${type('number')})${type('number[]')} {\n  const numbers = [0, 1];\n  while (numbers.length < count) {\n    numbers.push(numbers.at(-1) + numbers.at(-2));\n  }\n  return numbers.slice(0, count);\n}`,
    python:
      'def fibonacci(count):\n    numbers = [0, 1]\n    while len(numbers) < count:\n        numbers.append(numbers[-1] + numbers[-2])\n    return numbers[:count]',
  },
  {
    asked: /fizz\s*buzz/i,
    does: 'plays FizzBuzz up to a limit',
    script: (type) =>
      `function fizzBuzz(limit${type('number')})${type('string[]')} {\n  return Array.from({ length: limit }, (_, index) => {\n    const n = index + 1;\n    return (n % 3 ? '' : 'Fizz') + (n % 5 ? '' : 'Buzz') || String(n);\n  });\n}`,
    python:
      "def fizz_buzz(limit):\n    return [\n        ('Fizz' if n % 3 == 0 else '') + ('Buzz' if n % 5 == 0 else '') or str(n)\n        for n in range(1, limit + 1)\n    ]",
  },
  {
    asked: /revers/i,
    does: 'turns a text around',
    script: (type) =>
      `function reverse(text${type('string')})${type('string')} {\n  return [...text].reverse().join('');\n}`,
    python: 'def reverse(text):\n    return text[::-1]',
  },
  {
    asked: /prime/i,
    does: 'tells whether a number is prime',
    script: (type) =>
      `function isPrime(n${type('number')})${type('boolean')} {\n  for (let divisor = 2; divisor * divisor <= n; divisor++) {\n    if (n % divisor === 0) return false;\n  }\n  return n > 1;\n}`,
    python:
      'def is_prime(n):\n    return n > 1 and all(n % divisor for divisor in range(2, int(n ** 0.5) + 1))',
  },
];

/** Code for what the question asks, in the language it names, in a fence. */
export function answerCode({ text }: Question): string | null {
  if (!/\b(code|function|program|script|snippet|regex|algorithm)\b/i.test(text)) return null;
  const language = languageWords.find(([word]) => word.test(text))?.[1] ?? 'typescript';
  const type = (name: string): string => (language === 'typescript' ? `: ${name}` : '');
  const known = snippets.find((snippet) => snippet.asked.test(text));
  if (known !== undefined) {
    const code = language === 'python' ? known.python : known.script(type);
    return `This ${known.does}:\n\n\`\`\`${language}\n${code}\n\`\`\`\n\nIt takes time in proportion to what it is given, and no more memory than its answer.`;
  }
  const words = (/\b(?:that|which|to|for)\s+([\p{L}\d ]+)/iu.exec(text)?.[1] ?? 'answer the question')
    .trim()
    .split(/\s+/)
    .slice(0, 4);
  const camel = words
    .map((word, index) => (index === 0 ? word.toLowerCase() : capital(word.toLowerCase())))
    .join('');
  const code =
    language === 'python'
      ? `def ${words.join('_').toLowerCase()}(value):\n    """${capital(words.join(' '))}."""\n    return value`
      : `/** ${capital(words.join(' '))}. */\nfunction ${camel}(value${type('string')})${type('string')} {\n  return value;\n}`;
  return `Here is where I would begin:\n\n\`\`\`${language}\n${code}\n\`\`\`\n\nFill in the middle and it will **${words.join(' ')}**.`;
}
