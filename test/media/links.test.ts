import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FileLink } from '../../src/core/web/files.ts';
import { sign } from '../../src/core/web/signatures.ts';
import { createFileLinks } from '../../src/media/links.ts';

const linksOf = (...secrets: string[]) => createFileLinks(secrets, () => 0);
const link: FileLink = { name: 'a.mp3', downloadName: 'A.mp3', expires: 60 };
const queryOf = (path: string) => Object.fromEntries(new URL(path, 'https://bot.example').searchParams);

test('a link is valid only for its file, name and expiry', () => {
  const links = linksOf('secret');
  const text = fc.string({ minLength: 1 }).filter((name) => name.isWellFormed());
  fc.assert(
    fc.property(text, text, text, text, (name, downloadName, otherName, otherDownload) => {
      const query = queryOf(links.path({ name, downloadName, expires: 60 }));
      expect(links.verify(name, query)).toEqual({ name, downloadName, expires: 60 });
      expect(links.verify(otherName, query) !== undefined).toBe(otherName === name);
      const renamed = links.verify(name, { ...query, as: otherDownload });
      expect(renamed !== undefined).toBe(otherDownload === downloadName);
      expect(links.verify(name, { ...query, expires: '61' })).toBeUndefined();
    }),
  );
});

test('a signature for one use is invalid for another', () => {
  const query = queryOf(linksOf('secret').path(link));
  const signed = (use: string) => sign(JSON.stringify([use, 'a.mp3', 'A.mp3', '60']), 'secret');
  expect(linksOf('secret').verify('a.mp3', { ...query, signature: signed('file') })).toEqual(link);
  expect(linksOf('secret').verify('a.mp3', { ...query, signature: signed('attachment') })).toBeUndefined();
});

test('invalid signatures are refused without an error', () => {
  const query = queryOf(linksOf('secret').path(link));
  fc.assert(
    fc.property(fc.string(), (signature) => !linksOf('secret').verify('a.mp3', { ...query, signature })),
  );
});

test('a link with missing or repeated fields is invalid', () => {
  const query = queryOf(linksOf('secret').path(link));
  for (const name of ['as', 'expires', 'signature']) {
    expect(linksOf('secret').verify('a.mp3', { ...query, [name]: undefined })).toBeUndefined();
    expect(linksOf('secret').verify('a.mp3', { ...query, [name]: [query[name]] })).toBeUndefined();
  }
});

test('a link expires at its second', () => {
  const at = (now: number) => createFileLinks(['secret'], () => now);
  const query = queryOf(at(0).path(link));
  expect(at(59_999).verify('a.mp3', query)).toEqual(link);
  expect(at(60_000).verify('a.mp3', query)).toBeUndefined();
});

test('secrets can be replaced: the new one signs, the old one verifies, a removed one is invalid', () => {
  const [before, during, after] = [linksOf('old'), linksOf('new', 'old'), linksOf('new')];
  const query = queryOf(before.path(link));
  expect(during.verify('a.mp3', query)).toEqual(link);
  expect(after.verify('a.mp3', query)).toBeUndefined();
  expect(after.verify('a.mp3', queryOf(during.path(link)))).toEqual(link);
});

test('signing requires a secret', () => {
  expect(() => linksOf()).toThrow('File links need a non-empty secret');
  expect(() => linksOf('secret', '')).toThrow(TypeError);
});

test('a link keeps the path of the public URL', () => {
  const links = linksOf('secret');
  const path = links.path({ name: 'a.mp3', downloadName: 'A & B?.mp3', expires: 60 });
  const url = new URL(`https://example.org/bots/minstrel/${path}`);
  expect(url.pathname).toBe('/bots/minstrel/files/a.mp3');
  expect(links.verify('a.mp3', Object.fromEntries(url.searchParams))).toEqual({
    name: 'a.mp3',
    downloadName: 'A & B?.mp3',
    expires: 60,
  });
});

test('a link of a page is valid for this page only', () => {
  const links = linksOf('secret');
  const query = queryOf(links.path({ ...link, page: 'song1' }));
  expect(links.verify('a.mp3', query)).toEqual({ ...link, page: 'song1' });
  for (const page of [undefined, '', 'song2', ['song1']])
    expect(links.verify('a.mp3', { ...query, page })).toBeUndefined();
  expect(links.verify('a.mp3', { ...queryOf(links.path(link)), page: 'song1' })).toBeUndefined();
});
