import type { Answer, AnswerEvent, CallOptions, Question } from './answers.ts';
import { createChatReader } from './chat-answers.ts';
import { chatRequestOf } from './chat-requests.ts';
import type { Requester } from './request.ts';
import { readAnswer, streamAnswer } from './stream.ts';

/** Contract, "Chat style". Every method throws GatewayError only. */
export interface Chat {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  /** Text as it comes; a stream that does not finish throws with what had come in `partial`. */
  stream(question: Question, options?: CallOptions): AsyncIterable<AnswerEvent>;
}

const ROUTE = 'chat/completions';

export function createChat(requester: Requester): Chat {
  return {
    async complete(question, { signal } = {}) {
      const body = chatRequestOf(question, false);
      return readAnswer(await requester.call(ROUTE, { body, signal }), createChatReader());
    },
    stream(question, { signal } = {}) {
      const input = () => ({ body: chatRequestOf(question, true), signal });
      return streamAnswer(requester, ROUTE, input, createChatReader);
    },
  };
}
