/** Where events are logged: fields by name, then a plain sentence. No secret, prompt or answer is ever among them. */
export interface Log {
  debug(fields: object, sentence: string): void;
  info(fields: object, sentence: string): void;
  warn(fields: object, sentence: string): void;
  error(fields: object, sentence: string): void;
}
