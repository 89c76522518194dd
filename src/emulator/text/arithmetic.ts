import type { Question } from './answer.ts';

const operators: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b|\badded to\b/gi, '+'],
  [/\bminus\b|\bless\b/gi, '-'],
  [/\btimes\b|\bmultiplied by\b|[×·]|(?<=\d)\s*x\s*(?=\d)/gi, '*'],
  [/\bdivided by\b|\bover\b|÷/gi, '/'],
  [/\bto the power of\b|\*\*/gi, '^'],
  [/\bsquared\b/gi, '^2'],
];

/** Works out a sum in the question: + - * / ^ % and brackets, in digits or in words. */
export function answerArithmetic({ text }: Question): string | null {
  const written = operators.reduce(
    (line, [pattern, sign]) => line.replace(pattern, ` ${sign} `),
    text.replace(/,(?=\d{3}\b)/g, ''),
  );
  const expression = /[-(\d.][-+*/^%().\d\s]*[\d)]/.exec(written)?.[0]?.trim();
  if (expression === undefined || !/\d\s*[-+*/^%]\s*[-(\d.]/.test(expression) || expression.length > 200)
    return null;
  if (/^\d{4}-\d{1,2}-\d{1,2}$/.test(expression)) return null;
  const value = evaluate(expression);
  if (value === null) return `I cannot work out \`${expression}\`.`;
  const shown = expression.replace(/\s+/g, '').replace(/(?<=[\d)])([-+*/^%])/g, ' $1 ');
  return `${shown} = **${Number.parseFloat(value.toPrecision(12))}**`;
}

/** The value of an expression by recursive descent; null when it is malformed or has no finite value. */
function evaluate(expression: string): number | null {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|[-+*/^%()]/g) ?? [];
  let at = 0;
  const sum = (): number => {
    let value = product();
    while (tokens[at] === '+' || tokens[at] === '-')
      value = tokens[at++] === '+' ? value + product() : value - product();
    return value;
  };
  const product = (): number => {
    let value = power();
    for (let sign = tokens[at]; sign === '*' || sign === '/' || sign === '%'; sign = tokens[at]) {
      at++;
      const right = power();
      value = sign === '*' ? value * right : sign === '/' ? value / right : value % right;
    }
    return value;
  };
  const power = (): number => {
    const base = atom();
    if (tokens[at] !== '^') return base;
    at++;
    return base ** power();
  };
  const atom = (): number => {
    const token = tokens[at++];
    if (token === '-') return -power();
    if (token === '+') return power();
    if (token !== '(') return token === undefined ? Number.NaN : Number(token);
    const value = sum();
    return tokens[at++] === ')' ? value : Number.NaN;
  };
  const value = sum();
  return at === tokens.length && Number.isFinite(value) ? value : null;
}
