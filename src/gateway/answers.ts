/** The answer types that chat, msg and gen share. */
import { present } from '../core/util/present.ts';
import { asCount } from './transport/json.ts';

export interface TextPart {
  type: 'text';
  text: string;
}

export interface ImagePart {
  type: 'image';
  mimeType: string;
  /** Base64, without a `data:` prefix. */
  data: string;
}

export interface ToolCallPart {
  type: 'tool-call';
  name: string;
  arguments: Record<string, unknown>;
  id?: string | undefined;
  /** Opaque; sent back with the call in the next question (gen's `thoughtSignature`). */
  signature?: string | undefined;
}

/** The model's reasoning, not part of the answer itself. */
export interface ThoughtPart {
  type: 'thought';
  text: string;
}

export type AnswerPart = TextPart | ImagePart | ToolCallPart | ThoughtPart;

export interface Finish {
  reason: 'stop' | 'length' | 'blocked' | 'refused' | 'tool-calls' | 'other';
  /** The gateway's finish reason, unchanged. */
  detail?: string;
}

/** Token counts, if the gateway sent them. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
}

/** A complete answer in any dialect. */
export interface Answer {
  parts: AnswerPart[];
  finish: Finish;
  usage?: Usage | undefined;
}

/** `part`: fragments of text and thought to append in order. `finish`: sent once, at the end. */
export type AnswerEvent = { type: 'part'; part: AnswerPart } | ({ type: 'finish' } & Omit<Answer, 'parts'>);

/** Options that every method of the gateway takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}

/** Returns undefined if neither count is known. */
export function usageOf(input: unknown, output: unknown): Usage | undefined {
  const [inputTokens, outputTokens] = [asCount(input), asCount(output)];
  if (inputTokens === undefined && outputTokens === undefined) return undefined;
  return present({ inputTokens, outputTokens });
}
