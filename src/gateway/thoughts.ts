/** Splits reasoning from answers of models that write it into the text, as `<think>…</think>` at the start. */
import type { TextPart, ThoughtPart } from './answers.ts';

/** DeepSeek and Qwen: https://huggingface.co/deepseek-ai/DeepSeek-R1. The others are fine-tunes of them. */
const TAGS = ['think', 'thinking', 'thought', 'reasoning'] as const;

/** Accepts a text in fragments that may cut the tags. */
export function createThoughtSplitter() {
  /** Text that may be the start of a tag. */
  let pending = '';
  let tag: string | undefined;
  let isAfterThought = false;
  let isAnswer = false;

  function open(): (TextPart | ThoughtPart)[] {
    const text = pending.trimStart();
    tag = TAGS.find((name) => text.startsWith(`<${name}>`));
    if (tag !== undefined) {
      pending = text.slice(tag.length + 2);
      return split();
    }
    if (text === '' || TAGS.some((name) => `<${name}>`.startsWith(text))) return [];
    isAnswer = true;
    return flush();
  }

  function split(): (TextPart | ThoughtPart)[] {
    const closing = `</${tag}>`;
    const end = pending.indexOf(closing);
    if (end < 0) {
      // The rest may be the first half of the closing tag.
      const cut = Math.max(0, pending.length - closing.length);
      const thought = pending.slice(0, cut);
      pending = pending.slice(cut);
      return thought === '' ? [] : [{ type: 'thought', text: thought }];
    }
    const thought = pending.slice(0, end);
    pending = pending.slice(end + closing.length);
    isAfterThought = true;
    return [...(thought === '' ? [] : [{ type: 'thought' as const, text: thought }]), ...begin()];
  }

  /** The answer begins with its first visible character. */
  function begin(): (TextPart | ThoughtPart)[] {
    pending = pending.trimStart();
    isAnswer = pending !== '';
    return flush();
  }

  /** Returns the pending text at the end of the answer. */
  function flush(): (TextPart | ThoughtPart)[] {
    const text = pending;
    pending = '';
    return text === '' ? [] : [{ type: tag === undefined || isAfterThought ? 'text' : 'thought', text }];
  }

  return {
    add(text: string): (TextPart | ThoughtPart)[] {
      if (isAnswer && text !== '') return [{ type: 'text', text }];
      pending += text;
      if (isAfterThought) return begin();
      return tag === undefined ? open() : split();
    },
    flush,
  };
}
