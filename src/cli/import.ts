/** `npm run import -- <file>`: imports a file from `npm run export` into the configured storage. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { type Arguments, fail, openProgram, runProgram } from '../app/process.ts';
import { openStorage } from '../app/services.ts';
import { commandLine } from '../core/util/installation.ts';
import { importLines, linesIn } from '../storage/transfer.ts';

const usage = `Usage: ${commandLine('import', '<file>')}
Imports a file from ${commandLine('export')} into the configured storage.`;

async function main({ positionals: [path = ''] }: Arguments<never>): Promise<void> {
  try {
    await access(path);
  } catch {
    return fail(`${path} could not be read.`);
  }
  const { config, system } = openProgram();
  const storage = await openStorage(config, system);
  try {
    const lines = () => linesIn(createReadStream(path, 'utf8'));
    const { jobs, settings, secrets, usage, known } = await importLines(lines, storage);
    process.stdout.write(
      `Imported jobs: ${jobs}, settings: ${settings}, secrets: ${secrets}, usage: ${usage}. Already present: ${known}.\n`,
    );
  } finally {
    await storage.close();
  }
}

export const runImport = (args: readonly string[]) => runProgram({ usage, takes: 1 }, main, args);
