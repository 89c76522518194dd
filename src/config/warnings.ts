/** Settings that are allowed, and probably not what was meant. */
import { distance } from 'fastest-levenshtein';
import { VARIABLES, type Values, type Variable } from './schema.ts';

/** Sentences for the operator. `names` are those of the whole environment. */
export function warningsAbout(values: Values, names: readonly string[]): string[] {
  return [...idleSettings(values), ...unknownSettings(names)];
}

function idleSettings(values: Values): string[] {
  const warnings: string[] = [];
  const { GATEWAY_BASE_URL, PUBLIC_URL, DISCORD_TOKEN } = values;
  const slack = values.SLACK_BOT_TOKEN ?? values.SLACK_CLIENT_ID;
  if (GATEWAY_BASE_URL && !isThisMachine(GATEWAY_BASE_URL) && (!PUBLIC_URL || isThisMachine(PUBLIC_URL)))
    warnings.push(
      'PUBLIC_URL names no address that the gateway can reach, so songs, lyrics and stems will never arrive: set it to where the internet reaches this listener.',
    );
  if (values.NODE_ENV === 'production' && !DISCORD_TOKEN && !slack)
    warnings.push('No chat is connected, so nobody can reach the bot: set DISCORD_TOKEN or SLACK_BOT_TOKEN.');
  for (const [variable, needed] of [
    ['DISCORD_API_URL', 'DISCORD_TOKEN'],
    ['DISCORD_SHARDS', 'DISCORD_TOKEN'],
    ['DISCORD_PUBLIC_KEY', 'DISCORD_TOKEN'],
    ['DISCORD_MESSAGE_CONTENT', 'DISCORD_TOKEN'],
    ['SLACK_CLIENT_SECRET_PREVIOUS', 'SLACK_CLIENT_ID'],
  ] as const)
    if (values[variable] && !values[needed]) warnings.push(`${variable} has no effect without ${needed}.`);
  for (const variable of ['SLACK_API_URL', 'SLACK_THREADS'] as const)
    if (values[variable] && !slack)
      warnings.push(`${variable} has no effect without SLACK_BOT_TOKEN or SLACK_CLIENT_ID.`);
  if (values.SLACK_APP_TOKEN && values.SLACK_SIGNING_SECRET)
    warnings.push(
      'SLACK_SIGNING_SECRET has no effect beside SLACK_APP_TOKEN, which opens the connection: take one of them out.',
    );
  if (values.DISCORD_HTTP_ONLY)
    for (const variable of ['DISCORD_SHARDS', 'DISCORD_MESSAGE_CONTENT'] as const)
      if (values[variable])
        warnings.push(`${variable} has no effect with DISCORD_HTTP_ONLY, which opens no connection.`);
  if (values.MEDIA_STORE?.type !== 's3')
    for (const variable of BUCKET_SETTINGS)
      if (values[variable])
        warnings.push(`${variable} has no effect without a bucket in MEDIA_STORE, such as s3://my-bucket.`);
  return warnings;
}

const BUCKET_SETTINGS = [
  'MEDIA_S3_ENDPOINT',
  'MEDIA_S3_REGION',
  'MEDIA_S3_ACCESS_KEY_ID',
  'MEDIA_S3_SECRET_ACCESS_KEY',
] as const satisfies readonly Variable[];

function isThisMachine(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0)$/.test(new URL(url).hostname);
}

const OUR_PREFIXES = /^(DISCORD|SLACK|GATEWAY|MEDIA|CALLBACK|MINSTREL)_/;

/** Shorter names are near too many that belong to other programs. */
const SHORTEST_COMPARED = 7;

function unknownSettings(names: readonly string[]): string[] {
  const known = new Set<string>(VARIABLES);
  return names
    .filter((name) => !known.has(name))
    .flatMap((name) => {
      const near = VARIABLES.filter((variable) => variable.length >= SHORTEST_COMPARED)
        .map((variable) => ({ variable, edits: distance(name.toUpperCase(), variable) }))
        .filter(({ edits }) => edits <= 2)
        .sort((left, right) => left.edits - right.edits)[0];
      if (near) return [`${name} is not a setting: did you mean ${near.variable}?`];
      return OUR_PREFIXES.test(name) ? [`${name} is not a setting of this version, and does nothing.`] : [];
    });
}
