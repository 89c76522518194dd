/** The only reader of the environment. */
import { OperatorError } from '../../core/errors.ts';
import { present } from '../../core/util/present.ts';
import { servicesOf } from './accounts.ts';
import { type ConfigProblem, isLoopback, problem, problemsBetween, warningsAbout } from './checks.ts';
import { environmentSchema, VARIABLES, type Values } from './schema.ts';

export type Config = ReturnType<typeof configOf> & {
  /** The OTEL_ variables for OpenTelemetry's SDK; undefined if traces are off. */
  readonly traces: Readonly<Record<string, string>> | undefined;
  /** Warnings about settings that are valid but probably unintended. */
  readonly warnings: readonly string[];
};

/** The settings are invalid. The message lists every error and shows no secret. */
export class ConfigError extends OperatorError {
  override readonly name = 'ConfigError';
  readonly problems: readonly ConfigProblem[];

  constructor(problems: readonly ConfigProblem[]) {
    const count = problems.length === 1 ? 'One setting is' : `${problems.length} settings are`;
    const lines = problems.map(({ sentence }) => `  - ${sentence}`);
    super(
      [`${count} invalid, so nothing was started:`, ...lines, 'See .env.example for all settings.'].join(
        '\n',
      ),
    );
    this.problems = problems;
  }
}

/** Reads the settings. An empty value counts as absent. Throws {@link ConfigError}. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
  const raw = new Map(
    VARIABLES.flatMap((variable) => {
      const value = environment[variable]?.trim();
      return value ? [[variable, value]] : [];
    }),
  );
  const parsed = environmentSchema.safeParse(Object.fromEntries(raw));
  const quoted = VARIABLES.filter((variable) => /^(["']).*\1$/.test(raw.get(variable) ?? ''));
  const problems = [
    ...quoted.map((variable) => problem(variable, 'has quotation marks around it: remove them.')),
    ...(parsed.error?.issues ?? [])
      .map((issue) => problem(String(issue.path[0]), issue.message))
      .filter(({ variable }) => !quoted.some((name) => name === variable)),
    ...problemsBetween(raw),
  ];
  const { ADMIN_PORT, PORT } = parsed.data ?? {};
  if (ADMIN_PORT?.port && ADMIN_PORT.port === PORT)
    problems.push(problem('ADMIN_PORT', `is ${PORT}, the same as PORT: metrics need a separate port.`));
  if (!parsed.success || problems.length > 0) throw new ConfigError(problems);
  return {
    ...configOf(parsed.data),
    traces:
      parsed.data.OTEL_EXPORTER_OTLP_ENDPOINT === undefined ? undefined : telemetrySettings(environment),
    warnings: warningsAbout(parsed.data, Object.keys(environment)),
  };
}

function telemetrySettings(environment: Readonly<Record<string, string | undefined>>) {
  return Object.fromEntries(
    Object.entries(environment).flatMap(([name, value]) =>
      name.startsWith('OTEL_') && value !== undefined ? [[name, value]] : [],
    ),
  );
}

const DAY_MS = 86_400_000;

const retention = ({ RETENTION_DAYS }: Values): number | undefined =>
  RETENTION_DAYS && RETENTION_DAYS * DAY_MS;

function configOf(values: Values) {
  const secrets = [values.CALLBACK_SECRET, values.CALLBACK_SECRET_PREVIOUS];
  return present({
    production: values.NODE_ENV === 'production',
    ...servicesOf(values),
    discord: discord(values),
    slack: slack(values),
    /** True to serve a chat in the browser, on this machine only. */
    playground:
      values.PLAYGROUND ??
      (values.NODE_ENV !== 'production' &&
        !values.DISCORD_TOKEN &&
        !values.SLACK_BOT_TOKEN &&
        !values.SLACK_CLIENT_ID &&
        isLoopback(values.HOST)),
    listener: present({
      host: values.HOST,
      /** 0 picks a free port. */
      port: values.PORT,
      /** The URL at which the gateway reaches the listener, without a trailing slash. Absent if it is local. */
      publicUrl: values.PUBLIC_URL,
    }),
    /** Sign callback and file URLs, current secret first. If empty, a secret is generated and stored. */
    signingSecrets: secrets.filter((secret) => secret !== undefined),
    dataDirectory: values.DATA_DIR,
    storage: values.REDIS_URL
      ? { type: 'redis' as const, url: values.REDIS_URL }
      : { type: 'sqlite' as const, directory: values.DATA_DIR },
    media: media(values),
    /** The deployment's defaults. `ask` and `image` may have routes, and `ask` several models. */
    models: present({
      song: values.SONG_MODEL,
      ask: values.ASK_MODEL,
      image: values.IMAGE_MODEL,
      video: values.VIDEO_MODEL,
    }),
    /** The maximum number of jobs per family at the gateway at once, across all replicas. */
    concurrency: values.CONCURRENCY,
    /** Servers and workspaces to serve, as `platform:id` or `id`. Empty means all. */
    servedServers: values.SERVED_SERVERS,
    usage: {
      /** Moderators cannot raise these. */
      limits: values.USAGE_LIMITS,
      costs: values.USAGE_COSTS,
    },
    /** Absent if results are kept forever, so that their buttons keep working. */
    retentionMs: retention(values),
    /** The listener for metrics. */
    admin: values.ADMIN_PORT,
    answers: answers(values),
    log: { level: values.LOG_LEVEL },
  });
}

