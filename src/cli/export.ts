/** `npm run export -- <file>`: everything that the storage keeps, as JSON lines. */
import { openStorage } from '../app/outside.ts';
import { fail, openProgram, runProgram } from '../app/process.ts';
import { systemErrorCode } from '../core/errors.ts';
import { exportTo } from '../storage/transfer.ts';

const USAGE = 'Usage: npm run export -- <file>. The file must not exist yet.';

async function main(): Promise<void> {
  const [path, ...others] = process.argv.slice(2);
  if (path === undefined || others.length > 0) return fail(USAGE);
  const { config, log } = openProgram();
  const storage = await openStorage(config, { log, random: Math.random });
  try {
    const lines = await exportTo(path, 'wx', storage);
    process.stdout.write(
      `${path} holds everything, in lines: ${lines}. Keep it secret: it can sign for this bot.
`,
    );
  } catch (error) {
    if (systemErrorCode(error) !== 'EEXIST') throw error;
    fail(`${path} exists already. ${USAGE}`);
  } finally {
    await storage.close();
  }
}

if (import.meta.main) await runProgram(main);
