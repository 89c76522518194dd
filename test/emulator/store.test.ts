import { expect, test } from 'vitest';
import { createFileShelf } from '../../src/emulator/files.ts';
import { createStore, type MusicTask } from '../../src/emulator/store.ts';

const task = (id: string): MusicTask => ({ id, kind: 'songs', audios: [], state: 'complete' });

test('the oldest tasks are deleted above a limit', () => {
  const store = createStore();
  for (let index = 0; index <= 5000; index++) store.tasks.add(task(`${index}`));
  expect(store.tasks.get('0')).toBeUndefined();
  expect(store.tasks.get('1')).toBeDefined();
  expect(store.tasks.get('5000')).toBeDefined();
});

test('the oldest tasks with uploads are deleted sooner', () => {
  const store = createStore();
  for (let index = 0; index <= 8; index++) store.recordUpload(store.tasks.add(task(`${index}`)));
  expect(store.tasks.get('0')).toBeUndefined();
  expect(store.tasks.get('1')).toBeDefined();
});

test('files are named by content, and the oldest are deleted above a total size', () => {
  const shelf = createFileShelf('secret', () => 'http://here', 1000);
  const first = shelf.add(new Uint8Array([1, 2, 3]), 'audio/mpeg');
  expect(shelf.add(new Uint8Array([1, 2, 3]), 'audio/mpeg')).toBe(first);
  expect(shelf.url(first)).toMatch(/^http:\/\/here\/files\/[0-9a-f]{32}\.mp3$/);
  const large = (value: number) => Buffer.alloc(600, value);
  const second = shelf.add(large(1), 'audio/wav');
  const third = shelf.add(large(2), 'audio/wav');
  expect(shelf.get(first)).toBeUndefined();
  expect(shelf.get(second)).toBeUndefined();
  expect(shelf.get(third)).toBeDefined();
});
