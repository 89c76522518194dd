/** The line at the bottom of a terminal into which a person types. */
import { createInterface } from 'node:readline';
import type { Screen, TerminalOutput } from '../deliver/screen.ts';
import type { Completion } from './help.ts';

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
  readonly onLine: (line: string) => void;
  readonly onEnd: (end: InputEnd) => void;
  /** Completes the end of a line. */
  readonly complete: (line: string) => Promise<Completion>;
}

export type Prompt = ReturnType<typeof openPrompt>;

const PROMPT = '› ';

export function openPrompt({ input, output, screen, onLine, onEnd, complete }: PromptOptions) {
  const interactive = input.isTTY === true && output.isTTY === true;
  const line = createInterface({
    input,
    ...(interactive && { output, terminal: true }),
    prompt: PROMPT,
    completer: (typed: string, done: (error: null, result: [string[], string]) => void) => {
      complete(typed).then(
        (result) => done(null, result),
        () => done(null, [[], typed]),
      );
    },
  });
  let answer: ((text: string | undefined) => void) | undefined;
  let ended = false;

  const prompt = {
    rowsAbove: () => line.getCursorPos().rows,
    draw: () => line.prompt(true),
  };
  const settle = (text: string | undefined) => {
    const waiting = answer;
    answer = undefined;
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
    else onLine(typed);
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
    ask(question: string): Promise<string | undefined> {
      if (!interactive || ended) return Promise.resolve(undefined);
      line.setPrompt(question);
      prompt.draw();
      return new Promise((resolve) => {
        answer = resolve;
      });
    },
    close,
  };
}
