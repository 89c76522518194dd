/** Traces for operators. */

/** Numbers, our own ids, or keywords; never text from people or models. Undefined values are dropped. */
export type SpanAttributes = Readonly<Record<`minstrel.${string}`, string | number | boolean | undefined>>;

export interface Span {
  set(attributes: SpanAttributes): void;
}

export interface SpanStart {
  readonly name: string;
  readonly attributes: SpanAttributes;
  /** A stored W3C `traceparent`, or `none` for a new trace; the enclosing span by default. */
  readonly parent?: string | undefined;
}

export interface Tracer {
  /** Runs the work in a span, which fails if the work rejects. */
  run<Result>(start: SpanStart, work: (span: Span) => Promise<Result>): Promise<Result>;
  /** Records a gateway request that has just ended, as a child of the enclosing span. `code` is `ok` or the error code. */
  recordRequest(request: {
    readonly route: string;
    readonly code: string;
    readonly status: number | undefined;
    readonly milliseconds: number;
    readonly tries: number;
  }): void;
  /** The current trace context as W3C `traceparent`; undefined outside of a span. */
  traceparent(): string | undefined;
}
