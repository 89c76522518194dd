/** `npm run export -- <file>`: everything that the storage keeps, as JSON lines. */
import { open } from 'node:fs/promises';
import { openStorage } from '../app/outside.ts';
import { fail, loadConfig, openLog, runProgram } from '../app/process.ts';
import { exportLines } from '../storage/transfer.ts';

const USAGE = 'Usage: npm run export -- <file>. The file must not exist yet.';

async function main(): Promise<void> {
  const [path, ...others] = process.argv.slice(2);
  if (path === undefined || others.length > 0) return fail(USAGE);
  const config = loadConfig();
  const log = openLog(config, { level: 'warn', write: (line) => process.stderr.write(line) });
  const storage = await openStorage(config, { log, random: Math.random });
  try {
    // It holds secrets: for this user alone.
    const file = await open(path, 'wx', 0o600);
    try {
      let lines = 0;
      for await (const line of exportLines(storage)) {
        await file.write(`${line}\n`);
        lines += 1;
      }
      await file.sync();
      process.stdout.write(
        `${path} holds everything, in lines: ${lines}. Keep it secret: it can sign for this bot.\n`,
      );
    } finally {
      await file.close();
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    fail(`${path} exists already. ${USAGE}`);
  } finally {
    await storage.close();
  }
}

if (import.meta.main) await runProgram(main);
