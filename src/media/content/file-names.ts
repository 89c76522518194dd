/** File names that people see. */

/** In UTF-8 with the extension: below the 255 bytes of file systems, with space for ` (2)` and `.part`. */
const MAXIMUM_BYTES = 180;
/** In characters. Normalising combining marks takes quadratic time. */
const LONGEST_TITLE = 2_000;
const EXTENSION = /^[a-z0-9]{1,8}$/;

/** Windows device names, with any extension: https://learn.microsoft.com/windows/win32/fileio/naming-a-file */
const RESERVED_ON_WINDOWS = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

/** Control, surrogate, private and unassigned characters, and format characters (direction marks among them)
 * other than the two joiners, which scripts and emoji need. */
const UNSAFE_CHARACTERS = /(?![\u200c\u200d])[\p{C}\u2028\u2029]/gu;

/**
 * Turns a title into a file name that is valid on every system: not empty, no path, device or hidden file, no invisible
 * characters, at most 180 bytes of UTF-8. Keeps the letters of all scripts.
 *
 * @param title untrusted text
 * @param extension without a dot
 */
export function safeFileName(title: string, extension: string): string {
  return nameOf(stemOf(title, extension), extension);
}

/** Returns file names for one folder. Names that are equal except for case get a number. */
export function uniqueFileNames(files: readonly { title: string; extension: string }[]): string[] {
  const used = new Set<string>();
  return files.map(({ title, extension }) => {
    const stem = stemOf(title, extension);
    let name = nameOf(stem, extension);
    for (let number = 2; used.has(name.toLowerCase()); number += 1) {
      name = nameOf(stem, extension, ` (${number})`);
    }
    used.add(name.toLowerCase());
    return name;
  });
}

function stemOf(title: string, extension: string): string {
  const cleaned = title
    .slice(0, LONGEST_TITLE)
    .toWellFormed()
    .normalize('NFC')
    .replace(/\s+/gu, ' ')
    .replace(UNSAFE_CHARACTERS, '')
    .replace(/\ufffd|[*?"<>|]/g, '')
    .replace(/[/\\:]+/g, '-');
  const suffix = `.${extension.toLowerCase()}`;
  return cleaned.toLowerCase().endsWith(suffix) ? cleaned.slice(0, -suffix.length) : cleaned;
}

function nameOf(stem: string, extension: string, number = ''): string {
  const ending = `${number}.${EXTENSION.test(extension.toLowerCase()) ? extension.toLowerCase() : 'bin'}`;
  const trimmed = stem.replace(/^[\s.]+/u, '').replace(/(?<![\s.])[\s.]+$/u, '');
  const safe = RESERVED_ON_WINDOWS.test(trimmed) ? `_${trimmed}` : trimmed;
  const cut = cutToBytes(safe, MAXIMUM_BYTES - Buffer.byteLength(ending)).replace(/(?<![\s.])[\s.]+$/u, '');
  return `${cut === '' ? 'untitled' : cut}${ending}`;
}

/** Cuts between graphemes. */
function cutToBytes(text: string, bytes: number): string {
  if (Buffer.byteLength(text) <= bytes) return text;
  let result = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    used += Buffer.byteLength(segment);
    if (used > bytes) break;
    result += segment;
  }
  return result;
}
