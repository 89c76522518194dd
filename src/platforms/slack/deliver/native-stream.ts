/** Text written by Slack's own streaming: replies in a thread, ours or that of the people. */
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
  /** Its index among the messages of the post. */
  readonly part: number;
  readonly startedAt: number;
  /** Given to it so far. */
  characters: number;
}

export function createNativeStream(now: () => number) {
  let open: OpenStream | undefined;
  /** The text as it was last; its beginning `sent` was given to streams. */
  let last = '';
  let sent = '';

  /** Ends the open stream. Never throws: the last write of the text corrects what is left. */
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
    // When Slack's answer is lost, the stream is searched for.
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

  /** Adds a piece; begins a stream where there is none, or where Slack ended it early: its text stays. */
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

    /** Adds what is new and will not change. False when the text must be written by edits. Throws the SDK's errors. */
    async write(text: string, post: Post): Promise<boolean> {
      const stable = stableText(last, text);
      last = text;
      if (stable.length <= sent.length) return text.startsWith(sent);
      if (!stable.startsWith(sent)) return false;
      try {
        while (sent.length < stable.length) {
          if (open !== undefined && isOver(open)) await stop(post);
          // What is new waits until another stream may begin, and the end of the text does not wait for that.
          if (open === undefined && !post.tools.rates.starts.isIdle()) return true;
          const piece = nextPiece(stable.slice(sent.length), freeIn(open));
          await add(breakTokens(piece), post);
          sent += piece;
        }
        return true;
      } catch (error) {
        // After a Retry-After it goes on. After anything else its text is unknown, or Slack does not stream here.
        if (retryAfterMs(error) !== undefined && open === undefined) throw error;
        const { log } = post.tools;
        log.info({ err: error, code: slackErrorOf(error) }, 'Falling back from streaming to edits');
        return false;
      }
    },
  };

  /** Nearly full, or as old as Slack lets one become. */
  function isOver(stream: OpenStream): boolean {
    return freeIn(stream) < LEAST_FREE || now() - stream.startedAt > LIMITS.streamMs;
  }
}

/** Characters. With less, another stream begins. */
const LEAST_FREE = 200;
/** Each broken token has at least two characters and grows by one. */
const GROWTH = 1.5;

function freeIn(stream: OpenStream | undefined): number {
  return LIMITS.streamText - (stream?.characters ?? 0);
}

/** What fits, to the end of a line where there is one near. */
function nextPiece(rest: string, free: number): string {
  const most = Math.floor(free / GROWTH);
  if (rest.length <= most) return rest;
  const line = rest.lastIndexOf('\n', most - 1) + 1;
  const piece = rest.slice(0, line > most / 2 ? line : wholeCharacters(rest, most));
  // A token that is cut in two would not be recognised, and so not be broken.
  return piece.replace(/(?<!^)<[^\s<>]{0,99}$/, '');
}

/** Ends a stream. Never throws: Slack ends it by itself in the end. */
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

/** Characters of markup, which may look different when more text has come. */
const MARKUP = /[*_~`[\]!\\<&|]/;
/** The first characters of a line may make it a list, a heading, a quote or a fence. */
const FIRST_CHARACTERS = /^[ \t]*(?:(?:[-=_*+>#`~|]+|\d{1,9}[.)]?)[ \t]*)?$/;

/**
 * The beginning of a growing `text` that will not change any more: whole lines that are the same as `before`, and whole
 * words of the last line, as long as nothing in it could be markup. A paragraph without any has nothing to be closed, so its
 * words need not have been there before.
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

/** The first signs of a line take its line break with them until more of it has come. */
function withoutLastBreak(text: string): string {
  const trimmed = text.trimEnd();
  return text.includes('\n', trimmed.length) ? trimmed : text;
}

function commonPrefix(left: string, right: string): string {
  const most = Math.min(left.length, right.length);
  let at = 0;
  while (at < most && left.charCodeAt(at) === right.charCodeAt(at)) at += 1;
  return right.slice(0, at);
}
