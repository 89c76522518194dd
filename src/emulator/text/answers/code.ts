import { capital } from '../../writing/words.ts';

const snippets = [
  {
    asked: /fibonacci/i,
    does: 'gives the first `count` Fibonacci numbers',
    typescript:
      'function fibonacci(count: number): number[] {\n  const numbers = [0, 1];\n  while (numbers.length < count) {\n    numbers.push(numbers.at(-1) + numbers.at(-2));\n  }\n  return numbers.slice(0, count);\n}',
    python:
      'def fibonacci(count):\n    numbers = [0, 1]\n    while len(numbers) < count:\n        numbers.append(numbers[-1] + numbers[-2])\n    return numbers[:count]',
  },
  {
    asked: /revers/i,
    does: 'turns a text around',
    typescript: "function reverse(text: string): string {\n  return [...text].reverse().join('');\n}",
    python: 'def reverse(text):\n    return text[::-1]',
  },
] as const;

/** Code for what the question asks, in Python where it says so and in TypeScript otherwise. */
export function answerCode(text: string): string | null {
  if (!/\b(code|function|program|script|snippet|regex|algorithm)\b/i.test(text)) return null;
  const language = /\bpython\b/i.test(text) ? 'python' : 'typescript';
  const fenced = (code: string): string => `\`\`\`${language}\n${code}\n\`\`\``;
  const known = snippets.find((snippet) => snippet.asked.test(text));
  if (known !== undefined) {
    const cost = 'It takes time in proportion to what it is given, and no more memory than its answer.';
    return `This ${known.does}:\n\n${fenced(known[language])}\n\n${cost}`;
  }
  const task = /\b(?:that|which|to|for)\s+([\p{L}\d ]+)/iu.exec(text)?.[1] ?? 'answer the question';
  const words = task.trim().split(/\s+/).slice(0, 4);
  const [first = '', ...others] = words.map((word) => word.toLowerCase());
  const code = {
    python: `def ${[first, ...others].join('_')}(value):\n    """${capital(words.join(' '))}."""\n    return value`,
    typescript: `/** ${capital(words.join(' '))}. */\nfunction ${first}${others.map(capital).join('')}(value: string): string {\n  return value;\n}`,
  };
  return `Here is where I would begin:\n\n${fenced(code[language])}\n\nFill in the middle and it will **${words.join(' ')}**.`;
}
