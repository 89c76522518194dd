import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createFileLinks, createLinkSigner } from '../../src/media/links.ts';

const fields = fc.array(fc.string(), { maxLength: 4 });

test('a signature holds for the fields it was made over, and for no others', () => {
  const signer = createLinkSigner(['secret'], 'file');
  fc.assert(
    fc.property(fields, fields, (signed, other) => {
      const signature = signer.sign(signed);
      expect(signer.verify(signed, signature)).toBe(true);
      expect(signer.verify(other, signature)).toBe(JSON.stringify(signed) === JSON.stringify(other));
    }),
  );
});

test('a signature made for one use is worth nothing for another', () => {
  const signature = createLinkSigner(['secret'], 'file').sign(['a']);
  expect(createLinkSigner(['secret'], 'attachment').verify(['a'], signature)).toBe(false);
});

test('whatever is not a signature is refused without complaint', () => {
  const signer = createLinkSigner(['secret'], 'file');
  fc.assert(fc.property(fc.string(), (text) => !signer.verify(['a'], text)));
});

test('secrets can be replaced: the old one verifies, the new one signs, a dropped one is done', () => {
  const before = createLinkSigner(['old'], 'file');
  const during = createLinkSigner(['new', 'old'], 'file');
  const after = createLinkSigner(['new'], 'file');
  const signature = before.sign(['a']);
  expect(during.verify(['a'], signature)).toBe(true);
  expect(after.verify(['a'], signature)).toBe(false);
  expect(after.verify(['a'], during.sign(['a']))).toBe(true);
});

test('there is no signing without a secret', () => {
  expect(() => createLinkSigner([], 'file')).toThrow(TypeError);
  expect(() => createLinkSigner(['secret', ''], 'file')).toThrow(TypeError);
});

test('a link keeps the path of the public address', () => {
  const links = createFileLinks('https://example.org/bots/minstrel/', ['secret'], () => 0);
  const url = new URL(links.url({ name: 'a.mp3', downloadName: 'A & B?.mp3', expires: 60 }));
  expect(url.pathname).toBe('/bots/minstrel/files/a.mp3');
  expect(links.verify('a.mp3', Object.fromEntries(url.searchParams))).toEqual({
    name: 'a.mp3',
    downloadName: 'A & B?.mp3',
    expires: 60,
  });
});
