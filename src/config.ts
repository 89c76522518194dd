/** The only reader of the environment. */
import { environmentSchema, VARIABLES, type Values, type Variable } from './config/schema.ts';
import { missingForSlack, slackSettings } from './config/slack.ts';
import { warningsAbout } from './config/warnings.ts';

export interface Config {
  readonly production: boolean;
  /** Absent: the built-in emulator. */
  readonly gateway?: { readonly baseUrl: string; readonly apiKey: string };
  readonly discord?: {
    readonly token: string;
    readonly apiUrl?: string;
    /** This replica's; absent: all, as many as Discord recommends. */
    readonly shards?: { readonly ids: readonly number[]; readonly total: number };
    /** 64 hexadecimal digits. With it, interactions are also taken by HTTP. */
    readonly publicKey?: string;
    /** No connection is held: interactions come by HTTP alone. */
    readonly httpOnly: boolean;
    /** The privileged intent of this name is switched on in the Developer Portal. */
    readonly messageContent: boolean;
  };
  readonly slack?: {
    readonly connection:
      | { readonly type: 'socket'; readonly appToken: string }
      | { readonly type: 'http'; readonly signingSecret: string };
    readonly account:
      | { readonly type: 'token'; readonly botToken: string }
      | {
          readonly type: 'oauth';
          readonly clientId: string;
          readonly clientSecret: string;
          readonly previousClientSecret?: string;
          /** No slash at its end. */
          readonly publicUrl: string;
        };
    /** Threads that the bot takes part in go on without its name. */
    readonly threads: boolean;
    readonly apiUrl?: string;
  };
  readonly listener: {
    readonly host: string;
    /** 0: any free port. */
    readonly port: number;
    /** Where the gateway reaches the listener; no slash at its end. Absent: where this machine reaches it. */
    readonly publicUrl?: string;
  };
  /** What callback and file URLs are signed with: the present secret first. Empty: one is made and kept in storage. */
  readonly signingSecrets: readonly string[];
  readonly storage:
    | { readonly type: 'sqlite'; readonly directory: string }
    | { readonly type: 'redis'; readonly url: string };
  readonly media: {
    readonly store:
      | { readonly type: 'folder'; readonly directory: string }
      | {
          readonly type: 's3';
          readonly endpoint: string;
          readonly region: string;
          readonly bucket: string;
          /** Before every key; empty, or ending with a slash. */
          readonly prefix: string;
          readonly accessKeyId: string;
          readonly secretAccessKey: string;
          /** Where files stand on their way into the bucket. */
          readonly spoolDirectory: string;
        };
    readonly quotaBytes: number;
    readonly retentionMs?: number;
    readonly linkTtlSeconds: number;
    /** `host` or `host:port`. */
    readonly allowedHosts: readonly string[];
  };
  /** The deployment's defaults, as written: `ask` and `image` may begin with a route and a colon. */
  readonly models: {
    readonly song: Values['SONG_MODEL'];
    readonly ask?: string;
    readonly image?: string;
    readonly video?: string;
  };
  /** How many jobs of a family are at the gateway at once, over all replicas. */
  readonly concurrency: { readonly [Name in 'song' | 'ask' | 'image' | 'video']: number };
  /** Servers and workspaces that are served, as `platform:id` or `id`; empty: all. */
  readonly servedServers: readonly string[];
  readonly usage: {
    /** Nobody in chat can raise these. */
    readonly limits: Values['USAGE_LIMITS'];
    readonly costs: Values['USAGE_COSTS'];
    readonly retentionMs: number;
  };
  readonly auditRetentionMs: number;
  /** Absent: results are remembered for ever, so that their buttons work for ever. */
  readonly jobRetentionMs?: number;
  /** The listener for operators alone. Absent: none. */
  readonly admin?: { readonly host: string; readonly port: number };
  /** What answers may be, and which models are special; gen models stand without their route. */
  readonly answers: {
    readonly maxTokens: number;
    readonly temperature?: number;
    readonly contextTokens: number;
    readonly visionModel?: string;
    readonly toolModel?: string;
    readonly illustratingModels: readonly string[];
    readonly thinkingModels: readonly string[];
    readonly thinkingBudget: number;
  };
  readonly log: { readonly level: Values['LOG_LEVEL'] };
  /** Sentences for the operator about settings that are allowed, yet probably not meant. */
  readonly warnings: readonly string[];
}

export interface ConfigProblem {
  readonly variable: string;
  readonly sentence: string;
}

