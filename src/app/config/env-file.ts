/** Reads `.env` as people's editors and shells write it. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { problem } from './checks.ts';
import { ConfigError } from './config.ts';
import { VARIABLES } from './schema.ts';

/** The settings in the file; none where there is no file. Throws {@link ConfigError}, which names every unreadable line. */
export function readEnvFile(path: string): Record<string, string> {
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return {};
    throw error;
  }
  const text = decode(bytes);
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
function decode(bytes: Buffer): string {
  const [first, second] = bytes;
  const encoding =
    first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
  return new TextDecoder(encoding).decode(bytes);
}
