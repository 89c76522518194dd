/** What is measured for operators, by Prometheus' conventions: https://prometheus.io/docs/practices/naming. */

/** Between two times in milliseconds. */
export const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1000;

export interface Series {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Of bounded values, and never names or ids of people. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram, in its unit. */
  readonly buckets?: readonly number[];
}

const MILLISECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
const SECONDS = [0.1, 0.3, 1, 3, 10, 30, 60, 120, 300];
const MINUTES = [1, 3, 10, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600];

/** Every series of Minstrel's own. docs/operating/monitoring.md has them in a table that a test holds equal. */
export const SERIES = {
  minstrel_jobs: {
    type: 'gauge',
    help: 'Open jobs of all replicas, by what they are at.',
    labels: ['family', 'state'],
  },
  minstrel_oldest_job_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest open job of all replicas.',
    labels: ['state'],
  },
  minstrel_queue_length: {
    type: 'gauge',
    help: 'Jobs of all replicas that wait in line for the gateway.',
    labels: ['family'],
  },
  minstrel_acknowledged_seconds: {
    type: 'histogram',
    help: 'From an invocation that arrived to the end of its acknowledgement.',
    labels: ['platform'],
    buckets: MILLISECONDS,
  },
  minstrel_submitted_seconds: {
    type: 'histogram',
    help: 'From a job that was accepted to its request to the gateway.',
    labels: ['family'],
    buckets: SECONDS,
  },
  minstrel_first_words_seconds: {
    type: 'histogram',
    help: 'From a question that was accepted to the first words of its answer.',
    labels: ['dialect'],
    buckets: SECONDS,
  },
  minstrel_ended_seconds: {
    type: 'histogram',
    help: 'From a job that was accepted to its end that people were told, by how it ended.',
    labels: ['family', 'state'],
    buckets: MINUTES,
  },
  minstrel_undelivered_total: {
    type: 'counter',
    help: 'Results that could be shown nowhere, and wait under /jobs.',
    labels: ['platform'],
  },
  minstrel_callbacks_total: {
    type: 'counter',
    help: 'Callbacks of the gateway: stored, unknown-job, unavailable (asked to come again), forged.',
    labels: ['outcome'],
  },
  minstrel_callback_read_seconds: {
    type: 'histogram',
    help: 'From a callback that was stored to the run of its job that read it.',
    labels: [],
    buckets: MILLISECONDS,
  },
  minstrel_gateway_request_seconds: {
    type: 'histogram',
    help: 'Requests to the gateway until the answer, or its first byte; code is ok, or why it failed.',
    labels: ['route', 'status', 'code'],
    buckets: SECONDS,
  },
  minstrel_gateway_retries_total: {
    type: 'counter',
    help: 'Reads that were sent again because the one before failed. Paid requests are sent again by their jobs.',
    labels: ['route'],
  },
  minstrel_gateway_tokens_total: {
    type: 'counter',
    help: 'Tokens of answers as the gateway counts them; direction is input or output.',
    labels: ['model', 'direction'],
  },
  minstrel_rate_limits_total: {
    type: 'counter',
    help: 'Refusals because of too many requests; by is the gateway or a chat.',
    labels: ['by'],
  },
  minstrel_platform_requests_total: {
    type: 'counter',
    help: 'Requests to a chat, by its method or route, and by status.',
    labels: ['platform', 'method', 'status'],
  },
  minstrel_platform_ready: {
    type: 'gauge',
    help: 'Whether the chat is connected (1) or not (0).',
    labels: ['platform'],
  },
  minstrel_platform_connections: {
    type: 'gauge',
    help: 'Open connections to a chat: shards, sockets.',
    labels: ['platform'],
  },
  minstrel_platform_reconnects_total: {
    type: 'counter',
    help: 'Connections to a chat that ended and had to be opened again.',
    labels: ['platform'],
  },
  minstrel_media_kept_bytes_total: {
    type: 'counter',
    help: 'Bytes of files that were kept, by extension.',
    labels: ['extension'],
  },
  minstrel_media_pruned_bytes_total: {
    type: 'counter',
    help: 'Bytes of kept files that were removed because of age or room.',
    labels: [],
  },
  minstrel_storage_seconds: {
    type: 'histogram',
    help: 'Operations of storage; outcome is ok, or the code of the failure.',
    labels: ['operation', 'outcome'],
    buckets: MILLISECONDS,
  },
  minstrel_schedule_lateness_seconds: {
    type: 'histogram',
    help: 'How much later than its time a job began to run.',
    labels: [],
    buckets: MILLISECONDS,
  },
  minstrel_leases_lost_total: {
    type: 'counter',
    help: 'Runs that found that another replica may have taken over.',
    labels: [],
  },
  minstrel_usage_requests_total: {
    type: 'counter',
    help: 'Requests whose result was made, by family and model.',
    labels: ['platform', 'family', 'model'],
  },
  minstrel_usage_units_total: {
    type: 'counter',
    help: 'What these requests cost, in the units of USAGE_COSTS.',
    labels: ['platform', 'family', 'model'],
  },
  minstrel_feedback_total: {
    type: 'counter',
    help: 'What people said of answers; judgement is good or bad. One that was changed counts again.',
    labels: ['platform', 'model', 'judgement'],
  },
  minstrel_limit_refusals_total: {
    type: 'counter',
    help: 'Requests that a limit refused, by what the limit is on.',
    labels: ['platform', 'scope', 'family'],
  },
  minstrel_access_denials_total: {
    type: 'counter',
    help: 'Requests by people who may not use the command there.',
    labels: ['platform', 'command'],
  },
} as const satisfies Record<`minstrel_${string}`, Series>;

export type SeriesName = keyof typeof SERIES;
type Labels<Name extends SeriesName> = Readonly<Record<(typeof SERIES)[Name]['labels'][number], string>>;

/**
 * Counts (by 1 unless said), observes a duration in seconds, or sets a gauge. Returns at once and never throws.
 */
export type Measure = <Name extends SeriesName>(name: Name, labels: Labels<Name>, value?: number) => void;