/** The settings cannot be used. The message lists every mistake and shows no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'One setting is' : `${problems.length} settings are`;
    const lines = problems.map(({ sentence }) => `  - ${sentence}`);
    super(
      [
        `${count} wrong, so nothing was started:`,
        ...lines,
        'Every setting is explained in .env.example.',
      ].join('\n'),
    );
    this.problems = problems;
  }
}

/** Reads the settings; an empty one counts as absent. Throws {@link ConfigError}. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const given = new Map<string, string>();
  for (const variable of VARIABLES) {
    const value = environment[variable]?.trim();
    if (value) given.set(variable, value);
  }
  const quoted = VARIABLES.filter((variable) => /^(["']).*\1$/.test(given.get(variable) ?? ''));
  const parsed = environmentSchema.safeParse(Object.fromEntries(given));
  const problems = [
    ...quoted.map((variable) => problem(variable, 'has quotes around it: remove them.')),
    ...(parsed.error?.issues ?? [])
      .map((issue) => problem(String(issue.path[0]), issue.message))
      .filter(({ variable }) => !quoted.some((name) => name === variable)),
    ...missing((variable) => given.has(variable), {
      production: given.get('NODE_ENV') === 'production',
      inBucket: given.get('MEDIA_STORE')?.startsWith('s3://') ?? false,
      onlyHttp: given.get('DISCORD_HTTP_ONLY') === '1',
    }),
  ];
  const { ADMIN_PORT, PORT } = parsed.data ?? {};
  if (ADMIN_PORT !== undefined && ADMIN_PORT !== 0 && ADMIN_PORT === PORT)
    problems.push(problem('ADMIN_PORT', `is ${PORT}, like PORT: metrics need a port of their own.`));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return build(parsed.data, Object.keys(environment));
}

function problem(variable: string, rest: string): ConfigProblem {
  return { variable, sentence: `${variable} ${rest}` };
}

/** Settings that another setting asks for. */
function missing(
  has: (variable: Variable) => boolean,
  { production, inBucket, onlyHttp }: { production: boolean; inBucket: boolean; onlyHttp: boolean },
): ConfigProblem[] {
  const needs = (variable: Variable, isNeeded: boolean, why: string) =>
    isNeeded && !has(variable) ? [problem(variable, `is missing: ${why}`)] : [];
  return [
    ...needs(
      'GATEWAY_BASE_URL',
      production || has('GATEWAY_API_KEY'),
      production
        ? 'with NODE_ENV=production it must say where the gateway is (the built-in emulator is for trying things out).'
        : 'GATEWAY_API_KEY is set, so it must say where the gateway is.',
    ),
    ...needs(
      'GATEWAY_API_KEY',
      production || has('GATEWAY_BASE_URL'),
      'the gateway asks for the key of your account.',
    ),
    ...needs(
      'DISCORD_PUBLIC_KEY',
      onlyHttp,
      'with DISCORD_HTTP_ONLY nothing else tells which requests are from Discord.',
    ),
    ...missingForSlack(has, needs),
    ...needs(
      'CALLBACK_SECRET',
      has('CALLBACK_SECRET_PREVIOUS'),
      'CALLBACK_SECRET_PREVIOUS only helps while another secret takes its place.',
    ),
    ...needs(
      'MEDIA_S3_ENDPOINT',
      inBucket,
      'MEDIA_STORE names a bucket, so it must say where the service is, such as https://s3.eu-central-1.amazonaws.com.',
    ),
    ...needs(
      'MEDIA_S3_REGION',
      inBucket,
      'MEDIA_STORE names a bucket, and requests are signed for its region. Where a service has none, it is auto or us-east-1.',
    ),
    ...needs('MEDIA_S3_ACCESS_KEY_ID', inBucket, 'the bucket in MEDIA_STORE asks for a key that may use it.'),
    ...needs('MEDIA_S3_SECRET_ACCESS_KEY', inBucket, 'it belongs to MEDIA_S3_ACCESS_KEY_ID.'),
  ];
}

const DAY_SECONDS = 86_400;

