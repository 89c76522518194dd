/** Reads the earlier messages and the attachments of a question, and stores them before a model is asked. */

import {
  attachmentNote,
  cannotReadImagesSentence,
  getsImages,
  type ImagePlace,
  imagePlaceIn,
  inquiryTurn,
  isPicture,
  mayBeText,
  withoutImages,
} from '../../core/attachments.ts';
import { UserError } from '../../core/errors.ts';
import type { Address, ConversationTurn } from '../../core/invocation.ts';
import { invocationKey } from '../../core/job.ts';
import { allPlans, withPlans } from '../../core/models/answer-plans.ts';
import type { FileReference } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';
import type { AnswerPlan, AnswerPlans, AnswerWork, InquiryPart, InquiryTurn } from '../../core/work.ts';
import { PlatformError } from '../../platforms/platform.ts';
import type { JobDependencies } from '../dependencies.ts';

/** Limit of characters of earlier turns in a record. They are cut to the model's budget later. */
const LONGEST_MEMORY = 60_000;
/** Limit of characters of one earlier turn. */
const LONGEST_TURN = 20_000;
/** Limit of attachments of earlier turns to fetch, newest first. */
const MOST_FILES = 6;
/** The file that platforms attach to a long answer. */
const ANSWER_FILE = 'answer.md';

/** Stores an attachment that models can read. Throws UserError for other files, or the reason of its signal. */
export type KeepFile = (file: FileReference) => Promise<InquiryPart>;

/** True if the history and all attachments have been read. */
export function isRead({ history, request }: AnswerWork): boolean {
  const isWhole = ({ job, answers, parts }: InquiryTurn) =>
    job === undefined && answers === undefined && parts.every(({ type }) => type !== 'file');
  return history === undefined && request.turns.every(isWhole);
}

export type ReadConversation = (address: Address, work: AnswerWork, keep: KeepFile) => Promise<AnswerWork>;

/**
 * Adds the earlier messages and the files to the work. Earlier files that cannot be read become notes. Throws UserError if a file of the
 * question itself cannot be used, or the reason of `keep`'s signal.
 */
export function createReadConversation({
  storage,
  platform,
}: Pick<JobDependencies, 'storage' | 'platform'>): ReadConversation {
  /** `advice`: for people, if the bot may not read there. */
  async function readHistory(
    address: Address,
    history: AnswerWork['history'],
  ): Promise<{ readonly messages: readonly ConversationTurn[]; readonly advice?: string | undefined }> {
    const chat = platform(address.platform);
    if (history === undefined || !chat?.readHistory) return { messages: [] };
    try {
      return { messages: await chat.readHistory(address, history) };
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      return { messages: [], advice: error.advice };
    }
  }

  return async (address, { history, seeing, ...work }, keep) => {
    const { messages, advice } = await readHistory(address, history);
    const earlier = [...messages.map(inquiryTurn), ...work.request.turns.slice(0, -1)];
    const memory = withinBounds(await withFullAnswers(earlier, address.platform, storage));
    const questions = await Promise.all(
      work.request.turns.slice(-1).map(async (question) => ({
        ...question,
        parts: await Promise.all(
          question.parts.map((part) => (part.type === 'file' ? keepQuestionFile(part.file, keep) : part)),
        ),
      })),
    );
    const plans = plansFor(work, seeing, imagePlaceIn([...memory, ...questions]));
    const keepsImages = [plans, ...(plans.fallbacks ?? [])].some(getsImages);
    const fetchFiles = createFetchFiles(memory, keepsImages, keep);
    const turns = await Promise.all(withOwners(memory).map(fetchFiles));
    const advised = (plan: AnswerPlan): AnswerPlan =>
      advice === undefined ? plan : { ...plan, note: [plan.note, advice].filter(Boolean).join(' · ') };
    const { fallbacks, ...plan } = plans;
    const { request, ...rest } = withPlans(
      work,
      present({ ...advised(plan), fallbacks: fallbacks?.map(advised) }),
    );
    return {
      ...rest,
      request: {
        ...request,
        turns: [
          ...turns.filter((turn) => turn.parts.length > 0),
          ...(keepsImages ? questions : withoutImages(questions)),
        ],
      },
    };
  };
}

/** Fetches a file of the question. A note replaces an embedded file that cannot be used. */
async function keepQuestionFile(file: FileReference, keep: KeepFile): Promise<InquiryPart> {
  if (!file.embedded) return keep(file);
  try {
    const part = await keep(file);
    return part.type === 'image' ? { ...part, embedded: true } : part;
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return attachmentNote({ type: 'file', file });
  }
}

