/** `npm run export -- <file>`: writes everything in storage to a file of JSON lines. */
import { dirname } from 'node:path';
import { asBackupError } from '../app/backup/folder.ts';
import { type Arguments, fail, openProgram, runProgram } from '../app/process.ts';
import { openExistingStorage } from '../app/services.ts';
import { systemErrorCode } from '../core/errors.ts';
import { commandLine } from '../core/util/installation.ts';
import { counted } from '../core/util/words.ts';
import { exportTo } from '../storage/transfer.ts';

const usage = `Usage: ${commandLine('export', '<file>')}
Writes everything in storage to a new file of JSON lines.`;

async function main({ positionals: [path = ''] }: Arguments<never>): Promise<void> {
  const { config, system } = openProgram();
  const storage = await openExistingStorage(config, system);
  try {
    const lines = await exportTo(path, 'wx', storage);
    process.stdout.write(
      `${path} holds all data (${counted(lines, 'record')}). Keep it secret: it contains the bot's signing secret.\n`,
    );
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return fail(`${path} already exists. Choose a file that does not exist yet.`);
    if (code === 'ENOENT') return fail(`The folder ${dirname(path)} does not exist. Create it first.`);
    throw asBackupError(error, path);
  } finally {
    await storage.close();
  }
}

export const runExport = (args: readonly string[]) => runProgram({ usage, takes: 1 }, main, args);
