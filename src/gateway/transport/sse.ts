import { createParser } from 'eventsource-parser';

export interface ServerSentEvent {
  /** The `event:` field; absent for the plain `message` events. */
  name?: string;
  data: string;
}

/** An event exceeds the limit. */
export class EventTooLongError extends Error {
  override readonly name = 'EventTooLongError';
}

/**
 * Decodes server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html#parsing-an-event-stream).
 * `maxEventLength` limits an event, in characters. Comments are ignored.
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
      // After an overflow, the next feed throws. `onError` would also report lines that are not fields.
      parser.feed('');
    } catch (cause) {
      throw new EventTooLongError(`an event is longer than ${maxEventLength} characters`, { cause });
    }
    const events = completed;
    completed = [];
    return events;
  };
  return {
    /** Returns the events that these bytes complete. Bytes may be cut anywhere. Throws EventTooLongError. */
    push: (bytes: Uint8Array) => feed(text.decode(bytes, { stream: true })),
    /** Returns the last event of servers that leave out the final blank line. */
    end: () => feed(`${text.decode()}\n\n`),
  };
}
