/** Reads typed lines and prints output above them. */
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';

export interface TerminalInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
}

export interface TerminalOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

interface PromptOptions {
  readonly input: TerminalInput | undefined;
  readonly output: TerminalOutput;
  /** Completes the end of a line; the result has the shape readline expects. */
  readonly complete: (line: string) => Promise<[candidates: string[], typed: string]>;
  /** Called on Ctrl-C, unless a question is open. */
  readonly onInterrupt: () => void;
}

interface Question {
  readonly name: string;
  /** The start of the command line that the answer completes. */
  readonly completes: string;
}

const PROMPT = '› ';

export type Prompt = ReturnType<typeof openPrompt>;

export function openPrompt({ input, output, complete, onInterrupt }: PromptOptions) {
  /** Whether a person is at the terminal. */
  const interactive = input?.isTTY === true && output.isTTY === true;
  /** Lines typed before they were requested. */
  const buffered: string[] = [];
  let question: Question | undefined;
  let resolveLine: ((typed: string | undefined) => void) | undefined;
  let ended = input === undefined;

  const lines =
    input &&
    createInterface({
      input,
      ...(interactive && { output, terminal: true }),
      completer: (typed: string, done: (error: null, result: [string[], string]) => void) => {
        complete(`${question?.completes ?? ''}${typed}`).then(
          (result) => done(null, result),
          () => done(null, [[], typed]),
        );
      },
    });
  const settle = (typed: string | undefined) => {
    const answer = resolveLine;
    resolveLine = undefined;
    question = undefined;
    lines?.setPrompt(PROMPT);
    answer?.(typed);
  };
  lines?.on('line', (typed) => {
    if (resolveLine) settle(typed);
    else buffered.push(typed);
  });
  lines?.on('SIGINT', () => {
    lines.write(null, { ctrl: true, name: 'u' });
    if (question) settle(undefined);
    else onInterrupt();
  });
  lines?.on('close', () => {
    ended = true;
    settle(undefined);
  });

  return {
    interactive,

    /** The next typed line; undefined at the end of input, or if the person cancels the question. */
    next(nextQuestion?: Question): Promise<string | undefined> {
      const typed = buffered.shift();
      if (typed !== undefined || ended) return Promise.resolve(typed);
      question = nextQuestion;
      lines?.setPrompt(nextQuestion ? `${nextQuestion.name} ${PROMPT}` : PROMPT);
      if (interactive) lines?.prompt(true);
      return new Promise((resolve) => {
        resolveLine = resolve;
      });
    },

    /** Prints text above the line being typed. */
    print(text: string): void {
      if (!lines || !interactive || ended) return void output.write(`${text}\n`);
      const { rows } = lines.getCursorPos();
      moveCursor(output, 0, -rows);
      cursorTo(output, 0);
      clearScreenDown(output);
      // Readline redraws from the row where its line started, so leave that many rows.
      output.write(`${text}\n${'\n'.repeat(rows)}`);
      lines.prompt(true);
    },

    close: () => lines?.close(),
  };
}
