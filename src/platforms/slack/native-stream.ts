/** Text written by Slack's own streaming, as replies in the thread of a message of ours. */
import type { webApi } from '@slack/bolt';
import type { Log } from '../../command.ts';
import { call, type SlackTools } from './client.ts';
import { isUncertain, retryAfterMs, slackErrorOf } from './errors.ts';
import { wholeCharacters } from './escape.ts';
import { LIMITS } from './limits.ts';
import { breakTokens } from './markdown.ts';
import type { Post } from './post.ts';
import { stableText } from './stable-text.ts';

export interface NativeStream {
  /** Adds what is new and will stay. False when this text has to be written another way from now on. Throws the SDK's errors. */
  write(text: string, post: Post): Promise<boolean>;
  /** Ends what is open; never throws, since the last writing of the text mends what is left. */
  stop(post: Post): Promise<void>;
}

interface OpenStream {
  readonly streamer: ReturnType<webApi.WebClient['chatStream']>;
  /** Its place among the messages of the post. */
  readonly part: number;
  readonly startedAt: number;
  /** Given to it so far. */
  characters: number;
}

export function createNativeStream({
  now,
  log,
}: {
  readonly now: () => number;
  readonly log: Log;
}): NativeStream {
  let open: OpenStream | undefined;
  /** The text as it was last; its beginning `sent` was given to streams. */
  let last = '';
  let sent = '';

  /** Slack has ended it already, or was asked to. */
  async function close({ state, tools }: Post): Promise<void> {
    const ts = open === undefined ? undefined : state.parts[open.part]?.ts;
    open = undefined;
    if (ts !== undefined) await stopStream({ channel: state.channel, ts }, { ...tools, log });
  }

  async function begin(post: Post): Promise<OpenStream> {
    const { state, address, tools } = post;
    const part = state.parts.length;
    // Remembered first: a stream whose beginning is not heard of is looked for.
    state.parts[part] = {};
    await post.remember();
    const streamer = tools.web.chatStream({
      channel: state.channel,
      thread_ts: state.parts[0]?.ts ?? '',
      recipient_user_id: address.person,
      ...(address.guild === undefined ? {} : { recipient_team_id: address.guild }),
      buffer_size: 1,
    });
    return { streamer, part, startedAt: now(), characters: 0 };
  }

  /** Adds a piece; begins a stream when there is none. */
  async function append(piece: string, post: Post): Promise<void> {
    const { state } = post;
    const stream = open ?? (await begin(post));
    let given = '';
    try {
      await call(
        () => {
          // The helper keeps what it could not send, so a second try brings nothing new.
          const text = given === '' ? piece : '';
          given = piece;
          return stream.streamer.append({ markdown_text: text });
        },
        { repeatable: false },
        post.tools,
      );
    } catch (error) {
      if (open === undefined && !isUncertain(error)) {
        state.parts.splice(stream.part);
        await post.remember();
      }
      throw error;
    }
    stream.characters += piece.length;
    if (open !== undefined) return;
    open = stream;
    const { ts } = stream.streamer;
    if (ts !== undefined) state.parts[stream.part] = { ts };
    await post.remember();
  }

  async function add(piece: string, post: Post): Promise<void> {
    try {
      await append(piece, post);
    } catch (error) {
      if (open === undefined || slackErrorOf(error) !== 'message_not_in_streaming_state') throw error;
      // Slack ended it before its time: what it holds stays, and another goes on.
      open = undefined;
      await append(piece, post);
    }
  }

  return {
    async write(text, post) {
      const stable = stableText(last, text);
      last = text;
      if (stable.length <= sent.length) return text.startsWith(sent);
      if (!stable.startsWith(sent)) return false;
      try {
        while (sent.length < stable.length) {
          if (open !== undefined && isOver(open)) await close(post);
          const piece = nextPiece(stable.slice(sent.length), roomIn(open));
          await add(breakTokens(piece), post);
          sent += piece;
        }
        return true;
      } catch (error) {
        // With more patience it goes on; after anything else it is not known what stands, or Slack streams not here.
        if (retryAfterMs(error) !== undefined && open === undefined) throw error;
        log.info({ err: error, code: slackErrorOf(error) }, 'A text is written by edits instead of a stream');
        return false;
      }
    },
    stop: close,
  };

  /** Nearly full, or as old as Slack lets one become. */
  function isOver(stream: OpenStream): boolean {
    return roomIn(stream) < LEAST_ROOM || now() - stream.startedAt > LIMITS.streamMs;
  }
}

/** Characters; with less, another stream begins. */
const LEAST_ROOM = 200;
/** Every token that is broken, of two characters at least, grows by one. */
const GROWTH = 1.5;

function roomIn(stream: OpenStream | undefined): number {
  return LIMITS.streamText - (stream?.characters ?? 0);
}

/** What fits, to the end of a line where there is one near. */
function nextPiece(rest: string, room: number): string {
  const most = Math.floor(room / GROWTH);
  if (rest.length <= most) return rest;
  const line = rest.lastIndexOf('\n', most - 1) + 1;
  const piece = rest.slice(0, line > most / 2 ? line : wholeCharacters(rest, most));
  // A token that is cut in two would not be seen, and so not be broken.
  return piece.replace(/(?<!^)<[a-z+.-]*$/i, '');
}

/** Ends a stream, whoever began it. Never throws: what could not be ended ends by itself. */
export async function stopStream(
  { channel, ts }: { readonly channel: string; readonly ts: string },
  tools: SlackTools & { readonly log: Log },
): Promise<void> {
  try {
    await call(() => tools.web.chat.stopStream({ channel, ts }), { repeatable: true }, tools);
  } catch (error) {
    if (slackErrorOf(error) === 'message_not_in_streaming_state') return;
    tools.log.warn({ err: error }, 'A stream could not be ended');
  }
}
