/** The line at the bottom of a terminal into which a person types. */
import { createInterface } from 'node:readline';
import type { Screen, TerminalOutput } from '../deliver/screen.ts';
import type { Completion } from './help.ts';

/** What a person is asked for on a line of its own. */
export interface PromptQuestion {
  /** Precedes the line that is typed. */
  readonly name: string;
  /** Plain; printed above the line. */
  readonly text: string;
  readonly complete: (typed: string) => Promise<Completion>;
  /** Explains the question. */
  readonly help: () => Promise<void>;
}

export interface TerminalInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
}

export type InputEnd =
  /** The person said so. */
  | 'asked'
  /** There is no more input: a pipe that was read to its end, or no terminal at all. */
  | 'input-ended';

interface PromptOptions {
  readonly input: TerminalInput;
  readonly output: TerminalOutput;
  readonly screen: Screen;
  /** Resolves when the line was run. At the prompt, lines run one after the other. */
  readonly onLine: (line: string) => Promise<void>;
  readonly onEnd: (end: InputEnd) => void;
  /** Completes the end of a line. */
  readonly complete: (line: string) => Promise<Completion>;
  /** Explains what can be typed. */
  readonly help: () => Promise<void>;
}

export type Prompt = ReturnType<typeof openPrompt>;

const PROMPT = '› ';

export function openPrompt({ input, output, screen, onLine, onEnd, ...own }: PromptOptions) {
  const interactive = input.isTTY === true && output.isTTY === true;
  let asked: PromptQuestion | undefined;

  /** Candidates to insert. Where several go on differently they are printed, and an empty line explains itself. */
  async function completeLine(typed: string): Promise<Completion> {
    const { complete, help } = asked ?? own;
    const [candidates, replaced] = typed === '' && asked === undefined ? [[], ''] : await complete(typed);
    if (candidates.length === 0 && typed === '') await help();
    const common = commonBeginning(candidates);
    // A quotation is begun by the person, or is inserted whole.
    const beginning = candidates.length > 1 && !replaced.startsWith('"') ? common.replace(/^"/, '') : common;
    const isGuided = replaced !== '' && beginning.length > replaced.length;
    if (isGuided && !beginning.startsWith(replaced)) {
      // Readline only adds to what is typed.
      for (const _ of replaced) line.write(null, { name: 'backspace' });
      line.write(beginning);
      return [[], replaced];
    }
    if (candidates.length < 2 || isGuided) return [candidates, replaced];
    screen.print(candidates.map((candidate) => candidate.trim()).join('   '));
    return [[], replaced];
  }
  const line = createInterface({
    input,
    ...(interactive && { output, terminal: true }),
    prompt: PROMPT,
    completer: (typed: string, done: (error: null, result: [string[], string]) => void) => {
      completeLine(typed).then(
        (result) => done(null, result),
        () => done(null, [[], typed]),
      );
    },
  });
  let answer: ((text: string | undefined) => void) | undefined;
  let ended = false;
  /** Lines that nothing has asked for yet: they answer the next question, or are commands. */
  const ahead: string[] = [];
  let isRunning = false;

  async function runLines(): Promise<void> {
    if (isRunning) return;
    isRunning = true;
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) await onLine(next);
    isRunning = false;
  }

  const prompt = {
    rowsAbove: () => line.getCursorPos().rows,
    draw: () => line.prompt(true),
  };
  const settle = (text: string | undefined) => {
    const waiting = answer;
    answer = undefined;
    asked = undefined;
    line.setPrompt(PROMPT);
    waiting?.(text);
  };
  const close = () => {
    if (ended) return;
    ended = true;
    screen.setPrompt(undefined);
    settle(undefined);
    line.close();
  };
  const end = (how: InputEnd) => {
    if (ended) return;
    close();
    onEnd(how);
  };

  line.on('line', (typed) => {
    if (interactive) screen.entered(line.getPrompt() + typed);
    if (answer) settle(typed);
    else if (!interactive) void onLine(typed);
    else {
      ahead.push(typed);
      void runLines();
    }
  });
  line.on('SIGINT', () => {
    if (!answer) return end('asked');
    settle(undefined);
    line.write(null, { ctrl: true, name: 'u' });
    prompt.draw();
  });
  line.on('close', () => end(interactive ? 'asked' : 'input-ended'));
  if (interactive) screen.setPrompt(prompt);

  return {
    /** Whether there is a person to ask. */
    interactive,
    /** The next line that is typed; undefined when the person gives up or leaves. */
    ask(question: PromptQuestion): Promise<string | undefined> {
      if (!interactive || ended) return Promise.resolve(undefined);
      const typed = ahead.shift();
      if (typed !== undefined) {
        screen.print(`${question.text}\n${question.name} ${PROMPT}${typed}`);
        return Promise.resolve(typed);
      }
      asked = question;
      line.setPrompt(`${question.name} ${PROMPT}`);
      screen.print(question.text);
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    close,
  };
}

function commonBeginning([first = '', ...others]: readonly string[]): string {
  const end = [...first].findIndex((sign, index) => others.some((other) => [...other][index] !== sign));
  return end < 0 ? first : [...first].slice(0, end).join('');
}
