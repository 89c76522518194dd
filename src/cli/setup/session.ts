/** Questions of `npm run setup`, and the settings they change. */
import type { Readable, Writable } from 'node:stream';
import type { ReadStream } from 'node:tty';
import * as prompts from '@clack/prompts';
import { environmentSchema, type Variable } from '../../app/config/schema.ts';
import type { Examination } from '../../app/doctor/examine.ts';

/** Thrown when the person presses Ctrl-C or Escape. */
export class Cancelled extends Error {}

export interface SetupSession {
  readonly input: Readable & Partial<Pick<ReadStream, 'isTTY' | 'setRawMode'>>;
  readonly output: Writable;
  readonly examination: Omit<Examination, 'environment'>;
  /** The process environment, which takes precedence over the file. */
  readonly environment: Examination['environment'];
  /** The settings of the file. */
  readonly current: Readonly<Record<string, string>>;
  readonly changes: Map<Variable, string>;
}

/** The settings that the bot will use. */
export const settingsOf = ({ environment, changes, current }: SetupSession): Examination['environment'] => ({
  ...current,
  ...Object.fromEntries(changes),
  ...environment,
});

/** The value that the bot will use; empty if it is not set. */
export const settingOf = (session: SetupSession, variable: Variable): string =>
  settingsOf(session)[variable] ?? '';

export function clearSettings({ current, changes }: SetupSession, variables: readonly Variable[]): void {
  for (const variable of variables) if (current[variable]) changes.set(variable, '');
}

export const streamsOf = ({ input, output }: SetupSession) => ({ input, output });

export async function answerTo<Value>(prompt: Promise<Value | typeof prompts.CANCEL_SYMBOL>): Promise<Value> {
  const answer = await prompt;
  if (prompts.isCancel(answer)) throw new Cancelled();
  return answer;
}

const CTRL_C = '\u0003';

/** Waits for work between two prompts and discards input, because a terminal would show a secret that is pasted meanwhile. */
export async function withoutEcho<Value>({ input }: SetupSession, work: Promise<Value>): Promise<Value> {
  const setRawMode = (on: boolean) => {
    if (input.isTTY) input.setRawMode?.(on);
  };
  const { promise: cancelled, reject } = Promise.withResolvers<never>();
  const discard = (chunk: Buffer) => {
    if (chunk.includes(CTRL_C)) reject(new Cancelled());
  };
  setRawMode(true);
  input.on('data', discard).resume();
  try {
    return await Promise.race([work, cancelled]);
  } finally {
    input.off('data', discard);
    // Otherwise the process would not end after the last question.
    input.pause();
    setRawMode(false);
  }
}

interface Question {
  /** Hidden while typing; an empty answer keeps the current value. */
  readonly isSecret?: boolean;
  readonly isOptional?: boolean;
}

/** Asks for one setting until it is valid. */
export async function askSetting(
  session: SetupSession,
  variable: Variable,
  message: string,
  { isSecret = false, isOptional = false }: Question = {},
): Promise<void> {
  const present = session.current[variable] ?? '';
  const validate = (typed = ''): string | undefined => {
    const value = typed.trim() || (isSecret ? present : '');
    if (value === '')
      return isOptional ? undefined : 'This is required. Press Ctrl-C to exit without changes.';
    const problem = environmentSchema.shape[variable].safeParse(value).error?.issues[0]?.message;
    return problem === undefined ? undefined : `This ${problem}`;
  };
  const answer = await answerTo(
    isSecret
      ? prompts.password({
          message: present === '' ? message : `${message} (leave empty to keep the current one)`,
          validate,
          ...streamsOf(session),
        })
      : prompts.text({ message, initialValue: present, validate, ...streamsOf(session) }),
  );
  // An empty prompt returns undefined.
  const value = (answer ?? '').trim();
  if (value !== '' || !isSecret) session.changes.set(variable, value);
}
