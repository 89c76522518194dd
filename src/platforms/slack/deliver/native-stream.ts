/** Writes text with Slack's streaming API, as replies in a thread. */
import type { webApi } from '@slack/bolt';
import type { Log } from '../../../core/telemetry/log.ts';
import { present } from '../../../core/util/present.ts';
import { wholeCharacters } from '../../shared/text.ts';
import { call, type SlackTools } from '../connection/client.ts';
import { isUncertain, retryAfterMs, slackErrorOf } from '../errors.ts';
import { LIMITS } from '../limits.ts';
import { breakTokens } from '../render/markdown.ts';
import { markOf } from './find-posted.ts';
import type { Post } from './post.ts';

interface OpenStream {
  readonly ts: string;
  /** The message's index in the post. */
  readonly part: number;
  readonly startedAt: number;
  /** The number of characters sent so far. */
  characters: number;
}

export function createNativeStream(now: () => number) {
  let open: OpenStream | undefined;
  /** The latest text. `sent` is the beginning of it that was streamed. */
  let last = '';
  let sent = '';

  /** Ends the open stream. Never throws, because the final write corrects the text. */
  async function stop(post: Post): Promise<void> {
    if (open === undefined) return;
    const { ts, part } = open;
    open = undefined;
    await stopStream({ channel: post.state.channel, ts, metadata: markOf(post, part) }, post.tools);
  }

  async function begin(text: string, post: Post): Promise<OpenStream> {
    const { state, address, tools } = post;
    const { web, people, rates } = tools;
    void rates.starts.slot('first');
    const part = state.parts.length;
    // Without a `ts`, the stream is searched for if Slack's answer is lost.
    state.parts[part] = {};
    const team = people.teamOf(address.person) ?? address.guild;
    const stream = {
      channel: state.channel,
      thread_ts: post.threadOf(1) ?? '',
      recipient_user_id: address.person,
      ...present({ recipient_team_id: team }),
      markdown_text: text,
    };
    const start = () => {
      post.beforeWriting?.();
      return web.chat.startStream(stream);
    };
    try {
      const { ts = '' } = await call(start, { repeatable: false, rate: rates.starts }, tools);
      state.parts[part] = { ts };
      return { ts, part, startedAt: now(), characters: text.length };
    } catch (error) {
      if (!isUncertain(error)) state.parts.splice(part);
      throw error;
    }
  }

  /** Appends a piece. Starts a stream if none is open or Slack ended it early. */
  async function add(text: string, post: Post): Promise<void> {
    const { state, tools } = post;
    if (open !== undefined) {
      const piece = { channel: state.channel, ts: open.ts, markdown_text: text };
      const append = () => {
        post.beforeWriting?.();
        return tools.web.chat.appendStream(piece);
      };
      try {
        await call(append, { repeatable: false, rate: tools.rates.appends }, tools);
        open.characters += text.length;
        return;
      } catch (error) {
        if (slackErrorOf(error) !== 'message_not_in_streaming_state') throw error;
      }
    }
    open = undefined;
    open = await begin(text, post);
  }

  return {
    stop,

    /** Appends new, stable text. Returns false if the text must be written by edits. Throws the SDK's errors. */
    async write(text: string, post: Post): Promise<boolean> {
      const stable = stableText(last, text);
      last = text;
      if (stable.length <= sent.length) return text.startsWith(sent);
      if (!stable.startsWith(sent)) return false;
      try {
        while (sent.length < stable.length) {
          if (open !== undefined && isOver(open)) await stop(post);
          // New text waits until another stream may start. The final write does not wait.
          if (open === undefined && !post.tools.rates.starts.isIdle()) return true;
          const piece = nextPiece(stable.slice(sent.length), freeIn(open));
          await add(breakTokens(piece), post);
          sent += piece;
        }
        return true;
      } catch (error) {
        // Streaming continues after a Retry-After. After other errors the streamed text is unknown, or streaming is
        // unavailable.
        if (retryAfterMs(error) !== undefined && open === undefined) throw error;
        const { log } = post.tools;
        log.info({ err: error, code: slackErrorOf(error) }, 'Falling back from streaming to edits');
        return false;
      }
    },
  };

  /** True if the stream is nearly full or has reached Slack's age limit. */
  function isOver(stream: OpenStream): boolean {
    return freeIn(stream) < MIN_FREE || now() - stream.startedAt > LIMITS.streamMs;
  }
}

/** In characters. With less space left, another stream starts. */
const MIN_FREE = 200;
/** Breaking a token adds one character to at least two. */
const MAX_GROWTH = 1.5;

function freeIn(stream: OpenStream | undefined): number {
  return LIMITS.streamText - (stream?.characters ?? 0);
}

/** The next piece that fits, preferably up to a line break. */
function nextPiece(rest: string, free: number): string {
  const limit = Math.floor(free / MAX_GROWTH);
  if (rest.length <= limit) return rest;
  const line = rest.lastIndexOf('\n', limit - 1) + 1;
  const piece = rest.slice(0, line > limit / 2 ? line : wholeCharacters(rest, limit));
  // A token cut in two would not be recognised and broken.
  return piece.replace(/(?<!^)<[^\s<>]{0,99}$/, '');
}

/** Ends a stream. Never throws, because Slack ends it eventually. */
export async function stopStream(
  stream: Parameters<webApi.WebClient['chat']['stopStream']>[0],
  tools: SlackTools & { readonly log: Log },
): Promise<void> {
  try {
    await call(() => tools.web.chat.stopStream(stream), { repeatable: true }, tools);
  } catch (error) {
    if (slackErrorOf(error) === 'message_not_in_streaming_state') return;
    tools.log.warn({ err: error }, 'Could not end a stream');
  }
}

/** Markup characters. Their rendering may change as text is added. */
const MARKUP = /[*_~`[\]!\\<&|]/;
/** The start of a line that may become a list, a heading, a quote or a fence. */
const FIRST_CHARACTERS = /^[ \t]*(?:(?:[-=_*+>#`~|]+|\d{1,9}[.)]?)[ \t]*)?$/;

/**
 * The stable beginning of a growing `text`: whole lines that `before` has too, and whole words of the last line if it has no
 * markup. Words of a paragraph without markup are stable even if `before` does not have them.
 */
export function stableText(before: string, text: string): string {
  const paragraph = text.slice(Math.max(0, text.lastIndexOf('\n\n')));
  const same = MARKUP.test(paragraph) ? commonPrefix(before, text) : withoutLastBreak(text);
  const line = same.lastIndexOf('\n') + 1;
  const last = same.slice(line);
  const words = last.slice(0, last.lastIndexOf(' ') + 1);
  return MARKUP.test(last) || FIRST_CHARACTERS.test(words)
    ? same.slice(0, line)
    : same.slice(0, line) + words;
}

/** Leaves out a trailing line break until the next line has text. */
function withoutLastBreak(text: string): string {
  const trimmed = text.trimEnd();
  return text.includes('\n', trimmed.length) ? trimmed : text;
}

function commonPrefix(left: string, right: string): string {
  const length = Math.min(left.length, right.length);
  let index = 0;
  while (index < length && left.charCodeAt(index) === right.charCodeAt(index)) index += 1;
  return right.slice(0, index);
}
