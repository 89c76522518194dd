/** What was said before a question and what is attached to it, read and kept before a model is asked. */
import {
  attachmentNote,
  blindModelSentence,
  inquiryTurn,
  isPicture,
  mayBeText,
  type PicturePlace,
  pictureIn,
  withoutImages,
} from '../../core/attachments.ts';
import { UserError } from '../../core/errors.ts';
import type { Address } from '../../core/invocation.ts';
import { invocationKey } from '../../core/job.ts';
import type { FileReference } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';
import type { AnswerPlan, AnswerWork, InquiryPart, InquiryTurn } from '../../core/work.ts';
import type { JobDependencies } from '../dependencies.ts';

/** Characters of earlier turns that go into a record; they are cut to the model's own budget when it is asked. */
const LONGEST_MEMORY = 60_000;
/** Of one earlier turn. */
const LONGEST_TURN = 20_000;
/** Attachments of earlier turns that are fetched, the newest first. */
const MOST_FILES = 6;
/** What a platform adds to an answer as a file when it is long. */
const ANSWER_FILE = 'answer.md';

/** Keeps what a model can look at or read. Throws UserError for any other file, or the reason of its signal. */
export type KeepFile = (file: FileReference) => Promise<InquiryPart>;

/** Whether anything is left to read. */
export function isRead({ history, request }: AnswerWork): boolean {
  const isWhole = ({ job, answers, parts }: InquiryTurn) =>
    job === undefined && answers === undefined && parts.every(({ type }) => type !== 'file');
  return history === undefined && request.turns.every(isWhole);
}

export type ReadConversation = (address: Address, work: AnswerWork, keep: KeepFile) => Promise<AnswerWork>;

/**
 * The work with everything before its question, oldest first, and with the files of both. Earlier files that cannot be read
 * become notes. Throws UserError for a file of the question itself that cannot be used, or the reason of `keep`'s signal.
 */
export function createReadConversation({
  storage,
  platform,
}: Pick<JobDependencies, 'storage' | 'platform'>): ReadConversation {
  return async (address, { history, seeing, ...work }, keep) => {
    const chat = platform(address.platform);
    const before = history === undefined ? [] : ((await chat?.readHistory?.(address, history)) ?? []);
    const earlier = [...before.map(inquiryTurn), ...work.request.turns.slice(0, -1)];
    const memory = withinBounds(await recalled(earlier, address.platform, storage));
    const questions = await Promise.all(
      work.request.turns.slice(-1).map(async (question) => ({
        ...question,
        parts: await Promise.all(
          question.parts.map((part) => (part.type === 'file' ? keepOfQuestion(part.file, keep) : part)),
        ),
      })),
    );
    const model = modelFor(work, seeing, pictureIn([...memory, ...questions]));
    const turns = await Promise.all(withOwners(memory).map(fetching(memory, model.dialect !== 'chat', keep)));
    const { dialect, way, note } = model;
    const { way: _, note: __, ...rest } = work;
    return present({
      ...rest,
      dialect,
      way,
      note,
      request: {
        ...work.request,
        model: model.model,
        turns: [
          ...turns.filter((turn) => turn.parts.length > 0),
          ...(model.dialect === 'chat' ? withoutImages(questions) : questions),
        ],
      },
    });
  };
}

/** A note stands for an embedded file that cannot be used. */
async function keepOfQuestion(file: FileReference, keep: KeepFile): Promise<InquiryPart> {
  if (!file.embedded) return keep(file);
  try {
    const part = await keep(file);
    return part.type === 'image' ? { ...part, embedded: true } : part;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return attachmentNote({ type: 'file', file });
  }
}

/** Throws UserError where a picture is attached to a question for a model that cannot be shown any. */
function modelFor(
  { dialect, way, note, request }: AnswerWork,
  seeing: AnswerPlan | undefined,
  picture: PicturePlace,
): AnswerPlan {
  const chosen = present({ dialect, way, note, model: request.model });
  if (dialect !== 'chat' || picture === 'none') return chosen;
  if (seeing !== undefined) return seeing;
  if (picture === 'attached') throw new UserError(blindModelSentence(request.model));
  return chosen;
}

