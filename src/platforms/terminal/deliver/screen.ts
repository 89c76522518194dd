/** A terminal's screen: lines that stay, below them lines that change, below those the prompt. */
import { clearScreenDown, cursorTo, moveCursor } from 'node:readline';
import { widthOf } from '../../shared/text.ts';
import { cutToWidth, wrapWords } from '../render/style.ts';

/** A stream that may be a terminal. */
export interface TerminalOutput extends NodeJS.WritableStream {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  hasColors?(): boolean;
}

/** The line that a person types, as readline keeps it. */
interface PromptLine {
  /** Rows between the line's beginning and the cursor. */
  rowsAbove(): number;
  draw(): void;
}

export type Screen = ReturnType<typeof createScreen>;

/** Ends colours that were cut off. */
const RESET = '\u001b[0m';

export function createScreen(output: TerminalOutput) {
  const isTerminal = output.isTTY === true;
  let live: readonly string[] = [];
  let prompt: PromptLine | undefined;
  /** Rows from the first changing line to the cursor's. */
  let drawnRows = 0;

  // A terminal that does not tell its size has none, or 0.
  const columns = () => output.columns || 80;

  /** Erases the lines that change and the prompt, and draws them again after `change`. */
  function redraw(change: () => void, rowsAbove = prompt?.rowsAbove() ?? 0): void {
    if (!isTerminal) return;
    moveCursor(output, 0, -(drawnRows + rowsAbove));
    cursorTo(output, 0);
    clearScreenDown(output);
    change();
    const fitting = live.slice(-Math.max(1, (output.rows ?? 24) - 3));
    for (const line of fitting) output.write(`${cutToWidth(line, columns() - 1)}${RESET}\n`);
    drawnRows = fitting.length;
    prompt?.draw();
  }

  return {
    columns,

    /** Prints lines that stay. A terminal's are wrapped at words. */
    print(text: string): void {
      if (isTerminal) redraw(() => output.write(`${wrapWords(text, columns())}\n`));
      else output.write(`${text}\n`);
    },

    /** Replaces the lines that change; only a terminal shows them. */
    setLive(lines: readonly string[]): void {
      if (lines.length + live.length === 0) return;
      redraw(() => {
        live = [...lines];
      });
    },

    setPrompt(next: PromptLine | undefined): void {
      redraw(() => {
        prompt = next;
      });
    },

    /** A typed line was ended, which left the cursor under it; it is printed again above the lines that change. */
    entered(promptAndLine: string): void {
      const rows = Math.max(1, Math.ceil(widthOf(promptAndLine) / columns()));
      redraw(() => output.write(`${promptAndLine}\n`), rows);
    },
  };
}
