/** What was said before, read from the channel, as the turns of a question. */
import { attachmentNote } from '../../src/core/attachment-note.ts';
import type { Context } from '../../src/core/bot/context.ts';
import { UserError } from '../../src/core/errors.ts';
import type { ConversationTurn, Person } from '../../src/core/invocation.ts';
import type { JobView } from '../../src/core/job.ts';
import { type FileReference, present } from '../../src/core/options.ts';
import type { InquiryPart, InquiryTurn } from '../../src/core/work.ts';

/** Characters of earlier turns that go into a record; they are cut to the model's own budget when it is asked. */
const LONGEST_MEMORY = 60_000;
/** Of one earlier turn. */
const LONGEST_TURN = 20_000;
const MOST_OWN_FILES = 10;
/** Attachments of earlier turns that are fetched, the newest first. */
const MOST_FILES = 6;

export interface Said {
  readonly question: string;
  /** What was attached to it. */
  readonly files: readonly InquiryPart[];
  readonly conversation: readonly ConversationTurn[];
  readonly person: Person;
  /** Whether the model sees pictures; else earlier ones become notes. */
  readonly seesPictures: boolean;
}

export interface Conversation {
  readonly turns: readonly InquiryTurn[];
  /** The name of who speaks precedes each of people's turns. */
  readonly isGroup: boolean;
}

export function isPicture({ name, contentType }: FileReference): boolean {
  return contentType?.startsWith('image/') ?? /\.(png|jpe?g|webp|gif|avif|bmp)$/i.test(name);
}

/** What is attached to a question itself, at most ten files. Throws UserError for one that cannot be read. */
export function keepAttached(files: readonly FileReference[], context: Context): Promise<InquiryPart[]> {
  return Promise.all(files.slice(0, MOST_OWN_FILES).map((file) => keepFile(file, context)));
}

function isDocument({ name, contentType }: FileReference): boolean {
  return contentType?.startsWith('text/') ?? /\.(txt|md|csv|log)$/i.test(name);
}

/**
 * The question with everything before it, oldest first. Files of earlier turns that cannot be read become notes.
 */
export async function readConversation(said: Said, context: Context): Promise<Conversation> {
  const { question, person } = said;
  const conversation = await recalled(said.conversation, context);
  const names = namesIn({ conversation, person });
  const isGroup = new Set(names.values()).size > 1;
  const nameOf = (id: string | undefined, name: string | undefined) =>
    (id === undefined ? undefined : names.get(id)) ?? name;
  const spoken = (name: string | undefined, text: string) =>
    isGroup && name !== undefined && text !== '' ? `${oneLine(name)}: ${text}` : text;

  const memory = withinBounds(conversation);
  const wanted = newestFiles(memory, said.seesPictures);
  const owners = ownersOf(memory);
  const earlier = await Promise.all(
    memory.map(async (turn, index): Promise<InquiryTurn> => {
      const files = await Promise.all(
        turn.files.map((file) => (wanted.has(file) ? keepIfPossible(file, context) : note(file))),
      );
      const name = turn.author === 'person' ? nameOf(turn.person, turn.name) : undefined;
      const text = spoken(name, turn.text);
      return {
        role: turn.author === 'bot' ? 'assistant' : 'user',
        parts: [...files, ...(text === '' ? [] : [{ type: 'text' as const, text }])],
        ...present({ person: owners[index] }),
      };
    }),
  );
  const asked = spoken(nameOf(person.id, person.displayName), question);
  const newest: InquiryTurn = {
    role: 'user',
    parts: [...said.files, { type: 'text', text: asked }],
    person: person.id,
  };
  return { turns: [...earlier.filter(({ parts }) => parts.length > 0), newest], isGroup };
}

/** Where the picture of a question that was asked before is. */
export function pictureIn(turns: readonly InquiryTurn[]): 'attached' | 'replied-to' | 'none' {
  const isShownIn = (turn?: InquiryTurn) => turn?.parts.some(({ type }) => type === 'image') === true;
  if (isShownIn(turns.at(-1))) return 'attached';
  return isShownIn(turns.at(-2)) ? 'replied-to' : 'none';
}