/** Selects the models. Throws UserError if an image is attached and no model can read it. */
function plansFor(work: AnswerWork, seeing: AnswerPlans | undefined, picture: ImagePlace): AnswerPlans {
  const chosen = allPlans(work);
  if (getsImages(chosen) || picture === 'none') return chosen;
  if (seeing !== undefined) return seeing;
  if (picture === 'attached') throw new UserError(cannotReadImagesSentence(chosen.model));
  return chosen;
}

/**
 * Replaces each answer with the full text from its job, and inserts its question if that was not a message. An answer whose job is no
 * longer stored stays as the channel shows it.
 */
async function withFullAnswers(
  turns: readonly InquiryTurn[],
  platform: string,
  { jobs }: JobDependencies['storage'],
): Promise<InquiryTurn[]> {
  const entries = await Promise.all(
    turns.map(async ({ job: id, answers, ...turn }) => {
      const byId = id === undefined ? undefined : await jobs.read(id).catch(() => undefined);
      const byEvent = answers === undefined ? undefined : jobs.ofInvocation(invocationKey(platform, answers));
      return { turn, job: byId ?? (await byEvent?.catch(() => undefined)) };
    }),
  );
  const seenJobs = new Set<string>();
  return entries.flatMap(({ turn, job }) => {
    const answer = job?.result?.answer?.text;
    // Progress and failures are not part of the conversation.
    if (job !== undefined && job.result === undefined) return [];
    if (job?.work.route !== 'answer' || !answer) return [turn];
    // An answer may consist of several messages.
    if (seenJobs.has(job.id)) return [];
    seenJobs.add(job.id);
    const files = turn.parts.filter((part) => part.type === 'file' && part.file.name !== ANSWER_FILE);
    const full: InquiryTurn = { ...turn, parts: [...files, { type: 'text', text: answer }] };
    const text = textOf(job.work.request.turns.at(-1));
    const hasQuestion = turns.some((other) => other.person === job.person.id && textOf(other) === text);
    if (hasQuestion || text === '') return [full];
    const { id: person, displayName: name } = job.person;
    return [{ role: 'user', parts: [{ type: 'text', text }], person, name }, full];
  });
}

function textOf(turn: InquiryTurn | undefined): string {
  return turn?.parts.findLast((part) => part.type === 'text')?.text.trim() ?? '';
}

/** Returns the newest turns that fit into a record, and cuts very long ones. */
function withinBounds(turns: readonly InquiryTurn[]): InquiryTurn[] {
  const result: InquiryTurn[] = [];
  let budget = LONGEST_MEMORY;
  for (const turn of turns.toReversed()) {
    const parts = turn.parts.map((part) =>
      part.type === 'text' && part.text.length > LONGEST_TURN
        ? { ...part, text: `${part.text.slice(0, LONGEST_TURN).toWellFormed()} …` }
        : part,
    );
    budget -= parts.reduce((sum, part) => sum + (part.type === 'text' ? part.text.length : 0), 0);
    if (budget < 0) break;
    result.unshift({ ...turn, parts });
  }
  return result;
}

/** Sets the author of each turn; for the bot's turns, the person it answers. */
function withOwners(turns: readonly InquiryTurn[]): InquiryTurn[] {
  let last: string | undefined;
  return turns.map(({ person, ...turn }) => {
    if (turn.role === 'user') last = person;
    return { ...turn, ...present({ person: last }) };
  });
}

/** Fetches the newest files of earlier turns that the model can use, and replaces the others with notes. */
function createFetchFiles(
  memory: readonly InquiryTurn[],
  readsImages: boolean,
  keep: KeepFile,
): (turn: InquiryTurn) => Promise<InquiryTurn> {
  const files = memory.flatMap(({ parts }) => parts.flatMap((part) => (part.type === 'file' ? [part] : [])));
  const readable = files.filter(({ file }) => (isPicture(file) ? readsImages : mayBeText(file)));
  const selected = new Set<InquiryPart>(readable.slice(-MOST_FILES));
  const read = async (part: InquiryPart): Promise<InquiryPart> => {
    if (part.type !== 'file') return part;
    if (!selected.has(part)) return attachmentNote(part);
    try {
      return await keep(part.file);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      return attachmentNote(part);
    }
  };
  return async (turn) => ({ ...turn, parts: await Promise.all(turn.parts.map(read)) });
}
