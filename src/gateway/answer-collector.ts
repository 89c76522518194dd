import type { AnswerPart, AnswerSoFar, Finish, Usage } from './answers.ts';

/** What one chunk of a stream, or a whole body, adds to an answer. */
export interface AnswerPiece {
  parts: AnswerPart[];
  finish?: Finish | undefined;
  usage?: Usage | undefined;
  model?: string | undefined;
}

export interface AnswerCollector {
  /** Takes a piece in and returns the parts to pass on: text never ends within a character. */
  add(piece: AnswerPiece): AnswerPart[];
  /** What was held back because its second half never came. */
  flush(): AnswerPart[];
  readonly finish: Finish | undefined;
  readonly empty: boolean;
  soFar(): AnswerSoFar;
}

/** Puts an answer together from its pieces, in order. */
export function createAnswerCollector(): AnswerCollector {
  const parts: AnswerPart[] = [];
  const held = { text: '', thought: '' };
  let finish: Finish | undefined;
  let usage: Usage | undefined;
  let model: string | undefined;

  const whole = (part: AnswerPart): AnswerPart | undefined => {
    if (part.type !== 'text' && part.type !== 'thought') return part;
    const text = held[part.type] + part.text;
    // JSON may carry the halves of one character ("\ud83d" and "\ude00") in two chunks.
    const cut = /[\ud800-\udbff]$/.test(text) ? text.length - 1 : text.length;
    held[part.type] = text.slice(cut);
    const complete = text.slice(0, cut).toWellFormed();
    return complete === '' ? undefined : { type: part.type, text: complete };
  };
  const keep = (passed: AnswerPart[]) => {
    for (const part of passed) parts.push(part);
    return passed;
  };

  return {
    add: (piece) => {
      if (piece.finish !== undefined) finish = piece.finish;
      if (piece.usage !== undefined) usage = { ...usage, ...piece.usage };
      model ??= piece.model;
      return keep(piece.parts.flatMap((part) => whole(part) ?? []));
    },
    flush: () => {
      const halves = (['thought', 'text'] as const).filter((type) => held[type] !== '');
      return keep(
        halves.map((type) => {
          held[type] = '';
          return { type, text: '\ufffd' };
        }),
      );
    },
    get finish() {
      return finish;
    },
    get empty() {
      return parts.every((part) => part.type === 'thought');
    },
    soFar: () => ({
      parts: joinParts(parts),
      ...(usage === undefined ? {} : { usage }),
      ...(model === undefined ? {} : { model }),
    }),
  };
}

/** Neighbouring fragments of text become one part. */
function joinParts(parts: readonly AnswerPart[]): AnswerPart[] {
  const joined: AnswerPart[] = [];
  let run: string[] = [];
  let type: 'text' | 'thought' | undefined;
  const close = () => {
    if (type !== undefined && run.length > 0) joined.push({ type, text: run.join('') });
    run = [];
    type = undefined;
  };
  for (const part of parts) {
    if (part.type === 'text' || part.type === 'thought') {
      if (type !== part.type) close();
      type = part.type;
      run.push(part.text);
    } else {
      close();
      joined.push(part);
    }
  }
  close();
  return joined;
}
