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

const read = async (bytes: Buffer | string) => {
  const path = join(folder, '.env');
  await writeFile(path, bytes);
  return readEnvFile(path);
};

const TEXT = 'PORT=4000\r\nSONG_MODEL="V5"\r\n# off\r\n';
const SETTINGS = { PORT: '4000', SONG_MODEL: 'V5' };

it('reads what Windows writes: a byte order mark, UTF-16 of both kinds, CRLF', async () => {
  expect(await read(TEXT)).toEqual(SETTINGS);
  expect(await read(`\ufeff${TEXT}`)).toEqual(SETTINGS);
  expect(await read(Buffer.from(`\ufeff${TEXT}`, 'utf16le'))).toEqual(SETTINGS);
  expect(await read(Buffer.from(`\ufeff${TEXT}`, 'utf16le').swap16())).toEqual(SETTINGS);
});

it('names settings with a colon in place of the equals sign', async () => {
  await expect(read('PORT: 4000\nDISCORD_TOKEN : x\nOTHER: y\n')).rejects.toThrow(
    /PORT stands in .*write PORT=/,
  );
  expect(await read('PORT=4000\nREDIS_URL=redis://localhost:6379\nNOTE=a: b\n')).toMatchObject({
    PORT: '4000',
  });
});

it('is nothing where there is no file', () => {
  expect(readEnvFile(join(folder, 'none'))).toEqual({});
});
