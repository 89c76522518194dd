/** What moderators' commands have in common: places, people, and how both are said. */
import type { ChoiceOption, Family, Outcome, TextOption } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import type { Message } from '../src/message.ts';
import { plain } from '../src/message.ts';
import { type Origin, parseSubject, type Subject, type Where } from '../src/moderation.ts';

export const FAMILY_NAMES = {
  song: 'Songs',
  ask: 'Answers',
  image: 'Pictures',
  video: 'Videos',
} as const satisfies Record<Family, string>;

export const familyChoices = [
  { name: 'song', value: 'song' },
  { name: 'ask', value: 'ask' },
  { name: 'image', value: 'image' },
  { name: 'video', value: 'video' },
] as const satisfies ChoiceOption['choices'];

export const whereOption = {
  type: 'choice',
  description: 'Where it holds; this channel if left out',
  choices: [
    { name: 'channel', value: 'channel' },
    { name: 'server', value: 'server' },
  ],
} as const satisfies ChoiceOption;

export const whoOption = {
  type: 'text',
  description: 'A person or a role',
  mention: true,
  maximumLength: 200,
} as const satisfies TextOption;

/** Throws UserError for what is no mention. */
export function subjectOf(text: string): Subject {
  const subject = parseSubject(text);
  if (subject) return subject;
  throw new UserError(`I cannot tell who “${text}” is. Pick a person or a role, as in @Ada.`, 'who');
}

export function nameOf({ name, id, type }: Subject): string {
  return plain(name ?? (type === 'role' ? `the role ${id}` : id));
}

/** Plain words for where something holds. */
export function here(where: Where): string {
  return where === 'channel' ? 'this channel' : 'this server';
}

export function because(from: Origin): string {
  switch (from) {
    case 'channel':
    case 'server':
      return `chosen for ${here(from)}`;
    case 'deployment':
      return 'the default of whoever runs this bot';
    case 'nobody':
      return 'nobody has chosen';
    default:
      return from satisfies never;
  }
}

export function privately(message: Message | string): Outcome {
  return {
    type: 'message',
    visibility: 'person',
    message: typeof message === 'string' ? { text: message } : message,
  };
}

/** As `1,234` or `2.5`. */
export function amount(value: number): string {
  return new Intl.NumberFormat('en', { maximumFractionDigits: 2 }).format(value);
}
