/** What a file is called for people. */

/** In UTF-8, with the extension: under the 255 bytes that file systems allow, with space for ` (2)` and `.part`. */
const MAXIMUM_BYTES = 180;
/** In characters. Putting marks into the order of NFC takes quadratic time. */
const LONGEST_TITLE = 2_000;
const EXTENSION = /^[a-z0-9]{1,8}$/;

/** Names of devices on Windows, whatever extension follows: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Control, surrogate, private and unassigned characters, and format characters (direction marks among them)
 * other than the two joiners, which scripts and emoji need. */
const UNSAFE_CHARACTERS = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu;

/**
 * A file name made of a title, fit for every system: never empty, no path, no device, no hidden file, nothing
 * invisible, at most 180 bytes of UTF-8. Letters of all scripts stay.
 *
 * @param title anything, also what a person or a model wrote
 * @param extension without a dot
 */
export function safeFileName(title: string, extension: string): string {
  return nameOf(stemOf(title, extension), extension);
}

/** File names for the files of one folder: names that differ at most in case get a number. */
export function uniqueFileNames(files: readonly { title: string; extension: string }[]): string[] {
  const taken = new Set<string>();
  return files.map(({ title, extension }) => {
    const stem = stemOf(title, extension);
    let name = nameOf(stem, extension);
    for (let number = 2; taken.has(name.toLowerCase()); number += 1) {
      name = nameOf(stem, extension, ` (${number})`);
    }
    taken.add(name.toLowerCase());
    return name;
  });
}

function stemOf(title: string, extension: string): string {
  const shown = title
    .slice(0, LONGEST_TITLE)
    .toWellFormed()
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(UNSAFE_CHARACTERS, '')
    .replace(/\ufffd|[*?"<>|]/g, '')
    .replace(/[/\\:]+/g, '-');
  const written = `.${extension.toLowerCase()}`;
  return shown.toLowerCase().endsWith(written) ? shown.slice(0, -written.length) : shown;
}

function nameOf(stem: string, extension: string, number = ''): string {
  const ending = `${number}.${EXTENSION.test(extension.toLowerCase()) ? extension.toLowerCase() : 'bin'}`;
  const edged = stem.replace(/^[\s.]+/u, '').replace(/(?<![\s.])[\s.]+$/u, '');
  const free = RESERVED_ON_WINDOWS.test(edged) ? `_${edged}` : edged;
  const cut = cutToBytes(free, MAXIMUM_BYTES - Buffer.byteLength(ending)).replace(/(?<![\s.])[\s.]+$/u, '');
  return `${cut === '' ? 'untitled' : cut}${ending}`;
}

/** Cuts between what people see as characters, never inside one. */
function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Buffer.byteLength(segment);
    if (used > bytes) break;
    kept += segment;
  }
  return kept;
}
