/** Types of individual settings. Each error completes a sentence that starts with the variable's name. */
import { z } from 'zod';
import { joinModelNames, MOST_MODELS, modelNames } from '../../core/models/model-name.ts';
import { isMusicModel, MUSIC_MODELS } from '../../gateway/music/requests.ts';
import { GATEWAY_FAMILIES, type GatewayFamily } from '../../gateway/routes.ts';

/** Builds an error that quotes the value. @param sentence describes a valid value */
function expected(sentence: string) {
  return {
    error: ({ input }: { readonly input?: unknown }) => {
      const value = String(input);
      const quoted = JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
      return `is ${quoted}: it must be ${sentence}.`;
    },
  };
}

/** A setting that is parsed by `read`, which returns undefined if the value is invalid. */
export function readable<Value>(sentence: string, read: (value: string) => Value | undefined) {
  return z.string().transform((value, context): Value => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: expected(sentence).error({ input: value }) });
    return z.NEVER;
  });
}

export function commaSeparated(value: string): string[] {
  return value.split(',').map((item) => item.trim());
}

export function wholeNumber(minimum: number, maximum: number) {
  return readable(`a whole number from ${minimum} to ${maximum}`, (value) =>
    numberBetween(minimum, maximum, value),
  );
}

/** `none` becomes undefined. */
export function wholeNumberOrNone(minimum: number, maximum: number) {
  return readable(`a whole number from ${minimum} to ${maximum}, or none`, (value) =>
    value === 'none' ? value : numberBetween(minimum, maximum, value),
  ).transform((value) => (value === 'none' ? undefined : value));
}

function numberBetween(minimum: number, maximum: number, value: string): number | undefined {
  const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
  return number >= minimum && number <= maximum ? number : undefined;
}

export const flag = z.enum(['0', '1'], expected('1 (on) or 0 (off)')).transform((value) => value === '1');

export function oneOf<const Value extends string>(values: readonly Value[]) {
  return z.enum(values, expected(`one of ${values.join(', ')}`));
}

export const musicModel = readable(`one of ${MUSIC_MODELS.join(', ')}, or a newer version`, (value) =>
  isMusicModel(value) ? value : undefined,
);

const HTTP_URL =
  'a URL that starts with https:// or http://, without a user, query or fragment, such as https://example.org';

