/** Discord's own polls: https://docs.discord.com/developers/resources/poll */
import { RESTJSONErrorCodes } from 'discord.js';
import { z } from 'zod';
import type { Address } from '../../../core/invocation.ts';
import { ellipsis } from '../../../core/util/words.ts';
import type { ChatPoll, PollCount, PostState } from '../../platform.ts';
import { nonceOf } from '../connection/rest.ts';
import { errorKindOf, isDiscordError, platformErrorOf } from '../errors.ts';
import { DISCORD_LIMITS } from '../limits.ts';
import type { DeliveryTools } from './tools.ts';
import { CLOSED_TO_BOT } from './writer.ts';

/** Stored, so names and meanings must not change. */
const postedPollSchema = z.object({ channel: z.string(), id: z.string(), answers: z.number() });

const pollSchema = z.object({
  poll: z.object({
    results: z
      .object({
        is_finalized: z.boolean(),
        answer_counts: z.array(z.object({ id: z.number(), count: z.number() })),
      })
      // Absent while Discord does not know the counts.
      .nullish(),
  }),
});

/** See Platform.polls. Throws PlatformError. */
export async function openPoll(
  { channel }: Address,
  { question, answers, hours }: ChatPoll,
  key: string,
  { rest }: Pick<DeliveryTools, 'rest'>,
): Promise<PostState> {
  const { pollQuestion, pollAnswer, pollHours } = DISCORD_LIMITS;
  const poll = {
    question: { text: ellipsis(question, pollQuestion) },
    answers: answers.map((answer) => ({ poll_media: { text: ellipsis(answer, pollAnswer) } })),
    duration: Math.min(Math.max(1, Math.ceil(hours)), pollHours),
    allow_multiselect: false,
  };
  try {
    const sent = await rest.postPoll(channel, poll, nonceOf(key));
    return { channel: sent.channel_id, id: sent.id, answers: answers.length };
  } catch (error) {
    throw platformErrorOf(error);
  }
}

/** See Platform.polls. Throws PlatformError. */
export async function closePoll(
  posted: PostState,
  { rest }: Pick<DeliveryTools, 'rest'>,
): Promise<PollCount | undefined> {
  const { channel, id, answers } = postedPollSchema.parse(posted);
  const read = async (): Promise<PollCount> => {
    const { results } = pollSchema.parse(await rest.message(channel, id)).poll;
    // Answers without votes may be missing.
    const countOf = (answer: number) => results?.answer_counts.find((each) => each.id === answer)?.count ?? 0;
    return {
      votes: Array.from({ length: answers }, (_, index) => countOf(index + 1)),
      isFinal: results?.is_finalized ?? false,
    };
  };
  try {
    const before = await read();
    if (before.isFinal) return before;
    await rest.endPoll(channel, id).catch((error: unknown) => {
      if (!isDiscordError(error, RESTJSONErrorCodes.PollExpired)) throw error;
    });
    return await read();
  } catch (error) {
    if (['message-deleted', ...CLOSED_TO_BOT].includes(errorKindOf(error))) return undefined;
    throw platformErrorOf(error);
  }
}
