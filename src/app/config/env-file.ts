/** Reads and writes `.env`. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import type { Variable } from './schema.ts';

/** Returns the settings in the file; empty if there is no file. */
export function readEnvFile(path: string): Record<string, string> {
  // parseEnv's type includes undefined, although it never returns it.
  return Object.fromEntries(
    Object.entries(parseEnv(textOf(path))).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
}

/** Strips the byte order mark that some editors write. */
const textOf = (path: string): string =>
  existsSync(path) ? new TextDecoder().decode(readFileSync(path)) : '';

/** Sets these settings in the text of an env file, and comments out empty ones. Everything else is unchanged. */
function withSettings(text: string, settings: ReadonlyMap<Variable, string>): string {
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  for (const [variable, value] of settings) {
    const isSet = new RegExp(`^\\s*(?:export\\s+)?${variable}\\s*=`);
    const active = lines.findLastIndex((line) => isSet.test(line));
    const index = active >= 0 ? active : lines.findIndex((line) => line.startsWith(`#${variable}=`));
    const line = value === '' ? `#${variable}=` : `${variable}=${quoted(value)}`;
    if (index >= 0) lines[index] = line;
    else if (value !== '') lines.push(line);
  }
  return `${lines.join('\n')}\n`;
}

/** Quotes values that parseEnv and compose would otherwise misread. Both support three kinds of quotes. */
function quoted(value: string): string {
  if (!/[\s#'"`\\]/.test(value)) return value;
  const mark = ["'", '"', '`'].find((candidate) => !value.includes(candidate)) ?? "'";
  return `${mark}${value}${mark}`;
}

/** Updates these settings in the file and makes it readable by its owner only. */
export function updateEnvFile(path: string, settings: ReadonlyMap<Variable, string>): void {
  writeFileSync(path, withSettings(textOf(path), settings), { mode: 0o600 });
  // The mode above applies to new files only.
  chmodSync(path, 0o600);
}