function readHttpUrl(value: string): string | undefined {
  // URL drops an empty query or fragment, but a path appended after it would be lost.
  if (!URL.canParse(value) || /[?#]/.test(value)) return undefined;
  const { protocol, username, password, href } = new URL(value);
  if (!['https:', 'http:'].includes(protocol) || username || password) return undefined;
  return href.replace(/(?<!\/)\/+$/, '');
}

/** The trailing slash is removed. */
export const baseUrl = readable(HTTP_URL, readHttpUrl);

export const host = z.stringFormat(
  'host',
  /^[\w.:-]{1,253}$/,
  expected('a host name or an address, such as 127.0.0.1 or 0.0.0.0'),
);

/** Returns `host:port` in normalised form. Without a port, the defaults of http and https are used. */
function readHost(item: string): string[] | undefined {
  const [, name, digits] = /^(\[[\da-f:.]+\]|[a-z\d._-]+?)\.?(?::(\d{1,5}))?$/i.exec(item) ?? [];
  const host = name && URL.parse(`http://${name}`)?.hostname;
  const ports = digits === undefined ? [80, 443] : [Number(digits)];
  if (!host || !ports.every((port) => port > 0 && port <= 65_535)) return undefined;
  return ports.map((port) => `${host}:${port}`);
}

export const hostList = readable(
  'hosts separated by commas, each as host or host:port, such as files.lan,10.0.0.7:9000 or [fd00::1]:9000',
  (value) => {
    const hosts = commaSeparated(value).map(readHost);
    return hosts.every((host) => host !== undefined) ? hosts.flat() : undefined;
  },
);

/** A port with an optional host to listen on, 127.0.0.1 by default. */
export const hostPort = readable(
  'a port such as 9464, or a host and a port such as 0.0.0.0:9464',
  (value) => {
    const [, host = '127.0.0.1', digits] = /^(?:([\w.-]{1,253}):)?(\d{1,5})$/.exec(value) ?? [];
    const port = Number(digits);
    return port <= 65_535 ? { host, port } : undefined;
  },
);

const FOLDER = /^(?![a-z][a-z\d+.-]+:\/\/)[^\0]*$/i;

export const folder = z.stringFormat('folder', FOLDER, expected('a folder, such as ./data'));

/** Amazon's naming rules, plus the capitals and underscores that other services allow. */
const BUCKET = /^[a-z\d][\w.-]{1,61}[a-z\d]$/i;

/** A folder, or a bucket with a key prefix that is empty or ends with a slash. */
export const mediaStore = readable(
  'a folder, such as ./data/media, or a bucket, such as s3://my-bucket or s3://my-bucket/minstrel',
  (value) => {
    const [, bucket, path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(value) ?? [];
    if (bucket === undefined)
      return FOLDER.test(value) ? { type: 'folder' as const, directory: value } : undefined;
    const folders = path.split('/').filter((name) => name !== '');
    if (!BUCKET.test(bucket) || !folders.every((name) => /^(?!\.{1,2}$)[\w.-]{1,200}$/.test(name)))
      return undefined;
    return { type: 's3' as const, bucket, prefix: folders.map((name) => `${name}/`).join('') };
  },
);

export const region = z.stringFormat(
  'region',
  /^[a-z\d-]{2,50}$/i,
  expected('the name of a region, such as eu-central-1 or auto'),
);

/** `0-3/16`: shards 0 to 3 of 16. Counted from 0, as Discord does. */
export const shards = readable(
  'the shards of this replica and the total number, such as 0-3/16 or 5/16',
  (value) => {
    const [, first = '', last = first, all = ''] = /^(\d{1,5})(?:-(\d{1,5}))?\/(\d{1,5})$/.exec(value) ?? [];
    const [from, to, total] = [Number(first), Number(last), Number(all)];
    if (all === '' || from > to || to >= total) return undefined;
    return { ids: Array.from({ length: to - from + 1 }, (_, index) => from + index), total };
  },
);

/** Several models, in the order to try them. */
export function models(routes: readonly string[]) {
  const one = model(routes);
  return readable(
    `up to ${MOST_MODELS} model IDs separated by commas, each optionally with its interface, such as ${routes.map((route) => `${route}:some-id`).join(' or ')}`,
    (value) => {
      const names = modelNames(value);
      const isValid = names.every((name) => one.safeParse(name).success);
      return isValid && names.length > 0 && names.length <= MOST_MODELS ? joinModelNames(names) : undefined;
    },
  );
}

/** A model id with an optional route before it. */
export function model(routes: readonly string[]) {
  const withRoute = routes.map((route) => `${route}:some-id`).join(' or ');
  const sentence = 'a model ID without spaces';
  return z.stringFormat(
    'model',
    (value) => /^\S{1,200}$/.test(value) && !routes.some((route) => value === `${route}:`),
    expected(withRoute ? `${sentence}, optionally with its interface, such as ${withRoute}` : sentence),
  );
}

const GEN_MODEL = 'the ID of a gen model, such as some-id';

function readGenModel(value: string): string | undefined {
  const id = value.trim().replace(/^gen:/, '');
  return /^[^\s,]{1,200}$/.test(id) && !/^(chat|msg):/.test(id) ? id : undefined;
}

/** The route is removed. */
export const genModel = readable(GEN_MODEL, readGenModel);

export const genModels = readable(`${GEN_MODEL}, or several separated by commas`, (value) => {
  const ids = commaSeparated(value)
    .filter((part) => part !== '')
    .map(readGenModel);
  return ids.every((id) => id !== undefined) ? ids : undefined;
});

export const modelIds = readable('model IDs separated by commas, such as some-id,other-id', (value) => {
  const ids = commaSeparated(value);
  return ids.every((id) => /^[^\s,]{1,200}$/.test(id)) ? ids : undefined;
});

export const families = readable(
  `interfaces separated by commas: ${GATEWAY_FAMILIES.join(', ')}`,
  (value): readonly GatewayFamily[] | undefined => {
    const names = commaSeparated(value);
    const known = GATEWAY_FAMILIES.filter((family) => names.includes(family));
    return known.length === names.length ? known : undefined;
  },
);

/** Sent as an HTTP header. This and all fields below are secrets, so their errors never show the value. */
export const apiKey = z.stringFormat(
  'key',
  /^[\x21-\x7e]+$/,
  'contains a space or another character that is not allowed in keys: copy only the key itself.',
);

/** The value is not shown, because people paste keys here by mistake. */
export const gatewayUrl = z
  .string()
  .refine((value) => readHttpUrl(value), `is not a gateway URL: it must be ${HTTP_URL}.`)
  .transform((value) => readHttpUrl(value) ?? value);

export const redisUrl = z.stringFormat(
  'redis',
  (value) => URL.canParse(value) && /^rediss?:$/.test(new URL(value).protocol),
  'is not a Redis URL: it must look like redis://host:6379 or rediss://user:password@host:6380.',
);

/** 32 random characters of any common alphabet have at least 128 bits. */
export const signingSecret = z.stringFormat(
  'secret',
  (value) => value.length >= 32,
  'is too short: use at least 32 characters, for example from "openssl rand -hex 32".',
);

/** https://docs.discord.com/developers/reference#authentication: the bot's id, a timestamp and a signature, joined by dots. */
export const discordToken = z
  .string()
  .regex(/^(?!bot\s)/i, {
    error: 'starts with the word “Bot”: remove that word and keep only the token.',
    abort: true,
  })
  .regex(
    /^[\w-]{10,}\.[\w-]{4,}\.[\w-]{10,}$/,
    'is not a bot token. A bot token has three parts separated by dots. Copy the token, not the client secret or public key, from the Bot page of your application at https://discord.com/developers/applications.',
  );

/** https://docs.slack.dev/authentication/tokens */
export function slackToken(prefix: 'xoxb-' | 'xapp-', where: string) {
  return z.stringFormat(
    'token',
    new RegExp(`^${prefix}[\\w-]{10,}$`),
    `is not the right kind of token: copy the one that starts with ${prefix} under "${where}" of your app at https://api.slack.com/apps.`,
  );
}

/** Slack uses 32 hexadecimal digits. */
export function slackSecret(where: 'Signing Secret' | 'Client Secret') {
  return z.stringFormat(
    'secret',
    /^[\w-]{16,}$/,
    `is not the right secret: copy it from "Basic Information, App Credentials, ${where}" of your app at https://api.slack.com/apps.`,
  );
}

export const slackClientId = z.stringFormat(
  'client id',
  /^\d+\.\d+$/,
  expected('the Client ID under "Basic Information, App Credentials": two numbers separated by a dot'),
);
