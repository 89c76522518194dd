/** One result of checking the settings and the services they refer to, for operators. */
export interface Finding {
  readonly level: 'good' | 'warning' | 'wrong';
  /** The thing that was checked, such as `Discord`. */
  readonly subject: string;
  /** The result and why it matters. Contains no secrets. */
  readonly sentence: string;
  /** How to fix it, unless the sentence includes that. */
  readonly remedy?: string;
  /** True if `npm start` ends at this point. */
  readonly preventsStart?: true;
}

export const good = (subject: string, sentence: string): Finding => ({ level: 'good', subject, sentence });

export const warning = (subject: string, sentence: string, remedy?: string): Finding => ({
  level: 'warning',
  subject,
  sentence,
  ...(remedy !== undefined && { remedy }),
});

export const wrong = (subject: string, sentence: string, remedy?: string): Finding => ({
  ...warning(subject, sentence, remedy),
  level: 'wrong',
});

/** An error with which `npm start` ends. */
export const fatal = (subject: string, sentence: string): Finding => ({
  ...wrong(subject, sentence),
  preventsStart: true,
});
