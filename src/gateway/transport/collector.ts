import type { AnswerPart, AnswerSoFar, Finish, Usage } from '../answers.ts';
import { withoutUndefined } from './json.ts';

/** What one chunk of a stream, or a whole body, adds to an answer. */
export interface AnswerPiece {
  readonly parts: readonly AnswerPart[];
  readonly finish?: Finish | undefined;
  readonly usage?: Usage | undefined;
  readonly model?: string | undefined;
}

/** Characters after which a fragment is passed on by itself: its reader may have a bound on all of them. */
const LONGEST_FRAGMENT = 4_096;

/** Puts an answer together from its pieces, in order. */
export function createAnswerCollector() {
  const parts: AnswerPart[] = [];
  const held = { text: '', thought: '' };
  let passed: AnswerPart[] = [];
  let finish: Finish | undefined;
  let usage: Usage | undefined;
  let model: string | undefined;
  let hasGoneOn = false;
  let partsSeen = 0;

  /** Text without half a character at its end, which is held back until the other half comes. */
  const whole = (type: 'text' | 'thought', said: string): string => {
    if (held[type] === '' && said.isWellFormed()) return said;
    const text = held[type] + said;
    // JSON may carry the halves of one character ("\ud83d" and "\ude00") in two chunks.
    const cut = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    held[type] = text.slice(cut);
    return text.slice(0, cut).toWellFormed();
  };
  const pass = (part: AnswerPart) => {
    if (part.type !== 'text' && part.type !== 'thought') {
      passed.push(part);
      return;
    }
    const text = whole(part.type, part.text);
    if (text !== '') append(passed, part.type, text, LONGEST_FRAGMENT);
  };

  return {
    add: (piece: AnswerPiece): void => {
      if (piece.finish !== undefined) finish = piece.finish;
      else if (piece.parts.length > 0) hasGoneOn = true;
      if (piece.usage !== undefined) usage = { ...usage, ...piece.usage };
      model ??= piece.model;
      partsSeen += piece.parts.length;
      for (const part of piece.parts) pass(part);
    },
    /** What was held back because its second half never came. */
    flush: (): void => {
      for (const type of ['thought', 'text'] as const) {
        if (held[type] !== '') append(passed, type, '\ufffd');
        held[type] = '';
      }
    },
    /** The parts since the last time, to pass on: text never ends within a character, and neighbouring fragments are one. */
    take: (): AnswerPart[] => {
      const taken = passed;
      passed = [];
      for (const part of taken) {
        if (part.type === 'text' || part.type === 'thought') append(parts, part.type, part.text);
        else parts.push(part);
      }
      return taken;
    },
    partsSeen: () => partsSeen,
    hasFinished: () => finish !== undefined,
    /** Some gateways name `stop` in every chunk: there it is the end only where the stream ends by itself. */
    hasSurelyFinished: () => finish !== undefined && (hasGoneOn || finish.reason !== 'stop'),
    soFar: (): AnswerSoFar => withoutUndefined({ parts, usage, model }),
    /** The finish; undefined for an answer that holds nothing and does not say why. */
    end: (): Finish | undefined => {
      const { reason, detail } = finish ?? { reason: 'other' };
      const empty = parts.every((part) => part.type === 'thought');
      const explained = reason === 'blocked' || reason === 'refused' || reason === 'length';
      return empty && !explained ? undefined : withoutUndefined({ reason, detail });
    },
  };
}

/** Neighbouring fragments of text become one part. */
function append(
  parts: AnswerPart[],
  type: 'text' | 'thought',
  text: string,
  longest = Number.POSITIVE_INFINITY,
): void {
  const last = parts.at(-1);
  if (last?.type === type && last.text.length < longest) last.text += text;
  else parts.push({ type, text });
}
