/** Decodes the encodings of attached texts: UTF-8, UTF-16 with a byte order mark, and Windows-1252, which includes Latin-1. */

/** Western European texts have fewer bytes above ASCII, other files have more. */
const MAX_NON_ASCII = 0.3;
/** https://en.wikipedia.org/wiki/ANSI_escape_code#Control_Sequence_Introducer_commands */
// biome-ignore lint/suspicious/noControlCharactersInRegex: an escape character starts each code
const ANSI_CODE = /\u001b\[[0-9;?]*[A-Za-z]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is searched for
const CONTROL = /[\u0000-\u0008\u000e-\u001f\u007f]/;

/**
 * Returns the text of a file, or of its beginning, without colour codes. Undefined for binary files. Ignores an incomplete
 * character at the end.
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
    const nonAscii = bytes.reduce((count, byte) => count + (byte > 0x7f ? 1 : 0), 0);
    if (nonAscii > bytes.length * MAX_NON_ASCII) return undefined;
    const text = new TextDecoder('windows-1252').decode(bytes);
    return text.startsWith('%PDF-') ? undefined : text;
  }
}
