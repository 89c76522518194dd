/** Programs of this folder in processes of their own: servers, load, and candidates whose CPU and memory are measured. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { z } from 'zod';
import { PROGRAM_ENVIRONMENT } from '../servers/program.ts';

interface ProgramOptions {
  /** Read by {@link programInput}. */
  readonly input?: unknown;
  /** Of Node, as `--expose-gc`. */
  readonly flags?: readonly string[];
}

export interface RunningProgram<Told> extends AsyncDisposable {
  /** The first that it told. */
  readonly told: Told;
  readonly pid: number;
  /** What it tells after `question` came as a line of its standard input. One question at a time. */
  ask<Schema extends z.ZodType>(question: string, answer: Schema): Promise<z.output<Schema>>;
}

/** Starts a program; it is killed when it is disposed of. Rejects when it ends before it told anything. */
export async function startProgram<Schema extends z.ZodType>(
  file: URL,
  told: Schema,
  { input = null, flags = [] }: ProgramOptions = {},
): Promise<RunningProgram<z.output<Schema>>> {
  const path = fileURLToPath(file);
  const child = spawn(process.execPath, [...flags, path, JSON.stringify(input)], {
    env: PROGRAM_ENVIRONMENT,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const gone = once(child, 'exit');
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async <Answer extends z.ZodType>(schema: Answer): Promise<z.output<Answer>> => {
    const line = await lines.next();
    if (line.done) throw new Error(`${path} ended before it told what was asked`);
    return schema.parse(JSON.parse(line.value));
  };
  return {
    told: await next(told),
    pid: child.pid ?? Number.NaN,
    ask(question, answer) {
      child.stdin.write(`${question}\n`);
      return next(answer);
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await gone;
    },
  };
}

/** Runs a program until it has told its one result. */
export async function runProgram<Schema extends z.ZodType>(
  file: URL,
  told: Schema,
  options: ProgramOptions = {},
): Promise<z.output<Schema>> {
  await using program = await startProgram(file, told, options);
  return program.told;
}

/** For programs: what they were given. */
export function programInput<Schema extends z.ZodType>(schema: Schema): z.output<Schema> {
  return schema.parse(JSON.parse(process.argv[2] ?? 'null'));
}

/** For programs: tells the one who started it. */
export function tell(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}
