/** What settings ask of each other: mistakes, which keep the bot from starting, and warnings. */
import { distance } from 'fastest-levenshtein';
import { VARIABLES, type Values, type Variable } from './schema.ts';

export interface ConfigProblem {
  readonly variable: string;
  readonly sentence: string;
}

export function problem(variable: string, rest: string): ConfigProblem {
  return { variable, sentence: `${variable} ${rest}` };
}

const BUCKET_SETTINGS = [
  [
    'MEDIA_S3_ENDPOINT',
    'MEDIA_STORE names a bucket, so it must say where the service is, such as https://s3.eu-central-1.amazonaws.com.',
  ],
  [
    'MEDIA_S3_REGION',
    'MEDIA_STORE names a bucket, and requests are signed for its region. Where a service has none, it is auto or us-east-1.',
  ],
  ['MEDIA_S3_ACCESS_KEY_ID', 'the bucket in MEDIA_STORE asks for a key that may use it.'],
  ['MEDIA_S3_SECRET_ACCESS_KEY', 'it belongs to MEDIA_S3_ACCESS_KEY_ID.'],
] as const satisfies readonly (readonly [variable: Variable, why: string])[];

/** Settings that another one asks for, or that exclude each other. `given` is as the operator wrote it. */
export function problemsBetween(given: ReadonlyMap<Variable, string>): ConfigProblem[] {
  const has = (variable: Variable) => given.has(variable);
  const isProduction = given.get('NODE_ENV') === 'production';
  const isInBucket = given.get('MEDIA_STORE')?.startsWith('s3://') ?? false;
  const [token, oauth] = [has('SLACK_BOT_TOKEN'), has('SLACK_CLIENT_ID')];
  const isConnected = has('SLACK_APP_TOKEN') || has('SLACK_SIGNING_SECRET');
  const connection = has('SLACK_APP_TOKEN') ? 'SLACK_APP_TOKEN' : 'SLACK_SIGNING_SECRET';
  const needed: readonly (readonly [variable: Variable, isNeeded: boolean, why: string])[] = [
    [
      'GATEWAY_BASE_URL',
      isProduction || has('GATEWAY_API_KEY'),
      isProduction
        ? 'with NODE_ENV=production it must say where the gateway is (the built-in emulator is for trying things out).'
        : 'GATEWAY_API_KEY is set, so it must say where the gateway is.',
    ],
    [
      'GATEWAY_API_KEY',
      isProduction || has('GATEWAY_BASE_URL'),
      'the gateway asks for the key of your account.',
    ],
    [
      'SLACK_APP_TOKEN',
      (token || oauth) && !isConnected,
      `Slack needs it beside ${token ? 'SLACK_BOT_TOKEN' : 'SLACK_CLIENT_ID'}, to open the connection (Socket Mode); or set SLACK_SIGNING_SECRET, for requests to the listener.`,
    ],
    [
      'SLACK_BOT_TOKEN',
      isConnected && !oauth && !has('SLACK_CLIENT_SECRET'),
      `Slack needs it beside ${connection}, to answer; or set SLACK_CLIENT_ID, for many workspaces.`,
    ],
    [
      'SLACK_CLIENT_SECRET',
      oauth,
      'Slack needs it beside SLACK_CLIENT_ID, for workspaces to install the app.',
    ],
    ['SLACK_CLIENT_ID', has('SLACK_CLIENT_SECRET'), 'Slack needs it beside SLACK_CLIENT_SECRET.'],
    ['PUBLIC_URL', oauth, 'with SLACK_CLIENT_ID it must say where browsers reach /slack/install.'],
    [
      'CALLBACK_SECRET',
      has('CALLBACK_SECRET_PREVIOUS'),
      'CALLBACK_SECRET_PREVIOUS only helps while another secret takes its place.',
    ],
    ...BUCKET_SETTINGS.map(([variable, why]) => [variable, isInBucket, why] as const),
  ];
  const playground = given.get('PLAYGROUND') === '1';
  const host = given.get('HOST') ?? '127.0.0.1';
  const mistakes: readonly (readonly [isMistake: boolean, variable: Variable, rest: string])[] = [
    [
      playground && isProduction,
      'PLAYGROUND',
      'is 1 with NODE_ENV=production: whoever opens it may do everything, so it is for trying things out.',
    ],
    [
      playground && !isLoopback(host),
      'PLAYGROUND',
      `is 1, and HOST is ${host}: it is for this machine alone, so HOST must be 127.0.0.1.`,
    ],
    ...needed.map(
      ([variable, isNeeded, why]) => [isNeeded && !has(variable), variable, `is missing: ${why}`] as const,
    ),
    [
      token && oauth,
      'SLACK_BOT_TOKEN',
      'cannot stand beside SLACK_CLIENT_ID: with it every workspace, yours too, installs the app at /slack/install.',
    ],
  ];
  return mistakes.flatMap(([isMistake, variable, rest]) => (isMistake ? [problem(variable, rest)] : []));
}

