/** What was found when settings, and the services that they name, were examined: a line each, for operators. */
export interface Finding {
  readonly level: 'good' | 'warning' | 'wrong';
  /** What was examined, such as `Discord`. */
  readonly subject: string;
  /** What is so, and why that matters; holds no secret. */
  readonly sentence: string;
  /** What to do about it. */
  readonly remedy?: string;
}

export const good = (subject: string, sentence: string): Finding => ({ level: 'good', subject, sentence });

export const warning = (subject: string, sentence: string, remedy: string): Finding => ({
  level: 'warning',
  subject,
  sentence,
  remedy,
});

export const wrong = (subject: string, sentence: string, remedy: string): Finding => ({
  level: 'wrong',
  subject,
  sentence,
  remedy,
});
