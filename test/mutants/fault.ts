/** A fault that the tests must notice: one edit of one place. */
export interface Fault {
  /** What goes wrong, in the words of those who would meet it. */
  readonly name: string;
  readonly file: string;
  /** Is in the file exactly once. */
  readonly text: string;
  readonly replacement: string;
  /**
   * By test file: a part of the titles of the tests that see it. They run without the others of the file: what they need of
   * an earlier test, that part must name too.
   */
  readonly tests: Readonly<Record<string, string>>;
}

/** The source with the fault in it. Throws where the text that it replaces is not there exactly once. */
export function withFault(source: string, { name, file, text, replacement }: Fault): string {
  const places = source.split(text).length - 1;
  if (places !== 1)
    throw new Error(`“${name}” replaces a text that ${file} has ${places} times, not once:\n${text}`);
  return source.replace(text, () => replacement);
}
