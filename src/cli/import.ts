/** `npm run import -- <file>`: imports a file from `npm run export` into the configured storage. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { fail, openProgram, runProgram } from '../app/process.ts';
import { openStorage } from '../app/services.ts';
import { importLines, linesIn } from '../storage/transfer.ts';

const USAGE = 'Usage: npm run import -- <file>';

async function main(): Promise<void> {
  const [path, ...rest] = process.argv.slice(2);
  if (path === undefined || rest.length > 0) return fail(USAGE);
  try {
    await access(path);
  } catch {
    return fail(`${path} could not be read. ${USAGE}`);
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

if (import.meta.main) await runProgram(main);
