/** What a terminal shows: lines that stay, below them lines that change, below those the prompt. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { cutToWidth, widthOf } from './style.ts';

/** A stream that may be a terminal. */
export interface TerminalOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  hasColors?(): boolean;
}

/** The line that a person types, as readline keeps it. */
interface PromptLine {
  /** In how many rows above the cursor it began. */
  rowsAbove(): number;
  draw(): void;
}

export interface Screen {
  /** Prints lines that stay. */
  print(text: string): void;
  /** Replaces the lines that change; only a terminal shows them. */
  setLive(lines: readonly string[]): void;
  setPrompt(prompt: PromptLine | undefined): void;
  /** A typed line was ended, which left the cursor under it; it is printed again above what changes. */
  entered(promptAndLine: string): void;
}

/** Ends colours that were cut off. */
const RESET = '\u001b[0m';

export function createScreen(output: TerminalOutput): Screen {
  const isTerminal = output.isTTY === true;
  let live: readonly string[] = [];
  let prompt: PromptLine | undefined;
  /** Rows from the first changing line to the cursor's. */
  let drawnRows = 0;

  const columns = () => output.columns ?? 80;

  function erase(rowsAbove: number): void {
    moveCursor(output, 0, -(drawnRows + rowsAbove));
    cursorTo(output, 0);
    clearScreenDown(output);
    drawnRows = 0;
  }

  function draw(): void {
    const fitting = live.slice(-Math.max(1, (output.rows ?? 24) - 3));
    for (const line of fitting) output.write(`${cutToWidth(line, columns() - 1)}${RESET}\n`);
    drawnRows = fitting.length;
    prompt?.draw();
  }

  return {
    print(text) {
      if (!isTerminal) {
        output.write(`${text}\n`);
        return;
      }
      erase(prompt?.rowsAbove() ?? 0);
      output.write(`${text}\n`);
      draw();
    },

    setLive(lines) {
      if (!isTerminal) return;
      if (lines.length === 0 && live.length === 0) return;
      erase(prompt?.rowsAbove() ?? 0);
      live = [...lines];
      draw();
    },

    setPrompt(next) {
      if (!isTerminal) return;
      erase(prompt?.rowsAbove() ?? 0);
      prompt = next;
      draw();
    },

    entered(promptAndLine) {
      if (!isTerminal) return;
      const rows = Math.max(1, Math.ceil(widthOf(promptAndLine) / columns()));
      erase(rows);
      output.write(`${promptAndLine}\n`);
      draw();
    },
  };
}
