import type { Answer, CallOptions, Question } from './answers.ts';

/** Contract, "Messages style": JSON only, never streamed. Every method throws GatewayError only. */
export interface Msg {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  countTokens(question: Question, options?: CallOptions): Promise<number>;
}
