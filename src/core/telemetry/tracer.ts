/** Traces for operators, as the parts of the bot see them. */

/** Numbers, ids of this bot's own, or words of a short list; never what people or models wrote. Undefined is left out. */
export type SpanAttributes = Readonly<Record<`minstrel.${string}`, string | number | boolean | undefined>>;

export interface Span {
  set(attributes: SpanAttributes): void;
}

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
  /** A stored W3C `traceparent`, or `none` for a new trace; the span around it unless given. */
  readonly parent?: string | undefined;
}

export interface Tracer {
  /** Runs the work in a span, which fails when the work rejects. */
  run<Result>(start: SpanStart, work: (span: Span) => Promise<Result>): Promise<Result>;
  /** A request to the gateway that ended now, as a child of the span around it. `code` is `ok` or why it failed. */
  recordRequest(request: {
    readonly route: string;
    readonly code: string;
    readonly status: number | undefined;
    readonly milliseconds: number;
    readonly tries: number;
  }): void;
  /** The trace context to store, as W3C `traceparent`; undefined outside of every span. */
  traceparent(): string | undefined;
}
