/** Reads and writes `.env`. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Variable } from './schema.ts';

/** The settings in the file; none where there is no file. */
export function readEnvFile(path: string): Record<string, string> {
  // parseEnv leaves out nothing that has a value; it types absent ones too.
  return Object.fromEntries(
    Object.entries(parseEnv(textOf(path))).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** Without the byte order mark that some editors write. */
const textOf = (path: string): string =>
  existsSync(path) ? new TextDecoder().decode(readFileSync(path)) : '';

/** The text of an env file with these settings in it; an empty one is switched off. Everything else stays as it was. */
function withSettings(text: string, settings: ReadonlyMap<Variable, string>): string {
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  for (const [variable, value] of settings) {
    const isSet = new RegExp(`^\\s*(?:export\\s+)?${variable}\\s*=`);
    const at = lines.findLastIndex((line) => isSet.test(line));
    const offered = at >= 0 ? at : lines.findIndex((line) => line.startsWith(`#${variable}=`));
    const line = value === '' ? `#${variable}=` : `${variable}=${quoted(value)}`;
    if (offered >= 0) lines[offered] = line;
    else if (value !== '') lines.push(line);
  }
  return `${lines.join('\n')}\n`;
}

/** What parseEnv and compose would read as a comment or a gap otherwise; they know three kinds of quotes. */
function quoted(value: string): string {
  if (!/[\s#'"`\\]/.test(value)) return value;
  const mark = ["'", '"', '`'].find((candidate) => !value.includes(candidate)) ?? "'";
  return `${mark}${value}${mark}`;
}

/** Writes these settings into the file, which its owner alone can then read. What else is in it stays. */
export function updateEnvFile(path: string, settings: ReadonlyMap<Variable, string>): void {
  writeFileSync(path, withSettings(textOf(path), settings), { mode: 0o600 });
  // The mode above is for a new file alone.
  chmodSync(path, 0o600);
}
