/** Completes a typed command line from the command declarations. */

import type { AnyCommand } from '../../core/bot/command.ts';
import { UserError } from '../../core/errors.ts';
import type { SuggestRequest } from '../../core/invocation.ts';
import type { Choice, OptionDeclaration, RawOptions } from '../../core/options.ts';
import { own } from '../../core/util/own.ts';
import { present } from '../../core/util/present.ts';
import type { Candidate } from '../../core/web/browser-chat.ts';
import { type CommandLine, readLine, typedOptions } from './command-line.ts';
import { typedChoice } from './values.ts';

export interface LineCompletion {
  readonly candidates: readonly Candidate[];
  /** The end of the line, which a candidate replaces. */
  readonly typed: string;
}

export interface CompletionSources {
  readonly commands: readonly AnyCommand[];
  readonly suggest: (request: Omit<SuggestRequest, 'address' | 'person'>) => Promise<readonly Choice[]>;
  /** People and roles, for options that take one. Without them, these options are not completed. */
  readonly mentions?: readonly Choice[];
}

/** Completes names of commands, subcommands and options, choices, and suggested values. */
export async function completeLine(
  line: string,
  { commands, suggest, mentions = [] }: CompletionSources,
): Promise<LineCompletion> {
  if (/^\/\S*$/.test(line)) return matching(commands.map(candidateFor('/')), line);
  const found = readLine(line, commands);
  if (!found) return { candidates: [], typed: line };
  const { command, subcommand, options, text } = found;

  const word = text.split(/\s/).at(-1) ?? '';
  const flags = Object.entries(options).map(([name, { description }]) =>
    candidateFor('--')({ name, description }),
  );
  if (word.startsWith('-')) return matching(flags, word);
  const [, before = '', name = '', value = ''] = /^(|.*\s)--([\w-]+)[ =](.*)$/s.exec(text) ?? [];
  const option = own(options, name);
  if (option?.type === 'choice' && !/\s/.test(value)) return matching(choicesOf(option, ''), value);
  if (option?.type === 'text' && option.mention && mentions.length > 0)
    return { candidates: mentions.map(candidateOf), typed: value };
  if (option?.type === 'text' && option.autocomplete) {
    const otherOptions = optionsOf(command, { ...found, text: before });
    const request = present({
      command: command.name,
      subcommand,
      option: name,
      typed: value.replace(/^"/, ''),
      options: otherOptions,
    });
    const suggested = (await suggest(request)).map(suggestedCandidate);
    // Two songs may have the same title.
    const unique = new Map(suggested.map((candidate) => [candidate.value, candidate]));
    return { candidates: [...unique.values()], typed: value };
  }
  const parts = Object.entries(command.subcommands ?? {}).map(([part, { description }]) =>
    candidateFor('')({ name: part, description }),
  );
  if (subcommand === undefined && text === word && parts.length > 0) return matching(parts, word);
  // Subcommands take choices by their position, without a flag.
  const choices =
    subcommand === undefined ? [] : Object.values(options).flatMap((option) => choicesOf(option, ' '));
  return matching(word === '' ? [...choices, ...flags] : choices, word);
}

/** The candidates that start with the text. */
function matching(candidates: readonly Candidate[], typed: string): LineCompletion {
  const prefix = typed.toLowerCase();
  return { candidates: candidates.filter(({ value }) => value.toLowerCase().startsWith(prefix)), typed };
}

/** A name is followed by a space, since its subcommand or value comes next. */
const candidateFor =
  (before: string) =>
  ({ name, description }: { readonly name: string; readonly description: string }): Candidate => ({
    value: `${before}${name} `,
    description,
  });

function choicesOf(option: OptionDeclaration, end: string): Candidate[] {
  if (option.type !== 'choice') return [];
  return option.choices.map((choice) => {
    const value = typedChoice(choice);
    return { value: `${value}${end}`, ...(value === choice.name ? {} : { description: choice.name }) };
  });
}

function candidateOf({ name, value }: Choice): Candidate {
  return name === value ? { value } : { value, description: name };
}

/** Quotes values with spaces, since more options may follow. */
function suggestedCandidate({ name, value, typed }: Choice): Candidate {
  if (typed === undefined) return candidateOf({ name, value });
  return { value: /\s/.test(typed) ? `"${typed.replaceAll('"', '')}"` : typed };
}

/** The options typed before the one being completed; empty if they are not valid yet. */
function optionsOf(command: AnyCommand, line: CommandLine): RawOptions {
  try {
    return typedOptions(command, line, '');
  } catch (error) {
    if (error instanceof UserError) return {};
    throw error;
  }
}
