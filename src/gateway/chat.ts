import type { Answer, AnswerEvent, CallOptions, Question } from './answers.ts';

/** Contract, "Chat style". Every method throws GatewayError only. */
export interface Chat {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  stream(question: Question, options?: CallOptions): AsyncIterable<AnswerEvent>;
}
