/** Checks that functions take linear time in text, however hostile it is, or let other work be done in between. */
import { expect, test } from 'vitest';

/** In characters. The short one finds what would take hours for a long one. */
const LENGTHS = [60, 1_000, 200_000];
/** Of one core, for 200 kB. */
const MOST_MILLISECONDS = 50;
const HOPELESS_MILLISECONDS = 1_000;
const MOST_RUNS = 5;
/** Of one core, for 200,000 strings there and back. */
const MILLISECONDS_OF_COPY = 8;

/** Repeated until the text is long enough: one of each kind of sign that readers and renderers look for. */
const UNITS = [
  ...['[', '](', '[a](', '![', '<', '<a', '<!--', '<@a|', '{"a":'],
  ...['`', '```\n', '*', '*a_ ', '~~a '],
  ...[' ', '\r\n', '\n> ', '\n- ', '\n1. ', '# ', '\n|'],
  ...['--a=', '--a=‚b', ',', '//', '\\', 'a:', '&', '0', '"', "'"],
  ...['a', 'a ', 'a@', 'http://', 'www.'],
  ...['👍', 'e\u0301', '\u200d', '\ud800'],
];
const BEGINNINGS_AND_UNITS = [
  ['[a](', '<>'],
  ['[a](', '('],
  ['a', ' '],
  ['a', '\u00a0\n'],
  ['- ', ' '],
  ['```', '`'],
] as const;
const NESTED = [
  ['[', ']'],
  ['[', '](a)'],
  ['(', ')'],
  ['{"a":', '}'],
  ['<a>', '</a>'],
] as const;

function* hostileTexts(length: number): Generator<{ name: string; text: string }> {
  const repeated = (unit: string, most = length) => unit.repeat(Math.ceil(most / unit.length)).slice(0, most);
  // A pattern goes back where what it waits for does not come.
  for (const unit of UNITS) yield { name: `${unit}, then another sign`, text: `${repeated(unit)}\u0001` };
  for (const [beginning, unit] of BEGINNINGS_AND_UNITS)
    yield { name: `${beginning}, then ${unit}`, text: beginning + repeated(unit) };
  for (const [open, close] of NESTED) {
    const text = `${repeated(open, length / 2)}1${repeated(close, length / 2)}`;
    yield { name: `1 in ${open} and ${close}`, text };
  }
  yield { name: 'letters, then a space', text: `${repeated('a')} ` };
}

/** The longest time for which `work` lets no other work be done, in milliseconds of one core. */
async function longestWait(work: () => unknown): Promise<number> {
  let longest = 0;
  let isDone = false;
  let last = process.threadCpuUsage();
  const look = () => {
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, (user + system) / 1_000);
    last = process.threadCpuUsage();
    if (!isDone) setImmediate(look);
  };
  setImmediate(look);
  await work();
  isDone = true;
  look();
  return longest;
}

/** How many times longer than on an idle machine everything takes now: other threads share caches and cores. */
async function slowness(): Promise<number> {
  const copy = () => JSON.parse(JSON.stringify('12345'.repeat(40_000).split('')));
  return Math.max(1, (await longestWait(copy)) / MILLISECONDS_OF_COPY);
}

/** Whether the best of some runs is short enough. */
async function isQuick(work: () => unknown): Promise<boolean> {
  for (let run = 0; run < MOST_RUNS; run += 1) {
    const milliseconds = await longestWait(work);
    if (milliseconds <= MOST_MILLISECONDS || milliseconds <= MOST_MILLISECONDS * (await slowness()))
      return true;
    if (milliseconds > HOPELESS_MILLISECONDS) return false;
  }
  return false;
}

/** One test for each function. What they throw is an answer, too. */
export function testLinear(functions: Readonly<Record<string, (text: string) => unknown>>): void {
  test.each(Object.entries(functions))('%s', async (_name, read) => {
    for (const length of LENGTHS) {
      for (const { name, text } of hostileTexts(length)) {
        const work = async () => {
          try {
            await read(text);
          } catch {}
        };
        if (!(await isQuick(work)))
          expect.fail(`takes too long for ${length} characters of ${JSON.stringify(name)}`);
      }
    }
  });
}