/**
 * Each answer as its job knows it: whole, once, and after its question where that was no message of its own. What the channel
 * shows serves where a job is not kept any more.
 */
async function recalled(
  turns: readonly InquiryTurn[],
  platform: string,
  { jobs }: JobDependencies['storage'],
): Promise<InquiryTurn[]> {
  const found = await Promise.all(
    turns.map(async ({ job: id, answers, ...turn }) => {
      const named = id === undefined ? undefined : await jobs.read(id).catch(() => undefined);
      const asked = answers === undefined ? undefined : jobs.ofInvocation(invocationKey(platform, answers));
      return { turn, job: named ?? (await asked?.catch(() => undefined)) };
    }),
  );
  const told = new Set<string>();
  return found.flatMap(({ turn, job }) => {
    const answer = job?.result?.answer?.text;
    // Progress and failures are not part of the conversation.
    if (job !== undefined && job.result === undefined) return [];
    if (job?.work.route !== 'answer' || !answer) return [turn];
    // An answer may take several messages.
    if (told.has(job.id)) return [];
    told.add(job.id);
    const files = turn.parts.filter((part) => part.type === 'file' && part.file.name !== ANSWER_FILE);
    const whole: InquiryTurn = { ...turn, parts: [...files, { type: 'text', text: answer }] };
    const text = textOf(job.work.request.turns.at(-1));
    const isThere = turns.some((one) => one.person === job.person.id && textOf(one) === text);
    if (isThere || text === '') return [whole];
    const { id: person, displayName: name } = job.person;
    return [{ role: 'user', parts: [{ type: 'text', text }], person, name }, whole];
  });
}

function textOf(turn: InquiryTurn | undefined): string {
  return turn?.parts.findLast((part) => part.type === 'text')?.text.trim() ?? '';
}

/** The newest turns, as many as a record may hold; a very long one is cut. */
function withinBounds(turns: readonly InquiryTurn[]): InquiryTurn[] {
  const kept: InquiryTurn[] = [];
  let budget = LONGEST_MEMORY;
  for (const turn of turns.toReversed()) {
    const parts = turn.parts.map((part) =>
      part.type === 'text' && part.text.length > LONGEST_TURN
        ? { ...part, text: `${part.text.slice(0, LONGEST_TURN).toWellFormed()} …` }
        : part,
    );
    budget -= parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
    if (budget < 0) break;
    kept.unshift({ ...turn, parts });
  }
  return kept;
}

/** Whose words they are; of the bot's turns, whom it answers. */
function withOwners(turns: readonly InquiryTurn[]): InquiryTurn[] {
  let last: string | undefined;
  return turns.map(({ person, ...turn }) => {
    if (turn.role === 'user') last = person;
    return { ...turn, ...present({ person: last }) };
  });
}

/** The newest files of earlier turns are fetched, as far as the model can use them; notes stand for the others. */
function fetching(
  memory: readonly InquiryTurn[],
  seesPictures: boolean,
  keep: KeepFile,
): (turn: InquiryTurn) => Promise<InquiryTurn> {
  const files = memory.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'file' ? [part] : [])));
  const wanted = files.filter(({ file }) => (isPicture(file) ? seesPictures : mayBeText(file)));
  const fetched = new Set<InquiryPart>(wanted.slice(-MOST_FILES));
  const read = async (part: InquiryPart): Promise<InquiryPart> => {
    if (part.type !== 'file') return part;
    if (!fetched.has(part)) return attachmentNote(part);
    try {
      return await keep(part.file);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return attachmentNote(part);
    }
  };
  return async (turn) => ({ ...turn, parts: await Promise.all(turn.parts.map(read)) });
}
