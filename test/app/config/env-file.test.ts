import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readEnvFile } from '../../../src/app/config/env-file.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'minstrel-env-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const read = async (text: string) => {
  const path = join(folder, '.env');
  await writeFile(path, text);
  return readEnvFile(path);
};

const TEXT = 'PORT=4000\r\nSONG_MODEL="V5"\r\n# off\r\n';
const SETTINGS = { PORT: '4000', SONG_MODEL: 'V5' };

it('reads files with a byte order mark and CRLF', async () => {
  expect(await read(TEXT)).toEqual(SETTINGS);
  expect(await read(`\ufeff${TEXT}`)).toEqual(SETTINGS);
});

it('returns no settings if there is no file', () => {
  expect(readEnvFile(join(folder, 'none'))).toEqual({});
});
