import { type AnswerPart, type Finish, usageOf } from '../answers.ts';
import * as json from '../transport/json.ts';
import type { AnswerPiece, AnswerReader } from '../transport/stream.ts';

/** https://ai.google.dev/api/generate-content#FinishReason. */
const FINISH_REASONS: Readonly<Record<string, Finish['reason']>> = {
  STOP: 'stop',
  MAX_TOKENS: 'length',
  SAFETY: 'blocked',
  RECITATION: 'blocked',
  BLOCKLIST: 'blocked',
  PROHIBITED_CONTENT: 'blocked',
  SPII: 'blocked',
  IMAGE_SAFETY: 'blocked',
  IMAGE_PROHIBITED_CONTENT: 'blocked',
  IMAGE_RECITATION: 'blocked',
};

/**
 * Reads what the gen-style routes return, whole or as a chunk of the stream: contract, "Gen style", where the bodies are
 * not shown; the public API's GenerateContentResponse (https://ai.google.dev/api/generate-content), in its snake case too.
 * Any member may be missing.
 */
export function createGenReader(): AnswerReader {
  let called = false;
  return {
    read(value): AnswerPiece {
      const body = json.unwrapped(value, ['candidates', 'promptFeedback'], ['data', 'response']);
      const { candidates, promptFeedback, usageMetadata } = body;
      const candidate = firstOf(json.asList(candidates));
      const { content, finish_reason, finishReason = finish_reason } = candidate;
      const parts = json.asList(json.objectOf(content).parts).flatMap(partsOf);
      called ||= parts.some(({ type }) => type === 'tool-call');
      const counts = json.objectOf(usageMetadata);
      return {
        parts,
        finish: finishOf(
          json.asText(finishReason, 100),
          json.asText(json.objectOf(promptFeedback).blockReason, 100),
          called,
        ),
        usage: usageOf(
          counts.promptTokenCount,
          sumOf(counts.candidatesTokenCount, counts.thoughtsTokenCount),
        ),
      };
    },
  };
}

/** The first candidate (their texts must not be mixed), or in its absence the first that came. */
function firstOf(candidates: readonly unknown[]): json.JsonObject {
  return json.objectOf(candidates.find((each) => (json.objectOf(each).index ?? 0) === 0) ?? candidates[0]);
}

function sumOf(answered: unknown, thought: unknown): number | undefined {
  const [one, other] = [json.asCount(answered), json.asCount(thought)];
  return one === undefined && other === undefined ? undefined : (one ?? 0) + (other ?? 0);
}

/** `executableCode`, `fileData` and what else there may be are passed over. Texts are not trimmed. */
function partsOf(part: unknown): AnswerPart[] {
  const {
    text,
    thought,
    inline_data,
    inlineData = inline_data,
    functionCall,
    thoughtSignature,
  } = json.objectOf(part);
  const parts: AnswerPart[] = [];
  if (typeof text === 'string' && text !== '')
    parts.push({ type: thought === true ? 'thought' : 'text', text });
  const { data, mime_type, mimeType = mime_type } = json.objectOf(inlineData);
  if (typeof data === 'string' && data !== '')
    parts.push({ type: 'image', mimeType: json.asText(mimeType, 100) ?? 'application/octet-stream', data });
  const { name, args, id } = json.objectOf(functionCall);
  const called = json.asText(name, 200);
  if (called !== undefined) {
    const signature = json.asText(thoughtSignature, 1_000_000);
    parts.push({
      type: 'tool-call',
      name: called,
      arguments: { ...json.objectOf(args) },
      id: json.asId(id),
      signature,
    });
  }
  return parts;
}

function finishOf(
  said: string | undefined,
  blockReason: string | undefined,
  called: boolean,
): Finish | undefined {
  if (blockReason !== undefined) return { reason: 'blocked', detail: blockReason };
  if (said === undefined || said === 'FINISH_REASON_UNSPECIFIED') return undefined;
  const reason = json.lookUp(FINISH_REASONS, said);
  const plain = reason === undefined || reason === 'stop';
  return { reason: plain && called ? 'tool-calls' : (reason ?? 'other'), detail: said };
}
