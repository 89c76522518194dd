/** Texts in the encodings that people attach: UTF-8, UTF-16 with its mark, and Windows-1252, which includes Latin-1. */

/** Texts of Western Europe have fewer letters beyond ASCII, and other files more. */
const MOST_BEYOND_ASCII = 0.3;
/** https://en.wikipedia.org/wiki/ANSI_escape_code#Control_Sequence_Introducer_commands */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape character starts each code
const ANSI_CODE = /\u001b\[[0-9;?]*[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is searched for
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f]/;

/**
 * The text of a file, or of its beginning, without colour codes; undefined when it is no text. A character cut off at the end is
 * forgiven.
 */
export function decodeText(bytes: Uint8Array): string | undefined {
  const decoded = decode(bytes)?.replace(ANSI_CODE, '');
  return decoded === undefined || decoded === '' || CONTROL.test(decoded) ? undefined : decoded;
}

function decode(bytes: Uint8Array): string | undefined {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes, { stream: true });
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes, { stream: true });
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: true });
  } catch {
    const beyond = bytes.reduce((count, byte) => count + (byte > 0x7f ? 1 : 0), 0);
    if (beyond > bytes.length * MOST_BEYOND_ASCII) return undefined;
    const text = new TextDecoder('windows-1252').decode(bytes);
    return text.startsWith('%PDF-') ? undefined : text;
  }
}
