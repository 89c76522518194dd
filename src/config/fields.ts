/** What single settings may hold. Each failure is the end of a sentence that begins with the variable's name. */
import { z } from 'zod';

/** Reads a value or returns undefined; `expected` says what would be right, and what is there is shown beside it. */
export function open<Value>(expected: string, read: (value: string) => Value | undefined) {
  return z.string().transform((value, context): Value => {
    const result = read(value);
    if (result !== undefined) return result;
    context.addIssue({ code: 'custom', message: `is ${shorten(value)}: it must be ${expected}.` });
    return z.NEVER;
  });
}

/** Like {@link open} for values that nobody may see: the sentence never shows what is there. */
function secret<Value>(mistake: (value: string) => string | undefined, read: (value: string) => Value) {
  return z.string().transform((value, context): Value => {
    const sentence = mistake(value);
    if (sentence === undefined) return read(value);
    context.addIssue({ code: 'custom', message: sentence });
    return z.NEVER;
  });
}

function shorten(value: string): string {
  return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
}

export function wholeNumber(minimum: number, maximum: number) {
  return open(`a whole number from ${minimum} to ${maximum}`, (value) => {
    const number = /^\d{1,9}$/.test(value) ? Number(value) : Number.NaN;
    return number >= minimum && number <= maximum ? number : undefined;
  });
}

export const flag = open('1 (on) or 0 (off)', (value) =>
  value === '1' ? true : value === '0' ? false : undefined,
);

export function oneOf<const Value extends string>(values: readonly Value[]) {
  return open(`one of ${values.join(', ')}`, (value) => values.find((candidate) => candidate === value));
}

const HTTP_URL =
  'a URL that begins with https:// or http://, without a user, query or fragment, such as https://example.org';

function readHttpUrl(value: string): string | undefined {
  if (!URL.canParse(value)) return undefined;
  const { protocol, username, password, search, hash, href } = new URL(value);
  if (!['https:', 'http:'].includes(protocol) || username || password || search || hash) return undefined;
  return href.replace(/\/+$/, '');
}

/** The slash at its end goes. */
export const httpUrl = open(HTTP_URL, readHttpUrl);

export const host = open('a host name or an address, such as 127.0.0.1 or 0.0.0.0', (value) =>
  /^[\w.:-]{1,253}$/.test(value) ? value : undefined,
);

function readFolder(value: string): string | undefined {
  return value.includes('\0') || /^[a-z][a-z\d+.-]+:\/\//i.test(value) ? undefined : value;
}

export const folder = open('a folder, such as ./data', readFolder);

/** Amazon's naming rules, and the capitals and underscores that other services allow. */
const BUCKET = /^[a-z\d][\w.-]{1,61}[a-z\d]$/i;

/** A folder, or a bucket with what stands before every key in it: empty, or ending with a slash. */
export const mediaStore = open(
  'a folder, such as ./data/media, or a bucket, such as s3://my-bucket or s3://my-bucket/minstrel',
  (value) => {
    const [, bucket, path = ''] = /^s3:\/\/([^/]*)(?:\/(.*))?$/.exec(value) ?? [];
    if (bucket !== undefined) {
      const folders = path.split('/').filter((name) => name !== '');
      if (!BUCKET.test(bucket) || !folders.every((name) => /^(?!\.{1,2}$)[\w.-]{1,200}$/.test(name)))
        return undefined;
      return { type: 's3' as const, bucket, prefix: folders.map((name) => `${name}/`).join('') };
    }
    const directory = readFolder(value);
    return directory === undefined ? undefined : { type: 'folder' as const, directory };
  },
);

export const region = open('the name of a region, such as eu-central-1 or auto', (value) =>
  /^[a-z\d-]{2,50}$/i.test(value) ? value : undefined,
);

export const hostList = open(
  'hosts with a comma between them, each as host or host:port, such as files.lan,10.0.0.7:9000',
  (value) => {
    const hosts = value.split(',').map((item) => item.trim());
    return hosts.every((item) => /^(\[[\da-f:.]+\]|[a-z\d._-]+)(:\d{1,5})?$/i.test(item)) ? hosts : undefined;
  },
);

/** `0-3/16`: shards 0 to 3 of 16. Counted from 0, as Discord does. */
export const shards = open(
  'the shards of this replica and how many there are in all, such as 0-3/16 or 5/16',
  (value) => {
    const [, first = '', last = first, all = ''] = /^(\d{1,5})(?:-(\d{1,5}))?\/(\d{1,5})$/.exec(value) ?? [];
    const [from, to, total] = [Number(first), Number(last), Number(all)];
    if (all === '' || from > to || to >= total) return undefined;
    return { ids: Array.from({ length: to - from + 1 }, (_, index) => from + index), total };
  },
);