/** Sentences for the operator about what is allowed, and probably not meant. `names` are those of the whole environment. */
export function warningsAbout(values: Values, names: readonly string[]): string[] {
  const { DISCORD_TOKEN, SLACK_CLIENT_ID, USAGE_LIMITS, USAGE_COSTS } = values;
  const slack = values.SLACK_BOT_TOKEN ?? SLACK_CLIENT_ID;
  const idle: readonly (readonly [isIdle: boolean, variables: readonly Variable[], why: string])[] = [
    [
      !DISCORD_TOKEN,
      ['DISCORD_API_URL', 'DISCORD_SHARDS', 'DISCORD_MESSAGE_CONTENT'],
      'without DISCORD_TOKEN.',
    ],
    [!SLACK_CLIENT_ID, ['SLACK_CLIENT_SECRET_PREVIOUS'], 'without SLACK_CLIENT_ID.'],
    [!slack, ['SLACK_API_URL', 'SLACK_THREADS'], 'without SLACK_BOT_TOKEN or SLACK_CLIENT_ID.'],
    [
      values.SLACK_APP_TOKEN !== undefined,
      ['SLACK_SIGNING_SECRET'],
      'beside SLACK_APP_TOKEN, which opens the connection: take one of them out.',
    ],
    [
      values.MEDIA_STORE?.type !== 's3',
      BUCKET_SETTINGS.map(([variable]) => variable),
      'without a bucket in MEDIA_STORE, such as s3://my-bucket.',
    ],
  ];
  const isFree = USAGE_LIMITS.some(({ of }) => of === 'units') && Object.keys(USAGE_COSTS).length === 0;
  return [
    ...idle.flatMap(([isIdle, variables, why]) =>
      isIdle ? variables.filter((one) => values[one]).map((one) => `${one} has no effect ${why}`) : [],
    ),
    ...(isFree
      ? ['USAGE_LIMITS counts units, and USAGE_COSTS gives nothing a price: such limits are never reached.']
      : []),
    ...unknownSettings(names),
  ];
}

/** Whether only this machine reaches what listens there. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);
}

/** Whether an address leads each machine to itself. */
export function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return isLoopback(hostname) || ['0.0.0.0', '[::]'].includes(hostname);
}

const OUR_PREFIXES = /^(DISCORD|SLACK|GATEWAY|MEDIA|CALLBACK|MINSTREL)_/;

/** Shorter names are near too many that belong to other programs. */
const SHORTEST_COMPARED = 7;

function unknownSettings(names: readonly string[]): string[] {
  return names
    .filter((name) => !name.startsWith('OTEL_') && !VARIABLES.some((variable) => variable === name))
    .flatMap((name) => {
      const near = VARIABLES.filter((variable) => variable.length >= SHORTEST_COMPARED)
        .map((variable) => ({ variable, edits: distance(name.toUpperCase(), variable) }))
        .filter(({ edits }) => edits <= 2)
        .sort((left, right) => left.edits - right.edits)[0];
      if (near) return [`${name} is not a setting: did you mean ${near.variable}?`];
      return OUR_PREFIXES.test(name) ? [`${name} is not a setting of this version, and does nothing.`] : [];
    });
}
