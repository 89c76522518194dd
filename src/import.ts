/** `npm run import -- <file>`: takes what `npm run export` wrote into the storage of these settings. */
import { createReadStream } from 'node:fs';
import { access } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { openStorage } from './open-storage.ts';
import { loadConfig, openLog, runProgram } from './process.ts';
import { importLines, TransferError } from './storage/transfer.ts';

const USAGE = 'Usage: npm run import -- <file>';

async function main(): Promise<void> {
  const [path, ...others] = process.argv.slice(2);
  if (path === undefined || others.length > 0) return fail(USAGE);
  try {
    await access(path);
  } catch {
    return fail(`${path} cannot be read. ${USAGE}`);
  }
  const config = loadConfig();
  const log = openLog(config, { level: 'warn', write: (line) => process.stderr.write(line) });
  const storage = await openStorage(config, { log, random: Math.random });
  try {
    const lines = () => createInterface({ input: createReadStream(path, 'utf8') });
    const { jobs, settings, secrets, known } = await importLines(lines, storage);
    process.stdout.write(
      `Imported ${jobs} jobs, ${settings} settings and ${secrets} secrets; ${known} were there already.\n`,
    );
  } catch (error) {
    if (!(error instanceof TransferError)) throw error;
    fail(error.message);
  } finally {
    await storage.close();
  }
}

function fail(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}

if (import.meta.main) await runProgram(main);
