/** The option `voice`: kept voices by their names. */
import type { Choice, Context, Voice } from '../../src/command.ts';
import { UserError } from '../../src/errors.ts';
import { clip } from '../text.ts';

/** Discord's limits of a completion, in characters, and how many are named in a sentence. */
const LONGEST_SUGGESTION = 100;
const NAMED_AT_MOST = 10;

/** Completions by name. A persona whose id is too long to be one is offered by its name, which means the same. */
export async function suggestVoices(typed: string, { voices }: Context): Promise<Choice[]> {
  const wanted = typed.trim().toLowerCase();
  return (await voices.list())
    .filter(({ name }) => name.toLowerCase().includes(wanted))
    .map(({ name, personaId }) => ({
      name: clip(name, LONGEST_SUGGESTION),
      value: personaId.length <= LONGEST_SUGGESTION ? personaId : clip(name, LONGEST_SUGGESTION),
    }));
}

/** The kept voice of this name or id. Throws UserError when this server keeps none such. */
export async function findVoice(named: string, { voices }: Context): Promise<Voice> {
  const known = await voices.list();
  const wanted = named.trim().toLowerCase();
  const found =
    known.find(({ personaId }) => personaId === named.trim()) ??
    known.find(({ name }) => name.toLowerCase() === wanted) ??
    known.find(({ name }) => name.toLowerCase().startsWith(wanted));
  if (found) return found;
  if (known.length === 0) {
    throw new UserError(
      'No voice is kept here yet. Keep one with the button Keep voice under a song.',
      'voice',
    );
  }
  const names = known.slice(0, NAMED_AT_MOST).map(({ name }) => `“${name}”`);
  throw new UserError(
    `No voice called “${clip(named, 80)}” is kept here. There is ${names.join(', ')}${known.length > NAMED_AT_MOST ? ' and others' : ''}.`,
    'voice',
  );
}