function discord(values: Values) {
  if (!values.DISCORD_TOKEN) return undefined;
  return present({
    token: values.DISCORD_TOKEN,
    apiUrl: values.DISCORD_API_URL,
    /** The shards of this replica. If absent, it runs all of Discord's recommended number. */
    shards: values.DISCORD_SHARDS,
    /** True if the privileged intent is turned on in the Developer Portal. */
    messageContent: values.DISCORD_MESSAGE_CONTENT,
  });
}

// Values with `?? ''` are always present: problemsBetween() reports them as missing.
function slack(values: Values) {
  if (!values.SLACK_BOT_TOKEN && !values.SLACK_CLIENT_ID) return undefined;
  return present({
    connection: values.SLACK_APP_TOKEN
      ? { type: 'socket' as const, appToken: values.SLACK_APP_TOKEN }
      : { type: 'http' as const, signingSecret: values.SLACK_SIGNING_SECRET ?? '' },
    account: values.SLACK_BOT_TOKEN
      ? { type: 'token' as const, botToken: values.SLACK_BOT_TOKEN }
      : present({
          type: 'oauth' as const,
          clientId: values.SLACK_CLIENT_ID ?? '',
          clientSecret: values.SLACK_CLIENT_SECRET ?? '',
          previousClientSecret: values.SLACK_CLIENT_SECRET_PREVIOUS,
          /** Without a trailing slash. */
          publicUrl: values.PUBLIC_URL ?? '',
        }),
    /** True if the bot answers in its threads without a mention. */
    threads: values.SLACK_THREADS,
    apiUrl: values.SLACK_API_URL,
  });
}

function media(values: Values) {
  const folder = `${values.DATA_DIR.replace(/(?<!\/)\/+$/, '')}/media`;
  const store = values.MEDIA_STORE ?? { type: 'folder' as const, directory: folder };
  return present({
    store:
      store.type === 'folder'
        ? store
        : {
            ...store,
            endpoint: values.MEDIA_S3_ENDPOINT ?? '',
            region: values.MEDIA_S3_REGION ?? '',
            accessKeyId: values.MEDIA_S3_ACCESS_KEY_ID ?? '',
            secretAccessKey: values.MEDIA_S3_SECRET_ACCESS_KEY ?? '',
            /** For uploads to the bucket that are in progress. */
            stagingDirectory: `${folder}/incoming`,
          },
    quotaBytes: values.MEDIA_QUOTA_MB * 1_000_000,
    retentionMs: retention(values),
    /** Each as `host:port`. */
    allowedHosts: [...new Set(values.MEDIA_ALLOWED_HOSTS)],
  });
}

/** Limits of answers, and models with special roles. The route of gen models is removed. */
function answers(values: Values) {
  // A gen model that creates images for /image can also illustrate answers.
  const [, illustrator] = /^gen:(.+)$/.exec(values.IMAGE_MODEL ?? '') ?? [];
  return present({
    maxTokens: values.ASK_MAX_TOKENS,
    contextTokens: values.ASK_CONTEXT_TOKENS,
    visionModel: values.VISION_MODEL,
    toolModel: values.TOOL_MODEL,
    illustratingModels: illustrator ? [illustrator] : [],
    thinkingModels: values.THINKING_MODELS,
  });
}
