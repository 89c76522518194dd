/** One result of checking the settings and the services they refer to, for operators. */
export interface Finding {
  readonly level: 'good' | 'warning' | 'wrong';
  /** The thing that was checked, such as `Discord`. */
  readonly subject: string;
  /** The result and why it matters. Contains no secrets. */
  readonly sentence: string;
  /** How to fix it. */
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