/** For a model that sees none: earlier pictures become notes. */
export function withoutEarlierPictures(turns: readonly InquiryTurn[]): readonly InquiryTurn[] {
  return turns.map((turn, index) =>
    index === turns.length - 1
      ? turn
      : { ...turn, parts: turn.parts.map((part) => (part.type === 'image' ? attachmentNote(part) : part)) },
  );
}

/** Who said each turn; of the bot's turns, whom it answers. */
function ownersOf(memory: readonly ConversationTurn[]): (string | undefined)[] {
  let last: string | undefined;
  return memory.map(({ author, person }) => {
    if (author === 'person') last = person;
    return last;
  });
}

/** What a platform adds to an answer as a file when it is long. */
const ANSWER_FILE = 'answer.md';

/**
 * The conversation with each answer as its job knows it: whole, and after its question where that was no message of its
 * own. What the channel shows serves where a job is not kept any more.
 */
async function recalled(
  conversation: readonly ConversationTurn[],
  { jobs }: Context,
): Promise<ConversationTurn[]> {
  const turns = await Promise.all(
    conversation.map(async (turn) => {
      const job = turn.job === undefined ? undefined : await jobs.find(turn.job).catch(() => undefined);
      const answer = job?.result?.answer?.text;
      if (job?.work.route !== 'answer' || !answer) return [turn];
      const { id, displayName } = job.person;
      const question = {
        author: 'person' as const,
        name: displayName,
        person: id,
        text: questionOf(job),
        files: [],
      };
      const isSaid = conversation.some(({ person, text }) => person === id && text === question.text);
      const files = turn.files.filter(({ name }) => name !== ANSWER_FILE);
      return [...(isSaid || question.text === '' ? [] : [question]), { ...turn, text: answer, files }];
    }),
  );
  return turns.flat();
}

/** As its person asked it: in group talk their name precedes it. */
function questionOf({ work, person }: JobView): string {
  const newest = work.route === 'answer' ? work.request.turns.at(-1) : undefined;
  const text = newest?.parts.findLast((part) => part.type === 'text')?.text ?? '';
  const name = `${oneLine(person.displayName)}: `;
  return (text.startsWith(name) ? text.slice(name.length) : text).trim();
}

/** One name for each person: the one that the question comes with wins. */
function namesIn({ conversation, person }: Pick<Said, 'conversation' | 'person'>): Map<string, string> {
  const names = new Map<string, string>();
  for (const turn of conversation) {
    if (turn.author === 'person' && turn.name !== undefined) names.set(turn.person ?? turn.name, turn.name);
  }
  const isNamedAlready = !names.has(person.id) && names.has(person.displayName);
  names.set(isNamedAlready ? person.displayName : person.id, person.displayName);
  return names;
}

/** A name cannot pass for something that was said. */
function oneLine(name: string): string {
  return name.replace(/[\s:]+/g, ' ').trim();
}

/** The newest turns, as many as a record may hold; a very long one is cut. */
function withinBounds(conversation: readonly ConversationTurn[]): ConversationTurn[] {
  const kept: ConversationTurn[] = [];
  let budget = LONGEST_MEMORY;
  for (const turn of conversation.toReversed()) {
    const text =
      turn.text.length > LONGEST_TURN ? `${turn.text.slice(0, LONGEST_TURN).toWellFormed()} …` : turn.text;
    budget -= text.length;
    if (budget < 0) break;
    kept.unshift({ ...turn, text });
  }
  return kept;
}

function newestFiles(
  conversation: readonly ConversationTurn[],
  seesPictures: boolean,
): ReadonlySet<FileReference> {
  const files = conversation
    .flatMap((turn) => turn.files)
    .filter((file) => (seesPictures && isPicture(file)) || isDocument(file));
  return new Set(files.slice(-MOST_FILES));
}

async function keepFile(file: FileReference, { files }: Context): Promise<InquiryPart> {
  const { type, file: kept } = await files.keepReadable(file);
  return type === 'image' ? { type, file: kept } : { type, file: kept, name: file.name };
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
  return attachmentNote(isPicture(file) ? { type: 'image' } : { type: 'document', name: file.name });
}
