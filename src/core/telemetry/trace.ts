/**
 * What operators can follow a request by: spans and their attributes, as data. Conventions: OpenTelemetry's at version 1.41.0,
 * https://github.com/open-telemetry/semantic-conventions/blob/v1.41.0/docs/gen-ai/gen-ai-spans.md
 */

interface AttributeDeclaration {
  readonly type: 'string' | 'string[]' | 'int' | 'double' | 'boolean';
  readonly help: string;
}

/** Every attribute. Values are numbers, ids of this bot's own, or words of a short list; never what people or models wrote. */
export const ATTRIBUTES = {
  'minstrel.platform': {
    type: 'string',
    help: 'The chat: discord, slack, terminal, or web (the playground).',
  },
  'minstrel.command': { type: 'string', help: 'The command, or the one that a button belongs to.' },
  'minstrel.action': { type: 'string', help: 'The button that was pressed.' },
  'minstrel.outcome': {
    type: 'string',
    help: 'What came of a command: accepted (a job), message or form.',
  },
  'minstrel.job': { type: 'string', help: 'The id of the job, as in the log.' },
  'minstrel.route': { type: 'string', help: 'The work of the job, such as music.generate or answer.' },
  'minstrel.state': { type: 'string', help: 'The state that the step found the job in.' },
  'minstrel.state.after': { type: 'string', help: 'The state that the step left the job in.' },
  'minstrel.failure': { type: 'string', help: 'Why the job failed: a code, as in the log.' },
  'minstrel.queued': { type: 'boolean', help: 'Whether the job had to wait in line.' },
  'minstrel.event': {
    type: 'string',
    help: 'What a callback told: progressed, completed, failed, lyricsWritten, or none.',
  },
  'minstrel.operation': { type: 'string', help: 'What was done with a file or a message.' },
  'minstrel.media.kind': { type: 'string', help: 'What the file had to be, such as audio.' },
  'minstrel.media.bytes': { type: 'int', help: 'The size of the file.' },
  'minstrel.media.type': { type: 'string', help: 'What the file turned out to be, such as audio/mpeg.' },
  'minstrel.files': { type: 'int', help: 'How many files the message has.' },
  'minstrel.gateway.route': { type: 'string', help: 'The route of the gateway, as in the log.' },
  'minstrel.gateway.tries': { type: 'int', help: 'How often the request was sent.' },
  'gen_ai.operation.name': { type: 'string', help: 'chat or generate_content.' },
  'gen_ai.provider.name': {
    type: 'string',
    help: 'Always gateway: whose model it is, only the gateway knows.',
  },
  'gen_ai.request.model': { type: 'string', help: 'The model, if the gateway lists it.' },
  'gen_ai.request.max_tokens': { type: 'int', help: 'How long the answer may become.' },
  'gen_ai.request.temperature': { type: 'double', help: 'How freely the model answers.' },
  'gen_ai.request.stream': { type: 'boolean', help: 'True where the answer is streamed.' },
  'gen_ai.output.type': { type: 'string', help: 'What is asked for: text, image, audio or video.' },
  'gen_ai.response.model': { type: 'string', help: 'The model that answered, if the gateway lists it.' },
  'gen_ai.response.finish_reasons': {
    type: 'string[]',
    help: 'Why the answer ended: stop, length, blocked, refused, tool-calls or other.',
  },
  'gen_ai.response.time_to_first_chunk': {
    type: 'double',
    help: 'Seconds until the first words of a stream.',
  },
  'gen_ai.usage.input_tokens': { type: 'int', help: 'Tokens of the question.' },
  'gen_ai.usage.output_tokens': { type: 'int', help: 'Tokens of the answer.' },
  'http.response.status_code': { type: 'int', help: "The status of the gateway's last response." },
  'server.address': { type: 'string', help: 'The host of the gateway.' },
  'server.port': { type: 'int', help: 'Its port.' },
  'error.type': { type: 'string', help: 'Why it failed: the code of the error, or its class.' },
} as const satisfies Record<string, AttributeDeclaration>;

interface SpanDeclaration {
  /** What backends show, with values of attributes in braces. Few in number, so that spans can be grouped by it. */
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client' | 'consumer';
  readonly help: string;
  /** Besides `error.type`, which every span has that failed. */
  readonly attributes: readonly (keyof typeof ATTRIBUTES)[];
}

