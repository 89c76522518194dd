/** Checks across settings: errors, which prevent a start, and warnings. */
import { distance } from 'fastest-levenshtein';
import { GATEWAY_FAMILIES } from '../../gateway/routes.ts';
import { hasOwnService, OWN_SETTINGS } from './accounts.ts';
import { commaSeparated } from './fields.ts';
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
    'MEDIA_STORE is a bucket, so set the URL of its service, such as https://s3.eu-central-1.amazonaws.com.',
  ],
  [
    'MEDIA_S3_REGION',
    'MEDIA_STORE is a bucket, so set its region. If the service has no regions, use auto or us-east-1.',
  ],
  ['MEDIA_S3_ACCESS_KEY_ID', 'the MEDIA_STORE bucket needs an access key.'],
  ['MEDIA_S3_SECRET_ACCESS_KEY', 'MEDIA_S3_ACCESS_KEY_ID needs its secret.'],
] as const satisfies readonly (readonly [variable: Variable, reason: string])[];

/** Finds settings that another one requires, or that exclude each other. @param values raw, without empty ones */
export function problemsBetween(values: ReadonlyMap<Variable, string>): ConfigProblem[] {
  const has = (variable: Variable) => values.has(variable);
  const isProduction = values.get('NODE_ENV') === 'production';
  const isInBucket = values.get('MEDIA_STORE')?.startsWith('s3://') ?? false;
  const [token, oauth] = [has('SLACK_BOT_TOKEN'), has('SLACK_CLIENT_ID')];
  const isConnected = has('SLACK_APP_TOKEN') || has('SLACK_SIGNING_SECRET');
  const connection = has('SLACK_APP_TOKEN') ? 'SLACK_APP_TOKEN' : 'SLACK_SIGNING_SECRET';
  const own = GATEWAY_FAMILIES.filter((family) => hasOwnService(family, has));
  const needsGateway = isProduction && own.length === 0;
  const needed: readonly (readonly [variable: Variable, isNeeded: boolean, reason: string])[] = [
    [
      'GATEWAY_BASE_URL',
      needsGateway || has('GATEWAY_API_KEY'),
      needsGateway
        ? 'NODE_ENV=production requires a real gateway, or keys of your own such as CHAT_API_KEY (the built-in emulator is for testing only).'
        : 'GATEWAY_API_KEY is set, so set the URL of the gateway too.',
    ],
    [
      'GATEWAY_API_KEY',
      needsGateway || has('GATEWAY_BASE_URL'),
      'the gateway requires the API key of your account.',
    ],
    ...GATEWAY_FAMILIES.map((family) => {
      const { baseUrl, apiKey } = OWN_SETTINGS[family];
      return [apiKey, family !== 'chat' && has(baseUrl), `${baseUrl} requires it.`] as const;
    }),
    [
      'SLACK_APP_TOKEN',
      (token || oauth) && !isConnected,
      `${token ? 'SLACK_BOT_TOKEN' : 'SLACK_CLIENT_ID'} requires it for Socket Mode. To receive HTTP requests instead, set SLACK_SIGNING_SECRET.`,
    ],
    [
      'SLACK_BOT_TOKEN',
      isConnected && !oauth && !has('SLACK_CLIENT_SECRET'),
      `${connection} requires it; or set SLACK_CLIENT_ID to serve many workspaces.`,
    ],
    ['SLACK_CLIENT_SECRET', oauth, 'SLACK_CLIENT_ID requires it, so that workspaces can install the app.'],
    ['SLACK_CLIENT_ID', has('SLACK_CLIENT_SECRET'), 'SLACK_CLIENT_SECRET requires it.'],
    ['PUBLIC_URL', oauth, 'SLACK_CLIENT_ID requires it, so that browsers can reach /slack/install.'],
    [
      'CALLBACK_SECRET',
      has('CALLBACK_SECRET_PREVIOUS'),
      'CALLBACK_SECRET_PREVIOUS is set, so set CALLBACK_SECRET (the new secret) too.',
    ],
    ...BUCKET_SETTINGS.map(([variable, reason]) => [variable, isInBucket, reason] as const),
  ];
  const playground = values.get('PLAYGROUND') === '1';
  const host = values.get('HOST') ?? '127.0.0.1';
  const emulated = commaSeparated(values.get('EMULATOR_FAMILIES') ?? '');
  const played = own.find((family) => emulated.includes(family));
  const mistakes: readonly (readonly [isMistake: boolean, variable: Variable, rest: string])[] = [
    [
      playground && isProduction,
      'PLAYGROUND',
      'is 1 with NODE_ENV=production: anyone who opens it can do everything, so turn it off.',
    ],
    [
      playground && !isLoopback(host),
      'PLAYGROUND',
      `is 1, but HOST is ${host}: the playground works on this machine only, so HOST must be 127.0.0.1.`,
    ],
    [
      isProduction && has('EMULATOR_FAMILIES'),
      'EMULATOR_FAMILIES',
      'is set with NODE_ENV=production: the built-in emulator is for testing only, so remove it.',
    ],
    [
      played !== undefined,
      'EMULATOR_FAMILIES',
      `names ${played}, which has its own service: remove it here, or remove the settings of that service.`,
    ],
    ...needed.map(
      ([variable, isNeeded, reason]) =>
        [isNeeded && !has(variable), variable, `is missing: ${reason}`] as const,
    ),
    [
      token && oauth,
      'SLACK_BOT_TOKEN',
      'cannot be used with SLACK_CLIENT_ID: remove it, and install the app at /slack/install in your own workspace too.',
    ],
  ];
  return mistakes.flatMap(([isMistake, variable, rest]) => (isMistake ? [problem(variable, rest)] : []));
}

