const operators: readonly (readonly [RegExp, string])[] = [
  [/\bplus\b|\badded to\b/gi, '+'],
  [/\bminus\b|\bless\b/gi, '-'],
  [/\btimes\b|\bmultiplied by\b|[×·]|(?<=\d)\s*x\s*(?=\d)/gi, '*'],
  [/\bdivided by\b|\bover\b|÷/gi, '/'],
  [/\bto the power of\b|\*\*/gi, '^'],
  [/\bsquared\b/gi, '^2'],
];

/** Works out a sum in the question: + - * / ^ % and brackets, in digits or in words. */
export function answerArithmetic(text: string): string | null {
  const written = operators.reduce(
    (line, [pattern, sign]) => line.replace(pattern, ` ${sign} `),
    text.replace(/,(?=\d{3}\b)/g, ''),
  );
  const expression = firstExpression(written);
  if (expression === undefined || !/\d\s*[-+*/^%]\s*[-(\d.]/.test(expression) || expression.length > 200)
    return null;
  if (/^\d{4}-\d{1,2}-\d{1,2}$/.test(expression)) return null;
  const value = evaluate(expression);
  if (value === null) return `I cannot work out \`${expression}\`.`;
  const shown = expression.replace(/\s+/g, '').replace(/(?<=[\d)])([-+*/^%])/g, ' $1 ');
  return `${shown} = **${Number.parseFloat(value.toPrecision(12))}**`;
}

/** From a digit, dot, minus or bracket to the last digit or bracket before other signs. */
function firstExpression(text: string): string | undefined {
  for (const [run] of text.matchAll(/[-+*/^%().\d\s]+/g)) {
    const start = run.search(/[-(\d.]/);
    const end = run.search(/[\d)][^\d)]*$/);
    if (start >= 0 && end > start) return run.slice(start, end + 1);
  }
  return undefined;
}

/** How strongly each operator binds, and what it does; equal ones are worked out from the left, powers from the right. */
const operations: Readonly<Record<string, readonly [number, (left: number, right: number) => number]>> = {
  '+': [1, (left, right) => left + right],
  '-': [1, (left, right) => left - right],
  '*': [2, (left, right) => left * right],
  '/': [2, (left, right) => left / right],
  '%': [2, (left, right) => left % right],
  '^': [3, (left, right) => left ** right],
};

/** The value of an expression by precedence climbing; null when it is malformed or has no finite value. */
function evaluate(expression: string): number | null {
  const tokens = expression.match(/\d+\.?\d*|\.\d+|[-+*/^%()]/g) ?? [];
  let at = 0;
  const bound = (least: number): number => {
    let value = atom();
    for (;;) {
      const sign = tokens[at] ?? '';
      const [strength = 0, work] = operations[sign] ?? [];
      if (work === undefined || strength < least) return value;
      at++;
      value = work(value, bound(sign === '^' ? strength : strength + 1));
    }
  };
  const atom = (): number => {
    const token = tokens[at++];
    if (token === '-') return -bound(3);
    if (token === '+') return bound(3);
    if (token !== '(') return token === undefined ? Number.NaN : Number(token);
    const value = bound(1);
    return tokens[at++] === ')' ? value : Number.NaN;
  };
  const value = bound(1);
  return at === tokens.length && Number.isFinite(value) ? value : null;
}