/** Every span. docs/operating/traces.md has them in a table that a test holds equal. */
export const SPANS = {
  command: {
    name: 'command {minstrel.command}',
    kind: 'server',
    help: 'From a command, a button or a sent form to what is said at once. The root of its trace.',
    attributes: [
      'minstrel.platform',
      'minstrel.command',
      'minstrel.action',
      'minstrel.outcome',
      'minstrel.job',
    ],
  },
  queue: {
    name: 'queue',
    kind: 'internal',
    help: 'From a job that was accepted to its request to the gateway.',
    attributes: ['minstrel.job', 'minstrel.route', 'minstrel.queued'],
  },
  step: {
    name: 'step {minstrel.state}',
    kind: 'internal',
    help: 'One step of a job, from its record to its record, in whichever process runs it.',
    attributes: [
      'minstrel.job',
      'minstrel.route',
      'minstrel.state',
      'minstrel.state.after',
      'minstrel.failure',
    ],
  },
  inference: {
    name: '{gen_ai.operation.name} {gen_ai.request.model}',
    kind: 'client',
    help: 'A call to the gateway that has something made, with all its tries; a stream until its end.',
    attributes: [
      'minstrel.gateway.route',
      'minstrel.gateway.tries',
      'gen_ai.operation.name',
      'gen_ai.provider.name',
      'gen_ai.request.model',
      'gen_ai.request.max_tokens',
      'gen_ai.request.temperature',
      'gen_ai.request.stream',
      'gen_ai.output.type',
      'gen_ai.response.model',
      'gen_ai.response.finish_reasons',
      'gen_ai.response.time_to_first_chunk',
      'gen_ai.usage.input_tokens',
      'gen_ai.usage.output_tokens',
      'http.response.status_code',
      'server.address',
      'server.port',
    ],
  },
  read: {
    name: 'read {minstrel.gateway.route}',
    kind: 'client',
    help: 'A call to the gateway that only reads: a poll for a video, a count of tokens.',
    attributes: [
      'minstrel.gateway.route',
      'minstrel.gateway.tries',
      'http.response.status_code',
      'server.address',
      'server.port',
    ],
  },
  wait: {
    name: 'wait',
    kind: 'internal',
    help: 'From the request to the gateway to its result, where that comes by callback or poll.',
    attributes: ['minstrel.job', 'minstrel.route'],
  },
  callback: {
    name: 'callback',
    kind: 'consumer',
    help: 'From a callback that was stored to the step that read it.',
    attributes: ['minstrel.job', 'minstrel.event'],
  },
  media: {
    name: 'media {minstrel.operation}',
    kind: 'internal',
    help: 'A file that is fetched and kept (keep), kept (keepBytes, keepText), tagged (tag) or packed (archive).',
    attributes: ['minstrel.operation', 'minstrel.media.kind', 'minstrel.media.bytes', 'minstrel.media.type'],
  },
  delivery: {
    name: '{minstrel.platform} {minstrel.operation}',
    kind: 'client',
    help: 'A message that is shown, streamed, retracted or sent to a person alone.',
    attributes: ['minstrel.platform', 'minstrel.operation', 'minstrel.files'],
  },
} as const satisfies Record<string, SpanDeclaration>;

export type SpanName = keyof typeof SPANS;
export type AttributeName = keyof typeof ATTRIBUTES;
export type AttributeValue = string | number | boolean | readonly string[];

interface ValueOf {
  readonly string: string;
  readonly 'string[]': readonly string[];
  readonly int: number;
  readonly double: number;
  readonly boolean: boolean;
}

/** What is undefined is left out. */
export type SpanAttributes<Name extends SpanName> = {
  readonly [Attribute in (typeof SPANS)[Name]['attributes'][number]]?:
    | ValueOf[(typeof ATTRIBUTES)[Attribute]['type']]
    | undefined;
};

export interface SpanStart<Name extends SpanName> {
  readonly span: Name;
  readonly attributes: SpanAttributes<Name>;
  /** A trace context that was stored, as W3C `traceparent`; `none` for a trace of its own. The span around it unless said. */
  readonly parent?: string | undefined;
}

export interface Span<Name extends SpanName> {
  set(attributes: SpanAttributes<Name>): void;
}

/** A span that its owner ends. */
export interface OpenSpan<Name extends SpanName> extends Span<Name> {
  /** Runs work inside of the span. */
  within<Result>(work: () => Result): Result;
  /** Seconds since it began. */
  seconds(): number;
  /** Once; later calls do nothing. With an error, the span has failed. */
  end(error?: unknown): void;
}

/** Tells of spans. Only where operators ask for traces; returns at once, and throws only what the work throws. */
export interface Tracer {
  /** Runs work in a span that ends with it. */
  run<Name extends SpanName, Result>(
    start: SpanStart<Name>,
    work: (span: Span<Name>) => Promise<Result>,
  ): Promise<Result>;
  begin<Name extends SpanName>(start: SpanStart<Name>): OpenSpan<Name>;
  /** A span that is over: its times are in milliseconds since the epoch. */
  record<Name extends SpanName>(
    start: SpanStart<Name>,
    times: { readonly from: number; readonly to: number },
  ): void;
  /** Adds to the span around it what that span declares. */
  annotate(attributes: { readonly [Attribute in AttributeName]?: AttributeValue | undefined }): void;
  /** The trace context to store or to send, as W3C `traceparent`; undefined outside of every span. */
  traceparent(): string | undefined;
}
