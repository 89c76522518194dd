/** What chat, msg and gen have in common: one question, one answer, whatever the dialect on the wire. */

export interface Question {
  model: string;
  system?: string | undefined;
  turns: readonly Turn[];
  /** Upper bound of output tokens. */
  maxTokens?: number | undefined;
  temperature?: number | undefined;
  /** Functions the model may call; only `gen.callTools` takes them. */
  tools?: readonly ToolDeclaration[] | undefined;
}

export interface Turn {
  role: 'user' | 'assistant';
  parts: readonly Part[];
}

export type Part = TextPart | ImagePart | ToolCallPart | ToolResultPart;

export interface TextPart {
  type: 'text';
  text: string;
}

interface ImagePart {
  type: 'image';
  mimeType: string;
  /** Base64, without a `data:` prefix. */
  data: string;
}

interface ToolCallPart {
  type: 'tool-call';
  name: string;
  arguments: Record<string, unknown>;
  id?: string | undefined;
  /** Opaque; sent back with the call in the next question (gen's `thoughtSignature`). */
  signature?: string | undefined;
}

interface ToolResultPart {
  type: 'tool-result';
  name: string;
  result: Record<string, unknown>;
  id?: string | undefined;
}

/**
 * A function's declaration: contract, "Gen-style request", `tools[].functionDeclarations[]`.
 * @public
 */
export interface ToolDeclaration {
  name: string;
  description: string;
  parameters: {
    type: string;
    properties: Record<string, { type: string; description: string }>;
    required: readonly string[];
  };
}

/** The model's reasoning, not part of the answer itself. */
interface ThoughtPart {
  type: 'thought';
  text: string;
}

export type AnswerPart = TextPart | ImagePart | ToolCallPart | ThoughtPart;

export interface Finish {
  reason: 'stop' | 'length' | 'blocked' | 'refused' | 'tool-calls' | 'other';
  /** The gateway's own word for it. */
  detail?: string | undefined;
}

export interface Usage {
  inputTokens?: number | undefined;
  outputTokens?: number | undefined;
}

export interface Answer {
  parts: AnswerPart[];
  finish: Finish;
  usage?: Usage | undefined;
  /** The model that answered, as the gateway names it. */
  model?: string | undefined;
}

/** What had come when a stream broke off. */
export interface AnswerSoFar {
  parts: AnswerPart[];
  usage?: Usage | undefined;
  model?: string | undefined;
}

/** `part`: text and thought parts are fragments, to be appended in order. `finish` comes once, last. */
export type AnswerEvent =
  | { type: 'part'; part: AnswerPart }
  | { type: 'finish'; finish: Finish; usage?: Usage | undefined; model?: string | undefined };

/** Options that every method of the gateway takes. */
export interface CallOptions {
  signal?: AbortSignal | undefined;
}
