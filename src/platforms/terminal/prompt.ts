/** The lines that a person types, and what is printed above them. */
import { clearScreenDown, createInterface, cursorTo, moveCursor } from 'node:readline';

export interface TerminalInput extends NodeJS.ReadableStream {
  readonly isTTY?: boolean;
}

export interface TerminalOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
}

interface PromptOptions {
  /** Without it there is nothing to read. */
  readonly input: TerminalInput | undefined;
  readonly output: TerminalOutput;
  /** Completes the end of a line, as readline asks for it. */
  readonly complete: (line: string) => Promise<[candidates: string[], typed: string]>;
  /** Ctrl-C, where no question is open. */
  readonly onInterrupt: () => void;
}

interface Question {
  readonly name: string;
  /** The beginning of a command line that the answer completes. */
  readonly completes: string;
}

const PROMPT = '› ';

export type Prompt = ReturnType<typeof openPrompt>;

export function openPrompt({ input, output, complete, onInterrupt }: PromptOptions) {
  /** Whether a person sits at it. */
  const interactive = input?.isTTY === true && output.isTTY === true;
  /** Lines that nothing has asked for yet. */
  const ahead: string[] = [];
  let question: Question | undefined;
  let waiting: ((typed: string | undefined) => void) | undefined;
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
    const answer = waiting;
    waiting = undefined;
    question = undefined;
    lines?.setPrompt(PROMPT);
    answer?.(typed);
  };
  lines?.on('line', (typed) => {
    if (waiting) settle(typed);
    else ahead.push(typed);
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

    /** The next typed line. Undefined when there is none any more, or the person gives a question up. */
    next(asked?: Question): Promise<string | undefined> {
      const typed = ahead.shift();
      if (typed !== undefined || ended) return Promise.resolve(typed);
      question = asked;
      lines?.setPrompt(asked ? `${asked.name} ${PROMPT}` : PROMPT);
      if (interactive) lines?.prompt(true);
      return new Promise((resolve) => {
        waiting = resolve;
      });
    },

    /** Prints lines above what is being typed. */
    print(text: string): void {
      if (!lines || !interactive || ended) return void output.write(`${text}\n`);
      const { rows } = lines.getCursorPos();
      moveCursor(output, 0, -rows);
      cursorTo(output, 0);
      clearScreenDown(output);
      // Readline draws its line from as many rows above the cursor as the line took before.
      output.write(`${text}\n${'\n'.repeat(rows)}`);
      lines.prompt(true);
    },

    close: () => lines?.close(),
  };
}
