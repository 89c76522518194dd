/** What was said before, read from the channel itself, as the turns of a question. */
import type { Context, ConversationTurn, FileReference, Person } from '../src/command.ts';
import { UserError } from '../src/errors.ts';
import type { InquiryPart, InquiryTurn } from '../src/work.ts';

/** Characters of earlier turns that go into a record; the model's own budget is kept to when it is asked. */
const LONGEST_MEMORY = 60_000;
/** Of one earlier turn. */
const LONGEST_TURN = 20_000;
/** Attachments of earlier turns that are fetched, the newest first. */
const MOST_FILES = 6;
/** Of the question itself. */
const MOST_OWN_FILES = 10;

export interface Said {
  readonly question: string;
  readonly files: readonly FileReference[];
  readonly conversation: readonly ConversationTurn[];
  readonly person: Person;
  /** Whether the model can look at pictures; of those of earlier turns a note is left otherwise. */
  readonly looks: boolean;
}

export interface Conversation {
  readonly turns: readonly InquiryTurn[];
  /** Who said what stands before each of people's turns. */
  readonly isGroup: boolean;
}

export function isPicture({ name, contentType }: FileReference): boolean {
  return contentType?.startsWith('image/') ?? /\.(png|jpe?g|webp|gif|avif|bmp)$/i.test(name);
}

function isDocument({ name, contentType }: FileReference): boolean {
  return contentType?.startsWith('text/') ?? /\.(txt|md|csv|log)$/i.test(name);
}

/**
 * The question with everything before it, oldest first. Files of the question must be readable: throws UserError
 * otherwise. Of files of earlier turns that cannot be had any more, a note is left.
 */
export async function readConversation(said: Said, context: Context): Promise<Conversation> {
  const { question, person } = said;
  const names = namesIn(said);
  const isGroup = new Set(names.values()).size > 1;
  const nameOf = (id: string | undefined, name: string | undefined) =>
    (id === undefined ? undefined : names.get(id)) ?? name;
  const spoken = (name: string | undefined, text: string) =>
    isGroup && name !== undefined && text !== '' ? `${oneLine(name)}: ${text}` : text;

  const own = await Promise.all(said.files.slice(0, MOST_OWN_FILES).map((file) => keepFile(file, context)));
  const memory = withinBounds(said.conversation);
  const wanted = newestFiles(memory, said.looks);
  const earlier = await Promise.all(
    memory.map(async (turn): Promise<InquiryTurn> => {
      const files = await Promise.all(
        turn.files.map((file) => (wanted.has(file) ? keepIfPossible(file, context) : note(file))),
      );
      const name = turn.author === 'person' ? nameOf(turn.person, turn.name) : undefined;
      const text = spoken(name, turn.text);
      return {
        role: turn.author === 'bot' ? 'assistant' : 'user',
        parts: [...files, ...(text === '' ? [] : [{ type: 'text' as const, text }])],
      };
    }),
  );
  const asked = spoken(nameOf(person.id, person.displayName), question);
  const newest: InquiryTurn = {
    role: 'user',
    parts: [...own, { type: 'text', text: asked }],
  };
  return { turns: [...earlier.filter(({ parts }) => parts.length > 0), newest], isGroup };
}

/** One name for each person, whatever each platform calls them where: the one that stands beside the question wins. */
function namesIn({ conversation, person }: Said): Map<string, string> {
  const names = new Map<string, string>();
  for (const turn of conversation) {
    if (turn.author === 'person' && turn.name !== undefined) names.set(turn.person ?? turn.name, turn.name);
  }
  const isNamedAlready = !names.has(person.id) && names.has(person.displayName);
  names.set(isNamedAlready ? person.displayName : person.id, person.displayName);
  return names;
}

/** Without what could make a name pass for something that was said. */
function oneLine(name: string): string {
  return name.replace(/[\s:]+/g, ' ').trim();
}

/** The newest turns, as many as a record may hold; a very long one loses its end. */
function withinBounds(conversation: readonly ConversationTurn[]): ConversationTurn[] {
  const kept: ConversationTurn[] = [];
  let room = LONGEST_MEMORY;
  for (const turn of conversation.toReversed()) {
    const text =
      turn.text.length > LONGEST_TURN ? `${turn.text.slice(0, LONGEST_TURN).toWellFormed()} …` : turn.text;
    room -= text.length;
    if (room < 0) break;
    kept.unshift({ ...turn, text });
  }
  return kept;
}

function newestFiles(conversation: readonly ConversationTurn[], looks: boolean): ReadonlySet<FileReference> {
  const files = conversation
    .flatMap((turn) => turn.files)
    .filter((file) => (looks && isPicture(file)) || isDocument(file));
  return new Set(files.slice(-MOST_FILES));
}

async function keepFile(file: FileReference, { files }: Context): Promise<InquiryPart> {
  if (isPicture(file)) return { type: 'image', file: await files.keepPicture(file) };
  if (isDocument(file)) return { type: 'document', file: await files.keepDocument(file), name: file.name };
  return note(file);
}

async function keepIfPossible(file: FileReference, context: Context): Promise<InquiryPart> {
  try {
    return await keepFile(file, context);
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return note(file);
  }
}

function note(file: FileReference): InquiryPart {
  return { type: 'text', text: isPicture(file) ? '(a picture)' : `(the file ${file.name})` };
}
