import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isPageSigned, pageUrl } from '../../../src/core/web/page-url.ts';
import { isSignedBy, sign } from '../../../src/core/web/signatures.ts';

test('a signature is valid only for its text', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (text, other) => {
      const signature = sign(text, 'secret');
      expect(signature).toMatch(/^[\w-]{43}$/);
      expect(isSignedBy(text, signature, ['secret'])).toBe(true);
      expect(isSignedBy(other, signature, ['secret'])).toBe(text === other);
    }),
  );
});

test('invalid signatures are refused', () => {
  fc.assert(fc.property(fc.string(), (signature) => !isSignedBy('a', signature, ['secret'])));
});

test('secrets can be rotated: any current one verifies, a removed one does not', () => {
  const signature = sign('a', 'old');
  expect(isSignedBy('a', signature, ['new', 'old'])).toBe(true);
  expect(isSignedBy('a', signature, ['new'])).toBe(false);
  expect(isSignedBy('a', sign('a', 'new'), ['new'])).toBe(true);
});

test('a page URL keeps the path of the public URL, and is valid for one page of one kind', () => {
  const url = pageUrl('https://example.org/bots', 'songs', 'a/b', 'secret');
  const [, signature = ''] = /^https:\/\/example\.org\/bots\/songs\/a%2Fb\/([\w-]{43})$/.exec(url) ?? [];
  expect(isPageSigned('songs', 'a/b', signature, ['secret'])).toBe(true);
  expect(isPageSigned('albums', 'a/b', signature, ['secret'])).toBe(false);
  expect(isPageSigned('songs', 'a', signature, ['secret'])).toBe(false);
  expect(isPageSigned('songs', 'a/b', signature, ['another'])).toBe(false);
  // A signature for a page is not valid for anything else.
  expect(isSignedBy('a/b', signature, ['secret'])).toBe(false);
});
