import type { Answer, AnswerEvent, CallOptions, Question } from './answers.ts';

/** Contract, "Gen style". Every method throws GatewayError only. */
export interface Gen {
  complete(question: Question, options?: CallOptions): Promise<Answer>;
  stream(question: Question, options?: CallOptions): AsyncIterable<AnswerEvent>;
  /** Text and pictures: `generationConfig.responseModalities` holds `TEXT` and `IMAGE`. */
  generateImage(question: Question, options?: CallOptions): Promise<Answer>;
  /** Function calling, on the path without the `gen` segment; `question.tools` is required. */
  callTools(question: Question, options?: CallOptions): Promise<Answer>;
  /** The thinking preview, on the path without the `gen` segment. `thinkingBudget` in tokens: 0 is off, -1 automatic. */
  think(question: ThinkingQuestion, options?: CallOptions): Promise<Answer>;
}

export interface ThinkingQuestion extends Question {
  thinkingBudget: number;
}
