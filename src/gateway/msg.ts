import type { Answer, CallOptions, Question } from './answers.ts';
import { createMsgReader, readTokenCount } from './msg-answers.ts';
import { countTokensRequestOf, messagesRequestOf } from './msg-requests.ts';
import type { Requester } from './request.ts';
import { readAnswer } from './stream.ts';

/** Contract, "Messages style": JSON only, never streamed. Every method throws GatewayError only. */
export interface Msg {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  /** Input tokens of the question. */
  countTokens(question: Question, options?: CallOptions): Promise<number>;
}

export function createMsg(requester: Requester): Msg {
  return {
    async complete(question, { signal } = {}) {
      const body = messagesRequestOf(question);
      return readAnswer(await requester.call('msg/messages', { body, signal }), createMsgReader());
    },
    async countTokens(question, { signal } = {}) {
      const body = countTokensRequestOf(question);
      return readTokenCount(await requester.call('msg/count-tokens', { body, signal }));
    },
  };
}
