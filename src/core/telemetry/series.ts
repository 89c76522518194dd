/** Metrics for operators, named by the conventions of Prometheus: https://prometheus.io/docs/practices/naming. */

/** Seconds between two times in milliseconds. */
export const secondsBetween = (from: number, to: number): number => Math.max(0, to - from) / 1000;

export interface Series {
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Values must be bounded, and never names or ids of people. */
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in its unit. */
  readonly buckets?: readonly number[];
}

const MILLISECONDS = [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10];
const SECONDS = [0.1, 0.3, 1, 3, 10, 30, 60, 120, 300];
const MINUTES = [1, 3, 10, 30, 60, 120, 300, 600, 1800, 3600, 4 * 3600, 24 * 3600];

/** All metrics of Minstrel. A test compares them with the table in docs/operating/monitoring.md. */
export const SERIES = {
  minstrel_build_info: {
    type: 'gauge',
    help: 'Always 1. Version of Minstrel and of Node.js.',
    labels: ['version', 'node'],
  },
  minstrel_jobs: {
    type: 'gauge',
    help: 'Open jobs across all replicas, by state.',
    labels: ['family', 'state'],
  },
  minstrel_oldest_job_age_seconds: {
    type: 'gauge',
    help: 'Age of the oldest open job across all replicas.',
    labels: ['state'],
  },
  minstrel_queue_length: {
    type: 'gauge',
    help: 'Jobs waiting in the queue for the gateway, across all replicas.',
    labels: ['family'],
  },
  minstrel_acknowledged_seconds: {
    type: 'histogram',
    help: 'Time from receiving an invocation to acknowledging it.',
    labels: ['platform'],
    buckets: MILLISECONDS,
  },
  minstrel_submitted_seconds: {
    type: 'histogram',
    help: 'Time from accepting a job to submitting it to the gateway.',
    labels: ['family'],
    buckets: SECONDS,
  },
  minstrel_first_words_seconds: {
    type: 'histogram',
    help: 'Time from accepting a question to the first words of its answer.',
    labels: ['dialect'],
    buckets: SECONDS,
  },
  minstrel_ended_seconds: {
    type: 'histogram',
    help: 'Time from accepting a job to reporting its end in chat, by final state.',
    labels: ['family', 'state'],
    buckets: MINUTES,
  },
  minstrel_undelivered_total: {
    type: 'counter',
    help: 'Undelivered results waiting in /jobs.',
    labels: ['platform'],
  },
  minstrel_callbacks_total: {
    type: 'counter',
    help: 'Callbacks from the gateway. The label outcome is stored, unknown-job, unavailable (the gateway was asked to retry) or forged.',
    labels: ['outcome'],
  },
  minstrel_callback_read_seconds: {
    type: 'histogram',
    help: 'Time from storing a callback to running its job with it.',
    labels: [],
    buckets: MILLISECONDS,
  },
  minstrel_gateway_request_seconds: {
    type: 'histogram',
    help: 'Time from a gateway request to its response, or to the first byte of a stream. The label code is ok or the error code.',
    labels: ['route', 'status', 'code'],
    buckets: SECONDS,
  },
  minstrel_gateway_retries_total: {
    type: 'counter',
    help: 'Reads retried after a failure. Paid requests are retried by their jobs and not counted here.',
    labels: ['route'],
  },
  minstrel_gateway_tokens_total: {
    type: 'counter',
    help: 'Tokens of answers, as reported by the gateway. The label direction is input or output.',
    labels: ['model', 'direction'],
  },
  minstrel_rate_limits_total: {
    type: 'counter',
    help: 'Rate limit responses. The label by is the gateway or a chat platform.',
    labels: ['by'],
  },
  minstrel_platform_requests_total: {
    type: 'counter',
    help: 'Requests to a chat platform, by method or route and by status.',
    labels: ['platform', 'method', 'status'],
  },
  minstrel_platform_ready: {
    type: 'gauge',
    help: '1 if the chat platform is connected, 0 if not.',
    labels: ['platform'],
  },
  minstrel_platform_connections: {
    type: 'gauge',
    help: 'Open connections to a chat platform, such as shards or sockets.',
    labels: ['platform'],
  },
  minstrel_platform_reconnects_total: {
    type: 'counter',
    help: 'Reconnects to a chat platform.',
    labels: ['platform'],
  },
  minstrel_media_kept_bytes_total: {
    type: 'counter',
    help: 'Bytes of files stored, by extension.',
    labels: ['extension'],
  },
  minstrel_media_pruned_bytes_total: {
    type: 'counter',
    help: 'Bytes of stored files deleted because of their age or the quota.',
    labels: [],
  },
  minstrel_media_bytes: {
    type: 'gauge',
    help: 'Bytes of all stored files, counted about every ten minutes. On a shared bucket, every replica reports the same files.',
    labels: [],
  },
  minstrel_media_quota_bytes: {
    type: 'gauge',
    help: 'Bytes of files that MEDIA_QUOTA_MB allows.',
    labels: [],
  },
  minstrel_disk_free_bytes: {
    type: 'gauge',
    help: 'Free bytes on the disk of DATA_DIR.',
    labels: [],
  },
  minstrel_disk_size_bytes: {
    type: 'gauge',
    help: 'Size of the disk of DATA_DIR in bytes.',
    labels: [],
  },
  minstrel_storage_seconds: {
    type: 'histogram',
    help: 'Duration of storage operations. The label outcome is ok or the error code.',
    labels: ['operation', 'outcome'],
    buckets: MILLISECONDS,
  },
  minstrel_schedule_lateness_seconds: {
    type: 'histogram',
    help: 'Delay between the scheduled and the actual start of a run.',
    labels: [],
    buckets: MILLISECONDS,
  },
  minstrel_leases_lost_total: {
    type: 'counter',
    help: 'Runs that stopped because another replica may have taken over the job.',
    labels: [],
  },
  minstrel_invariants_broken_total: {
    type: 'counter',
    help: 'Written jobs that break a promise of the state machine, which is a bug in Minstrel.',
    labels: ['invariant'],
  },
  minstrel_usage_requests_total: {
    type: 'counter',
    help: 'Requests that produced a result, by family and model.',
    labels: ['platform', 'family', 'model'],
  },
  minstrel_usage_units_total: {
    type: 'counter',
    help: 'Cost of the requests that produced a result, in the units of USAGE_COSTS.',
    labels: ['platform', 'family', 'model'],
  },
  minstrel_feedback_total: {
    type: 'counter',
    help: 'Feedback on answers. The label judgement is good or bad. A changed judgement counts again.',
    labels: ['platform', 'model', 'judgement'],
  },
  minstrel_limit_refusals_total: {
    type: 'counter',
    help: 'Requests refused by a limit, by the scope of the limit.',
    labels: ['platform', 'scope', 'family'],
  },
  minstrel_access_denials_total: {
    type: 'counter',
    help: 'Requests refused because the person may not use the command there.',
    labels: ['platform', 'command'],
  },
} as const satisfies Record<`minstrel_${string}`, Series>;

export type SeriesName = keyof typeof SERIES;
type Labels<Name extends SeriesName> = Readonly<Record<(typeof SERIES)[Name]['labels'][number], string>>;

/** Increments a counter (by 1 by default), observes a duration in seconds, or sets a gauge. Never throws. */
export type Measure = <Name extends SeriesName>(name: Name, labels: Labels<Name>, value?: number) => void;