function build(values: Values, names: readonly string[]): Config {
  const { DISCORD_TOKEN, GATEWAY_BASE_URL, GATEWAY_API_KEY } = values;
  const secrets = [values.CALLBACK_SECRET, values.CALLBACK_SECRET_PREVIOUS];
  return {
    production: values.NODE_ENV === 'production',
    ...(GATEWAY_BASE_URL !== undefined &&
      GATEWAY_API_KEY !== undefined && { gateway: { baseUrl: GATEWAY_BASE_URL, apiKey: GATEWAY_API_KEY } }),
    ...(DISCORD_TOKEN !== undefined && {
      discord: {
        token: DISCORD_TOKEN,
        ...optional('apiUrl', values.DISCORD_API_URL),
        ...optional('shards', values.DISCORD_SHARDS),
        ...optional('publicKey', values.DISCORD_PUBLIC_KEY),
        httpOnly: values.DISCORD_HTTP_ONLY,
        messageContent: values.DISCORD_MESSAGE_CONTENT,
      },
    }),
    ...optional('slack', slackSettings(values)),
    listener: { host: values.HOST, port: values.PORT, ...optional('publicUrl', values.PUBLIC_URL) },
    signingSecrets: secrets.filter((secret) => secret !== undefined),
    storage: values.REDIS_URL
      ? { type: 'redis', url: values.REDIS_URL }
      : { type: 'sqlite', directory: values.DATA_DIR },
    media: {
      store: mediaStore(values),
      quotaBytes: values.MEDIA_QUOTA_MB * 1_000_000,
      ...optional(
        'retentionMs',
        values.MEDIA_RETENTION_DAYS && values.MEDIA_RETENTION_DAYS * DAY_SECONDS * 1000,
      ),
      linkTtlSeconds: values.MEDIA_LINK_DAYS * DAY_SECONDS,
      allowedHosts: values.MEDIA_ALLOWED_HOSTS,
    },
    models: {
      song: values.SONG_MODEL,
      ...optional('ask', values.ASK_MODEL),
      ...optional('image', values.IMAGE_MODEL),
      ...optional('video', values.VIDEO_MODEL),
    },
    concurrency: {
      song: values.SONG_CONCURRENCY,
      ask: values.ASK_CONCURRENCY,
      image: values.IMAGE_CONCURRENCY,
      video: values.VIDEO_CONCURRENCY,
    },
    servedServers: values.SERVED_SERVERS,
    usage: {
      limits: values.USAGE_LIMITS,
      costs: values.USAGE_COSTS,
      retentionMs: values.USAGE_RETENTION_DAYS * DAY_SECONDS * 1000,
    },
    auditRetentionMs: values.AUDIT_RETENTION_DAYS * DAY_SECONDS * 1000,
    ...optional(
      'jobRetentionMs',
      values.JOB_RETENTION_DAYS && values.JOB_RETENTION_DAYS * DAY_SECONDS * 1000,
    ),
    ...(values.ADMIN_PORT !== undefined && { admin: { host: values.ADMIN_HOST, port: values.ADMIN_PORT } }),
    answers: answers(values),
    log: { level: values.LOG_LEVEL },
    warnings: warningsAbout(values, names),
  };
}

/** A gen model that paints for /image writes and paints for /ask, too. */
function answers(values: Values): Config['answers'] {
  const [, painter] = /^gen:(.+)$/.exec(values.IMAGE_MODEL ?? '') ?? [];
  return {
    maxTokens: values.ASK_MAX_TOKENS,
    contextTokens: values.ASK_CONTEXT_TOKENS,
    ...optional('temperature', values.ASK_TEMPERATURE),
    ...optional('visionModel', values.VISION_MODEL),
    ...optional('toolModel', values.TOOL_MODEL),
    illustratingModels: [...new Set([...values.ILLUSTRATING_MODELS, ...(painter ? [painter] : [])])],
    thinkingModels: values.THINKING_MODELS,
    thinkingBudget: values.THINKING_BUDGET,
  };
}

function mediaStore(values: Values): Config['media']['store'] {
  const folder = `${values.DATA_DIR.replace(/\/+$/, '')}/media`;
  const store = values.MEDIA_STORE ?? { type: 'folder' as const, directory: folder };
  if (store.type === 'folder') return store;
  const { MEDIA_S3_ENDPOINT, MEDIA_S3_REGION, MEDIA_S3_ACCESS_KEY_ID, MEDIA_S3_SECRET_ACCESS_KEY } = values;
  return {
    ...store,
    // Whoever comes here without them was told of it before.
    endpoint: MEDIA_S3_ENDPOINT ?? '',
    region: MEDIA_S3_REGION ?? '',
    accessKeyId: MEDIA_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: MEDIA_S3_SECRET_ACCESS_KEY ?? '',
    spoolDirectory: `${folder}/incoming`,
  };
}

function optional<Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [Key in Name]?: Value } {
  // A computed key widens to string; it is `name` and nothing else.
  return (value === undefined ? {} : { [name]: value }) as { readonly [Key in Name]?: Value };
}
