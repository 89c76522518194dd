import type { AnswerPart, Finish, Usage } from '../gateway/answers.ts';
import type { CommandCall, OwnFinish } from '../work.ts';

/** What an answer is made of, in order, whatever the way it is asked for. `finish` comes once, last. */
export type AnswerStep =
  | { readonly type: 'part'; readonly part: AnswerPart }
  | { readonly type: 'call'; readonly call: CommandCall }
  | {
      readonly type: 'finish';
      readonly finish: Finish | { readonly reason: OwnFinish };
      readonly usage?: Usage | undefined;
      readonly model?: string | undefined;
    };
