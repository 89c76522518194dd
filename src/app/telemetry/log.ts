/** The log: one JSON line per event. Errors are logged by an allowlist of fields, and secrets are removed from every line. */
import { type Logger, pino, stdTimeFunctions } from 'pino';
import { z } from 'zod';
import { OperatorError } from '../../core/errors.ts';
import { connectionFault } from '../../core/util/connection-fault.ts';
import { GatewayError } from '../../gateway/transport/errors.ts';
import { REPLICA } from '../system.ts';

export interface LogOptions {
  readonly level: string;
  readonly write: (line: string) => void;
  /** Keys, tokens and signing secrets to remove from every line. */
  readonly secrets: readonly string[];
}

/** Secrets in URLs: interaction tokens, response URLs, signatures and passwords. */
const CAPABILITIES = [
  /(\/webhooks\/\d+\/)[\w.~-]+/g,
  /(\/interactions\/\d+\/)[\w.~-]+/g,
  /(\/callbacks\/music\/[\w-]+\/)[\w-]+/g,
  /(hooks\.slack\.com\/)[\w/-]+/g,
  /([?&](?:signature|token|sig|x-amz-signature|hm)=)[^&"\\\s]+/gi,
  /((?:Bot|Bearer) )[\w.~+/-]{8,}=*/g,
  /(:\/\/)[^\s"/?#@]*@/g,
];

const SHORTEST_SECRET = 6;

export function createLog({ level, write, secrets }: LogOptions): Logger {
  const removed = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const scrub = (line: string): string => {
    const withoutSecrets = removed.reduce((text, secret) => text.replaceAll(secret, '[secret]'), line);
    return CAPABILITIES.reduce((text, pattern) => text.replace(pattern, '$1[secret]'), withoutSecrets);
  };
  return pino(
    {
      level,
      base: { replica: REPLICA },
      timestamp: stdTimeFunctions.isoTime,
      serializers: { err: (error: unknown) => error },
      formatters: {
        level: (level) => ({ level }),
        log: (fields) =>
          Object.fromEntries(
            Object.entries(fields).map(([name, value]) => [
              name,
              value instanceof Error ? loggedError(value) : value,
            ]),
          ),
      },
    },
    { write: (line: string) => write(scrub(line)) },
  );
}

/** A name or number, never a sentence. */
const word = z
  .union([z.number(), z.string().regex(/^[\w./:[\]-]{1,80}$/)])
  .optional()
  .catch(undefined);
const flag = z.boolean().optional().catch(undefined);

/** The fields of an error that are logged. */
const factsSchema = z.object({
  name: word,
  code: word,
  errcode: word,
  errno: word,
  syscall: word,
  status: word,
  statusCode: word,
  method: word,
  route: word,
  gatewayCode: word,
  taken: word,
  retryable: flag,
});
const slackSchema = z.object({ data: z.object({ error: word }) });
const zodSchema = z.object({
  issues: z.array(z.object({ code: word, path: z.array(z.union([z.string(), z.number()])) })),
});

interface LoggedError extends z.infer<typeof factsSchema> {
  readonly message?: string | undefined;
  readonly slack?: string | number | undefined;
  readonly issues?: readonly string[] | undefined;
  readonly stack?: string | undefined;
  readonly cause?: LoggedError | undefined;
  readonly errors?: readonly LoggedError[] | undefined;
}

const DEEPEST_CAUSE = 5;
const MOST_LISTED = 5;

function loggedError(error: Error, depth = 0): LoggedError {
  const inner = (cause: unknown) =>
    cause instanceof Error && depth < DEEPEST_CAUSE ? loggedError(cause, depth + 1) : undefined;
  const issues = zodSchema.safeParse(error).data?.issues;
  return {
    ...factsSchema.parse({ ...error, name: error.name }),
    message: messageOf(error),
    slack: slackSchema.safeParse(error).data?.data.error,
    issues: issues?.slice(0, MOST_LISTED).map(({ code, path }) => `${code} at ${path.join('.')}`),
    // The code says everything about a failed connection.
    stack: connectionFault(error) ? undefined : framesOf(error),
    cause: inner(error.cause),
    errors:
      error instanceof AggregateError
        ? error.errors.slice(0, MOST_LISTED).flatMap((item: unknown) => inner(item) ?? [])
        : undefined,
  };
}

/** Other errors' messages are left out, because they may quote people or models. */
function messageOf(error: Error): string | undefined {
  if (error instanceof GatewayError) return error.explanation;
  return error instanceof OperatorError ? error.message : undefined;
}

/** Returns the stack without the lines that repeat the message. */
function framesOf({ stack = '', message }: Error): string {
  const messageEnd = message === '' ? 0 : stack.indexOf(message) + message.length;
  const lines = stack.slice(stack.includes(message) ? messageEnd : 0).split('\n');
  const first = lines.findLastIndex((line) => !/^ {4}at /.test(line)) + 1;
  return lines.slice(first).join('\n');
}
