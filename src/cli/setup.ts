/** `npm run setup`: asks for settings, writes `.env` and runs the doctor. */
import { join } from 'node:path';
import * as prompts from '@clack/prompts';
import { readEnvFile, updateEnvFile } from '../app/config/env-file.ts';
import { fail, runProgram } from '../app/process.ts';
import { commandLine, docsPage } from '../core/util/installation.ts';
import { examination, report } from './doctor.ts';
import { askChats } from './setup/chats.ts';
import { askServices } from './setup/services.ts';
import { Cancelled, type SetupSession } from './setup/session.ts';

const usage = `Usage: ${commandLine('setup')}
Asks for settings, writes them to .env and checks them.`;

const ENV_FILE = '.env';

export interface SetupOptions extends Omit<SetupSession, 'current' | 'changes'> {
  /** Where `.env` is written. */
  readonly folder: string;
}

/** Asks for settings, writes `.env` with mode 0600, and runs the doctor. @returns whether there are no errors */
export async function setup({ folder, ...options }: SetupOptions): Promise<boolean> {
  const { output } = options;
  const path = join(folder, ENV_FILE);
  const session: SetupSession = { ...options, current: readEnvFile(path), changes: new Map() };
  prompts.intro('Minstrel', { output });
  try {
    await askServices(session);
    await askChats(session);
  } catch (error) {
    if (!(error instanceof Cancelled)) throw error;
    prompts.cancel('Nothing was saved.', { output });
    return true;
  }
  updateEnvFile(path, session.changes);
  prompts.outro(`Saved ${ENV_FILE}. Only your user can read it.`, { output });
  const environment = { ...readEnvFile(path), ...options.environment };
  const { errors, sentence } = await report({ ...options.examination, environment }, (line) =>
    output.write(`${line}\n`),
  );
  const next =
    errors === 0
      ? `Start the bot with ${commandLine('start')}`
      : `Fix the errors with ${commandLine('setup')} or in .env, then check again with ${commandLine('doctor')}.`;
  output.write(`\n${sentence}\n${next}\n`);
  return errors === 0;
}

async function main(): Promise<void> {
  if (!process.stdin.isTTY)
    return fail(
      `${commandLine('setup')} is interactive, so run it in a terminal. Otherwise, write the settings to .env: see ${docsPage('operating/settings.md')}.`,
    );
  const { stdin: input, stdout: output, env: environment } = process;
  if (!(await setup({ input, output, environment, folder: '.', examination: examination() })))
    process.exitCode = 1;
}

export const runSetup = (args: readonly string[]) => runProgram({ usage }, main, args);
