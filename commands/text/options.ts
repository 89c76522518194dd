/** Options shared by several commands. */
import { UserError } from '../../src/core/errors.ts';
import { parseSubject, type Subject } from '../../src/core/moderation.ts';
import type { ChoiceOption, OptionDeclarations, TextOption } from '../../src/core/options.ts';

/** A text option with completions. `maximumLength` is in characters. */
export function completedText(description: string, maximumLength = 200) {
  return { type: 'text', description, maximumLength, autocomplete: true } as const satisfies TextOption;
}

export function modelOption(description: string) {
  return {
    ...completedText(description, 100),
    label: 'Model',
    help: 'The default is a good choice.',
    rare: true,
  } as const;
}

export const songOptions = {
  prompt: {
    type: 'text',
    description: 'Describe the song',
    label: 'Description',
    help: 'What is the song about, and how does it sound?',
    maximumLength: 3000,
    multiline: true,
  },
  title: {
    type: 'text',
    description: 'Title',
    help: 'Leave this empty and one is chosen for you.',
    maximumLength: 80,
  },
  instrumental: { type: 'flag', description: 'Instrumental (no vocals)', help: 'Create it without vocals.' },
} as const satisfies OptionDeclarations;

/** For images and videos: the gateway may expand their prompts. */
export const exactOption = {
  type: 'flag',
  description: 'Use your description unchanged, with nothing added by the service',
  label: 'Exact words',
  help: 'Use your description unchanged, with nothing added by the service.',
  rare: true,
} as const;

/** Durations in seconds that every public video model accepts. */
export const durationOption = {
  type: 'choice',
  description: 'Duration',
  help: 'How long should the video be?',
  choices: ['5', '10', '15'].map((seconds) => ({ name: `${seconds} seconds`, value: seconds })),
} as const satisfies ChoiceOption;

export function choicesOf<const Name extends string>(names: readonly Name[]) {
  return names.map((name) => ({ name, value: name }));
}

export const whereOption = {
  type: 'choice',
  description: 'Where it applies (default: this channel)',
  label: 'Applies to',
  help: 'By default, this channel.',
  choices: choicesOf(['channel', 'server']),
  default: 'channel',
} as const satisfies ChoiceOption;

export const whoOption = {
  type: 'text',
  description: 'A person or role (default: everyone)',
  label: 'Person or role',
  help: 'By default, everyone.',
  mention: true,
  maximumLength: 200,
} as const satisfies TextOption;

/** The person or role that was mentioned. Throws UserError if the text is not a mention. */
export function subjectOf(text: string): Subject {
  const subject = parseSubject(text);
  if (subject) return subject;
  throw new UserError(`I can't find “${text}”. Choose a person or a role, such as @Ada.`, 'who');
}
