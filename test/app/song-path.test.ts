import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { PROGRAM_ENVIRONMENT } from '../servers/program.ts';

const SCRIPT = fileURLToPath(new URL('../bench/song-path.ts', import.meta.url));
const pathSchema = z.object({ files: z.array(z.string()), functions: z.number(), writes: z.number() });
const pathsSchema = z.object({ discord: pathSchema, slack: pathSchema });

/** A reader who follows one song from the command to the result should not get lost, and storage is written when needed. */
it('a plain song passes few source files, and its record is written seldom', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT], { env: PROGRAM_ENVIRONMENT });
  const { discord, slack } = pathsSchema.parse(JSON.parse(stdout));
  expect(discord.files.length, discord.files.join('\n')).toBeLessThanOrEqual(75);
  expect(discord.writes).toBeLessThanOrEqual(6);
  expect(slack.writes).toBeLessThanOrEqual(6);
});
