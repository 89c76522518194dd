import { unzipSync } from 'fflate';
import { expect, test } from 'vitest';
import { zip } from '../../src/media/archive.ts';
import { bytesOf, chunks } from './helpers.ts';

const entry = (name: string, ...parts: string[]) => ({ name, open: async () => chunks(...parts) });

test('contains every file under its name, in order', async () => {
  const archive = await bytesOf(
    zip([entry('vocals.mp3', 'la ', 'la'), entry('Überraschung.mp3', 'boom'), entry('empty.mp3')]),
  );
  const files = unzipSync(archive);
  expect(Object.entries(files).map(([name, bytes]) => [name, Buffer.from(bytes).toString()])).toEqual([
    ['vocals.mp3', 'la la'],
    ['Überraschung.mp3', 'boom'],
    ['empty.mp3', ''],
  ]);
});

test('has equal bytes for equal files at any time', async () => {
  const make = () => bytesOf(zip([entry('a.mp3', 'a')]));
  expect((await make()).equals(await make())).toBe(true);
});

test('opens files one after the other and throws their errors', async () => {
  const opened: string[] = [];
  const noted = (name: string) => ({
    name,
    open: async () => {
      opened.push(name);
      return chunks(name);
    },
  });
  const missing = { name: 'b', open: () => Promise.reject(new Error('gone')) };
  const failing = zip([noted('a'), missing, noted('c')]);
  await expect(bytesOf(failing)).rejects.toThrow('gone');
  expect(opened).toEqual(['a']);
});

test('a slow archive does not delay another', async () => {
  const gate = Promise.withResolvers<AsyncIterable<Uint8Array>>();
  const slow = bytesOf(zip([{ name: 'a', open: () => gate.promise }]));
  expect(Object.keys(unzipSync(await bytesOf(zip([entry('b', 'b')]))))).toEqual(['b']);
  gate.resolve(chunks('a'));
  expect(Object.keys(unzipSync(await slow))).toEqual(['a']);
});
