/** The log: one JSON line an event, with every secret taken out before it is written. */
import { type Logger, pino } from 'pino';

export interface LogOptions {
  readonly level: string;
  readonly write: (line: string) => void;
  /** Never written, wherever they turn up: keys, tokens, signing secrets. */
  readonly secrets: readonly string[];
}

/** What gives access by itself, whoever holds it: interaction tokens, response URLs, signed callbacks and files. */
const CAPABILITIES = [
  /(\/webhooks\/\d+\/)[\w.~-]+/g,
  /(\/interactions\/\d+\/)[\w.~-]+/g,
  /(\/callbacks\/music\/[\w-]+\/)[\w-]+/g,
  /(hooks\.slack\.com\/)[\w/-]+/g,
  /([?&](?:signature|token|sig|x-amz-signature|hm)=)[^&"\\\s]+/gi,
  /((?:Bot|Bearer) )[\w.~+/-]{8,}=*/g,
];

const SHORTEST_SECRET = 6;

export function createLog({ level, write, secrets }: LogOptions): Logger {
  const known = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const scrub = (line: string): string => {
    const withoutSecrets = known.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line);
    return CAPABILITIES.reduce((text, pattern) => text.replace(pattern, '$1[secret]'), withoutSecrets);
  };
  return pino({ level, base: null }, { write: (line: string) => write(scrub(line)) });
}
