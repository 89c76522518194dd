/** `npm run export -- <file>`: everything that the storage keeps, as JSON lines. */
import { dirname } from 'node:path';
import { asBackupError } from '../app/backup/folder.ts';
import { fail, openProgram, runProgram } from '../app/process.ts';
import { openExistingStorage } from '../app/services.ts';
import { systemErrorCode } from '../core/errors.ts';
import { exportTo } from '../storage/transfer.ts';

const USAGE = 'Usage: npm run export -- <file>. The file must not exist yet.';

async function main(): Promise<void> {
  const [path, ...others] = process.argv.slice(2);
  if (path === undefined || others.length > 0) return fail(USAGE);
  const { config, system } = openProgram();
  const storage = await openExistingStorage(config, system);
  try {
    const lines = await exportTo(path, 'wx', storage);
    process.stdout.write(
      `${path} holds everything, in lines: ${lines}. Keep it secret: it can sign for this bot.\n`,
    );
  } catch (error) {
    const code = systemErrorCode(error);
    if (code === 'EEXIST') return fail(`${path} exists already. ${USAGE}`);
    if (code === 'ENOENT') return fail(`There is no folder ${dirname(path)}. Make it first.`);
    throw asBackupError(error, path);
  } finally {
    await storage.close();
  }
}

if (import.meta.main) await runProgram(main);
