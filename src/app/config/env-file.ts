/** Reads `.env` as people's editors and shells write it. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { systemErrorCode } from '../../core/errors.ts';
import { problem } from './checks.ts';
import { ConfigError } from './read.ts';
import { VARIABLES, type Variable } from './schema.ts';

/** The settings in the file; none where there is no file. Throws {@link ConfigError}, which names every unreadable line. */
export function readEnvFile(path: string): Record<string, string> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (systemErrorCode(error) === 'ENOENT') return {};
    throw error;
  }
  const text = decodeText(bytes);
  const unread = [...text.matchAll(COLON)].flatMap(([, variable = '']) =>
    VARIABLES.some((known) => known === variable)
      ? [problem(variable, `stands in ${path} as “${variable}: …”: write ${variable}=… instead.`)]
      : [],
  );
  if (unread.length > 0) throw new ConfigError(unread);
  // parseEnv leaves out nothing that has a value; it types absent ones too.
  return Object.fromEntries(
    Object.entries(parseEnv(text)).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** `KEY: value`, as in YAML: it would be dropped without a word. */
const COLON = /^[ \t]*(?:export[ \t]+)?([A-Z][A-Z\d_]+)[ \t]*:/gm;

/** UTF-16 is what PowerShell's `>` writes; both kinds begin with a byte order mark, and UTF-8 may. */
function decodeText(bytes: Buffer): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}

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
  const text = existsSync(path) ? decodeText(readFileSync(path)) : '';
  writeFileSync(path, withSettings(text, settings), { mode: 0o600 });
  // The mode above is for a new file alone.
  chmodSync(path, 0o600);
}
