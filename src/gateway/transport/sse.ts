import { createParser } from 'eventsource-parser';

export interface ServerSentEvent {
  /** The `event:` field; absent for the plain `message` events. */
  name?: string;
  data: string;
}

/** An event, or a line of one, grew past the bound. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError';
}

/**
 * Server-sent events out of bytes (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
 * `maxEventLength` bounds one event, in characters; comments are dropped as they come.
 */
export function createEventDecoder(maxEventLength: number) {
  const text = new TextDecoder();
  let completed: ServerSentEvent[] = [];
  const parser = createParser({
    maxBufferSize: maxEventLength,
    onEvent: ({ event, data }) => completed.push(event === undefined ? { data } : { name: event, data }),
  });
  const feed = (chunk: string) => {
    try {
      parser.feed(chunk);
      // After an overflow the parser takes nothing more. Its `onError` would make an error of every line that is no field.
      parser.feed('');
    } catch (cause) {
      throw new EventTooLongError(`an event is longer than ${maxEventLength} characters`, { cause });
    }
    const events = completed;
    completed = [];
    return events;
  };
  return {
    /** The events that these bytes complete. Bytes may be cut anywhere. Throws EventTooLongError. */
    push: (bytes: Uint8Array) => feed(text.decode(bytes, { stream: true })),
    /** The event that the end of the stream completes: some servers leave out the last blank line. */
    end: () => feed(`${text.decode()}\n\n`),
  };
}
