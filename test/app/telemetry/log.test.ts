import { hostname } from 'node:os';
import { DiscordAPIError } from 'discord.js';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { createLog } from '../../../src/app/telemetry/log.ts';
import { UserError } from '../../../src/core/errors.ts';
import { invalid, transportError } from '../../../src/gateway/transport/errors.ts';
import { refused } from '../../../src/gateway/transport/refusals.ts';
import { MediaError } from '../../../src/media/errors.ts';
import { StorageError } from '../../../src/storage/storage.ts';

it('removes secrets and signed URLs', () => {
  const lines: string[] = [];
  const log = createLog({
    level: 'info',
    write: (line) => lines.push(line),
    secrets: ['gateway-key-123', 'tiny'],
  });
  const url = 'https://discord.com/api/v10/webhooks/123/interaction.token-1/messages/@original';
  log.error(
    { err: new Error('failed with gateway-key-123'), url },
    'POST https://bot.example/callbacks/music/job1/sig-2 with gateway-key-123 of redis://user:sig-4@redis:6379',
  );
  log.warn(
    { link: 'https://bot.example/files/a.mp3?expires=1&signature=sig-3', header: 'Bearer abcdef-12345678' },
    'kept',
  );
  const text = lines.join('');
  for (const secret of [
    'gateway-key-123',
    'interaction.token-1',
    'sig-2',
    'sig-3',
    'sig-4',
    'abcdef-12345678',
  ]) {
    expect(text).not.toContain(secret);
  }
  expect(text).toContain('/webhooks/123/[secret]/messages');
  expect(lines).toHaveLength(2);
  expect(lines.every((line) => JSON.parse(line))).toBe(true);
});

it('writes the time in ISO 8601, the level as a word, and the replica', () => {
  const lines: string[] = [];
  createLog({ level: 'info', write: (line) => lines.push(line), secrets: [] }).warn({ job: 'a1' }, 'Slow');
  const { time, ...fields } = JSON.parse(lines.join(''));
  expect(new Date(time).toISOString()).toBe(time);
  expect(fields).toEqual({
    level: 'warn',
    replica: `${hostname()}-${process.pid}`,
    job: 'a1',
    msg: 'Slow',
  });
});

const SECRET = 'a letter to my grandmother';

function errorOf(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

function loggedOf(error: unknown, field = 'err') {
  const lines: string[] = [];
  const log = createLog({ level: 'trace', write: (line) => lines.push(line), secrets: [] });
  log.warn({ [field]: error }, 'Something failed');
  return lines.join('');
}

const schema = z.object({ prompt: z.literal('x') });

it.each<[string, unknown, object]>([
  [
    'Discord rejects a body',
    new DiscordAPIError(
      { code: 50_035, message: SECRET, errors: { content: { _errors: [{ code: 'X', message: SECRET }] } } },
      50_035,
      400,
      'POST',
      `https://discord.com/api/${encodeURIComponent(SECRET)}`,
      { files: [], body: { content: SECRET } },
    ),
    { code: 50_035, status: 400, method: 'POST' },
  ],
  [
    'the gateway rejects a request with a message',
    refused(
      'music/generate',
      { status: 400, refusal: { message: SECRET, names: [SECRET] }, text: `{"prompt":"${SECRET}"}` },
      (text) => text,
    ),
    { name: 'GatewayError', route: 'music/generate', status: 400, taken: 'no' },
  ],
  ['a request is invalid', invalid('music/generate', 'style is missing'), { message: 'style is missing' }],
  ['text is not JSON', errorOf(() => JSON.parse(`{"${SECRET}`)), { name: 'SyntaxError' }],
  [
    'a value is invalid',
    errorOf(() => schema.parse({ prompt: SECRET })),
    { issues: ['invalid_value at prompt'] },
  ],
  ['an error is meant for a person', new UserError(`“size” cannot be “${SECRET}”.`), { name: 'UserError' }],
  ['a URL is invalid', errorOf(() => new URL(SECRET)), { code: 'ERR_INVALID_URL' }],
  [
    'a message has lines that resemble a stack',
    new Error(`first\n    at ${SECRET} (file:///x.ts:1:1)`),
    { name: 'Error' },
  ],
  [
    'one error causes another',
    new StorageError('full', 'The disk is full.', new Error(SECRET, { cause: new Error(SECRET) })),
    { code: 'full', message: 'The disk is full.', cause: { name: 'Error', cause: { name: 'Error' } } },
  ],
  [
    'several errors are combined',
    new AggregateError([new MediaError('network', 'The connection failed'), new Error(SECRET)], SECRET),
    { errors: [{ code: 'network' }, { name: 'Error' }] },
  ],
])('logs the cause and quotes nobody when %s', (_case, error, facts) => {
  const text = loggedOf(error);
  expect(text).not.toContain('grandmother');
  expect(JSON.parse(text)).toMatchObject({ err: facts, msg: 'Something failed' });
  expect(JSON.parse(text).err.stack).toMatch(/^ {4}at .*log\.test\.ts/m);
  expect(loggedOf(error, 'cause')).not.toContain('grandmother');
});

it('logs a failed connection without stacks', () => {
  const cause = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', syscall: 'connect' });
  const { err } = JSON.parse(
    loggedOf(transportError('chat/models', new TypeError('fetch failed', { cause }))),
  );
  expect(err).toMatchObject({
    code: 'network',
    message: 'ECONNREFUSED',
    cause: { cause: { code: 'ECONNREFUSED' } },
  });
  expect(JSON.stringify(err)).not.toContain('"stack"');
});
