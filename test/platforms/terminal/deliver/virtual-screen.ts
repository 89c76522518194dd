import { Writable } from 'node:stream';

/** A terminal's screen: enough of a VT100 to see what a person would see, without end and without colours. */
export function createVirtualScreen({ columns = 80, rows = 24, colours = false } = {}) {
  const lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  let raw = '';

  const lineAt = (index: number): string[] => {
    while (lines.length <= index) lines.push([]);
    return lines[index] ?? [];
  };
  const put = (character: string) => {
    if (column >= columns) {
      row += 1;
      column = 0;
    }
    const line = lineAt(row);
    while (line.length < column) line.push(' ');
    line[column] = character;
    column += 1;
  };
  const control = (command: string, argument: string) => {
    const count = argument === '' ? 1 : Number(argument);
    switch (command) {
      case 'A':
        row = Math.max(0, row - count);
        break;
      case 'B':
        row += count;
        break;
      case 'C':
        column += count;
        break;
      case 'D':
        column = Math.max(0, column - count);
        break;
      case 'G':
        column = count - 1;
        break;
      case 'J':
        lineAt(row).splice(column);
        lines.splice(row + 1);
        break;
      case 'K':
        lineAt(row).splice(column);
        break;
      case 'm':
        break;
      default:
        throw new Error(`The screen does not know ESC [ ${argument} ${command}`);
    }
  };

  const output = new Writable({
    decodeStrings: false,
    write(chunk, _encoding, done) {
      const text = String(chunk);
      raw += text;
      // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal is told things by control characters.
      for (const [part, argument, command] of text.matchAll(/\u001b\[([\d;?]*)([A-Za-z])|[\s\S]/g)) {
        if (command !== undefined) control(command, argument ?? '');
        else if (part === '\n') {
          row += 1;
          column = 0;
          lineAt(row);
        } else if (part === '\r') column = 0;
        else put(part);
      }
      done();
    },
  });
  return Object.assign(output, {
    isTTY: true,
    columns,
    rows,
    hasColors: () => colours,
    /** The lines that can be seen, without the empty ones at the end. */
    seen: () =>
      lines
        .map((line) => line.join('').trimEnd())
        .join('\n')
        .trimEnd(),
    /** Everything that was written, with what only a terminal reads. */
    raw: () => raw,
  });
}
