/** The settings of traces, with their texts: a part of the schema. Names and meanings are OpenTelemetry's own. */
import { z } from 'zod';
import * as field from './fields.ts';

const SAMPLERS = [
  'always_on',
  'always_off',
  'traceidratio',
  'parentbased_always_on',
  'parentbased_always_off',
  'parentbased_traceidratio',
] as const;

/** `name=value` with commas between them, values percent-encoded: https://www.w3.org/TR/baggage */
function readPairs(value: string): Record<string, string> | undefined {
  const pairs = field
    .commaSeparated(value)
    .filter((pair) => pair !== '')
    .map((pair) => /^([\w.!#$%&'*+^`|~-]+)\s*=\s*(.*)$/s.exec(pair));
  try {
    const read = pairs.map((pair) => pair && ([pair[1] ?? '', decodeURIComponent(pair[2] ?? '')] as const));
    return read.every((pair) => pair !== null) ? Object.fromEntries(read) : undefined;
  } catch {
    return undefined;
  }
}

/** What keeps a header from being sent at all. */
const isHeaderValue = (value: string) => /^[\t\x20-\x7e]*$/.test(value);

export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: field.baseUrl.optional().meta({
    description:
      'Where an OpenTelemetry collector takes OTLP over HTTP: it switches traces on. They are sent to /v1/traces below it.',
    example: 'http://localhost:4318',
    otherwise: 'no traces',
  }),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: field.collectorUrl.optional().meta({
    description: 'The whole address for traces, where it is another one than that below the endpoint.',
    example: 'https://collector.example.org/v1/traces',
    otherwise: '`/v1/traces` below the endpoint',
  }),
  OTEL_EXPORTER_OTLP_HEADERS: z
    .string()
    .transform((value, context) => {
      const headers = readPairs(value);
      if (headers && Object.values(headers).every(isHeaderValue)) return headers;
      context.addIssue({
        code: 'custom',
        message:
          'is no list of headers: it must look like name=value,name=value, with values percent-encoded.',
      });
      return z.NEVER;
    })
    .default({})
    .meta({
      description: 'Headers for the collector, such as a key. Secret.',
      example: 'authorization=Bearer%20some-key',
      otherwise: 'none',
    }),
  OTEL_SERVICE_NAME: z.string().optional().meta({
    description: 'What this deployment is called in traces.',
    example: 'minstrel',
    otherwise: '`minstrel`',
  }),
  OTEL_RESOURCE_ATTRIBUTES: field
    .readable('a list such as deployment.environment.name=production,service.namespace=music', readPairs)
    .default({})
    .meta({
      description: 'What else every trace says of this deployment.',
      example: 'deployment.environment.name=production',
      otherwise: 'none',
    }),
  OTEL_TRACES_SAMPLER: field
    .oneOf(SAMPLERS)
    .prefault('parentbased_always_on')
    .describe(
      'Which traces are sent: always_on, always_off, traceidratio, or one of these after parentbased_, which holds to what was decided where the trace began.',
    ),
  OTEL_TRACES_SAMPLER_ARG: field.ratio
    .prefault('1')
    .describe('The part of all traces that traceidratio sends, from 0 to 1.'),
  OTEL_BSP_SCHEDULE_DELAY: field
    .wholeNumber(0, 600_000)
    .prefault('5000')
    .describe('How many milliseconds spans wait for others, to be sent with them.'),
  OTEL_SDK_DISABLED: z
    .string()
    .transform((value) => value.toLowerCase() === 'true')
    .prefault('false')
    .describe('Set to true, there are no traces whatever else is set.'),
  TRACE_GATEWAY: field.flag
    .prefault('0')
    .describe(
      'Set to 1 where the gateway is your own: requests to it carry the header traceparent, so that its spans are in the same trace.',
    ),
};
