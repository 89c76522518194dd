import type { Work } from '../work.ts';

/** Work that a command starts. */
export interface StartRequest {
  readonly work: Work;
  /** Title of the message, such as "Composing “Rain”". Plain text. */
  readonly title: string;
  /** The command that renders the result; the invoked one by default. */
  readonly command?: string;
  /** The job whose result it is made from. */
  readonly parent?: string;
  /** The source in words, such as “Rain”, take 1. Plain text. */
  readonly basedOn?: string;
  /** Option values to show with the result. Plain text. */
  readonly options?: Readonly<Record<string, string>>;
}