/** Warns about settings that are valid but probably unintended. @param names all names in the environment */
export function warningsAbout(values: Values, names: readonly string[]): string[] {
  const { DISCORD_TOKEN, SLACK_CLIENT_ID, USAGE_LIMITS, USAGE_COSTS } = values;
  const slack = values.SLACK_BOT_TOKEN ?? SLACK_CLIENT_ID;
  const idle: readonly (readonly [isIdle: boolean, variables: readonly Variable[], reason: string])[] = [
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
      'with SLACK_APP_TOKEN, which opens the connection: remove one of them.',
    ],
    [!values.MEDIA_API_KEY, ['MEDIA_MODELS'], 'without MEDIA_API_KEY.'],
    [
      values.MEDIA_STORE?.type !== 's3',
      BUCKET_SETTINGS.map(([variable]) => variable),
      'without a bucket in MEDIA_STORE, such as s3://my-bucket.',
    ],
  ];
  const isFree = USAGE_LIMITS.some(({ of }) => of === 'units') && Object.keys(USAGE_COSTS).length === 0;
  return [
    ...idle.flatMap(([isIdle, variables, reason]) =>
      isIdle ? variables.filter((one) => values[one]).map((one) => `${one} has no effect ${reason}`) : [],
    ),
    ...(isFree
      ? ['USAGE_LIMITS counts units, but USAGE_COSTS sets no prices, so these limits are never reached.']
      : []),
    ...unknownSettings(names),
  ];
}

/** True if only this machine can connect to the host. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/.test(host);
}

/** True if the URL refers to the machine that uses it. */
export function isThisMachine(url: string): boolean {
  const { hostname } = new URL(url);
  return isLoopback(hostname) || ['0.0.0.0', '[::]'].includes(hostname);
}

const OUR_PREFIXES = /^(DISCORD|SLACK|GATEWAY|MEDIA|CALLBACK|MINSTREL)_/;

/** Shorter names resemble too many variables of other programs. */
const SHORTEST_COMPARED = 7;

function unknownSettings(names: readonly string[]): string[] {
  return names
    .filter((name) => !name.startsWith('OTEL_') && !VARIABLES.some((variable) => variable === name))
    .flatMap((name) => {
      const near = VARIABLES.filter((variable) => variable.length >= SHORTEST_COMPARED)
        .map((variable) => ({ variable, edits: distance(name.toUpperCase(), variable) }))
        .filter(({ edits }) => edits <= 2)
        .sort((left, right) => left.edits - right.edits)[0];
      const isOurs = OUR_PREFIXES.test(name);
      const suggestion = near?.variable ?? (isOurs ? withSameWords(name) : undefined);
      if (suggestion) return [`${name} is not a setting: did you mean ${suggestion}?`];
      return isOurs ? [`${name} is not a setting of this version and has no effect.`] : [];
    });
}

/** Returns the setting that has all words of the name, or whose words the name has: `DISCORD_BOT_TOKEN`, `GATEWAY_URL`. */
function withSameWords(name: string): Variable | undefined {
  const words = name.split('_');
  return VARIABLES.find((variable) => {
    const known = variable.split('_');
    const [fewer, more] = words.length < known.length ? [words, known] : [known, words];
    return fewer.length > 1 && fewer.every((word) => more.includes(word));
  });
}