/** A model id; a route before it is kept, for those who read it. */
export function model(routes: readonly string[]) {
  const prefixed = routes.map((route) => `${route}:some-id`).join(' or ');
  const expected = 'a model id without spaces';
  return open(prefixed ? `${expected}, or one with its route, as ${prefixed}` : expected, (value) => {
    const isWhole = /^\S{1,200}$/.test(value) && !routes.some((route) => value === `${route}:`);
    return isWhole ? value : undefined;
  });
}

const GEN_MODEL = 'the id of a gen model, such as some-id';

function readGenModel(value: string): string | undefined {
  const id = value.trim().replace(/^gen:/, '');
  return /^[^\s,]{1,200}$/.test(id) && !/^(chat|msg):/.test(id) ? id : undefined;
}

/** Without its route. */
export const genModel = open(GEN_MODEL, readGenModel);

export const genModels = open(`${GEN_MODEL}, or several with commas between them`, (value) => {
  const ids = value
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(readGenModel);
  return ids.every((id) => id !== undefined) ? ids : undefined;
});

/** https://ai.google.dev/gemini-api/docs/thinking: 0 is off, -1 automatic. */
export const thinkingBudget = open('-1 for automatic, or a whole number of tokens up to 100000', (value) => {
  const number = /^(-1|\d{1,6})$/.test(value) ? Number(value) : Number.NaN;
  return number <= 100_000 ? number : undefined;
});

export const temperature = open('a number from 0 to 2, such as 0.7', (value) => {
  const number = /^\d(\.\d{1,3})?$/.test(value) ? Number(value) : Number.NaN;
  return number <= 2 ? number : undefined;
});

/** Goes into an HTTP header as it is. */
export const apiKey = secret(
  (value) =>
    /^[\x21-\x7e]+$/.test(value)
      ? undefined
      : 'holds a space or a character that no key has: copy it again, whole and without what stands around it.',
  (value) => value,
);

/** People paste keys where addresses go, so it is not shown. */
export const gatewayUrl = secret(
  (value) => (readHttpUrl(value) ? undefined : `is not the address of a gateway: it must be ${HTTP_URL}.`),
  (value) => value.replace(/\/+$/, ''),
);

export const redisUrl = secret(
  (value) =>
    URL.canParse(value) && /^rediss?:$/.test(new URL(value).protocol)
      ? undefined
      : 'is not a Redis URL: it must look like redis://host:6379 or rediss://user:password@host:6380.',
  (value) => value,
);

/** 32 characters of any alphabet that people use for secrets hold at least 128 bits. */
const SECRET_LENGTH = 32;

export const signingSecret = secret(
  (value) =>
    value.length >= SECRET_LENGTH
      ? undefined
      : `is too short to be safe: give at least ${SECRET_LENGTH} characters, for instance what "openssl rand -hex 32" prints.`,
  (value) => value,
);

/** https://docs.discord.com/developers/reference#authentication: the bot's id, a time and a proof, with dots between. */
export const discordToken = secret(
  (value) => {
    if (/^bot\s/i.test(value)) return 'begins with the word Bot: give the token alone.';
    if (/^[\w-]{10,}\.[\w-]{4,}\.[\w-]{10,}$/.test(value)) return undefined;
    return 'is not a bot token: it has three parts with dots between them, from the page "Bot" of your application at https://discord.com/developers/applications (not the client secret, nor the public key).';
  },
  (value) => value,
);

/** Public, so what is there may be shown. */
export const discordPublicKey = open(
  'the public key of your application, 64 digits and letters from a to f, from the page "General Information" at https://discord.com/developers/applications',
  (value) => (/^[\da-f]{64}$/i.test(value) ? value.toLowerCase() : undefined),
);

/** https://docs.slack.dev/authentication/tokens */
export function slackToken(prefix: 'xoxb-' | 'xapp-', where: string) {
  return secret(
    (value) =>
      value.startsWith(prefix) && /^[\w-]{15,}$/.test(value)
        ? undefined
        : `is not the right kind of token: it begins with ${prefix} and stands under "${where}" of your app at https://api.slack.com/apps.`,
    (value) => value,
  );
}

/** Slack makes them of 32 hexadecimal digits. */
export function slackSecret(where: 'Signing Secret' | 'Client Secret') {
  return secret(
    (value) =>
      /^[\w-]{16,}$/.test(value)
        ? undefined
        : `is not the right secret: it stands under "Basic Information, App Credentials, ${where}" of your app at https://api.slack.com/apps.`,
    (value) => value,
  );
}

export const slackClientId = open(
  'the Client ID under "Basic Information, App Credentials", two numbers with a dot between them',
  (value) => (/^\d+\.\d+$/.test(value) ? value : undefined),
);
