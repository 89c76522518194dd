import { describe, expect, test } from 'vitest';
import { ConfigError, readConfig } from '../../../src/app/config/read.ts';

const SLACK_BOT_TOKEN = 'xoxb-000000000000-000000000000-madeUpForThisTest';
const SLACK_APP_TOKEN = 'xapp-1-A0000000000-0000000000000-madeupforthistest';
const SLACK_SIGNING_SECRET = '0123456789abcdef0123456789abcdef';
const SLACK_CLIENT_ID = '1234567890.9876543210';
const SLACK_CLIENT_SECRET = 'fedcba9876543210fedcba9876543210';
const PUBLIC_URL = 'https://bot.example';

const problemsOf = (environment: Record<string, string>): readonly string[] => {
  try {
    readConfig(environment);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ sentence }) => sentence);
    throw error;
  }
};

describe('Slack', () => {
  test('uses HTTP with a signing secret', () => {
    expect(readConfig({ SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET }).slack).toEqual({
      account: { type: 'token', botToken: SLACK_BOT_TOKEN },
      connection: { type: 'http', signingSecret: SLACK_SIGNING_SECRET },
      threads: false,
    });
  });

  test.each([
    [{ SLACK_SIGNING_SECRET }, { type: 'http', signingSecret: SLACK_SIGNING_SECRET }],
    [{ SLACK_APP_TOKEN }, { type: 'socket', appToken: SLACK_APP_TOKEN }],
  ])('supports many workspaces over both connections', (settings, connection) => {
    const { slack, warnings } = readConfig({
      SLACK_CLIENT_ID,
      SLACK_CLIENT_SECRET,
      SLACK_CLIENT_SECRET_PREVIOUS: SLACK_SIGNING_SECRET,
      SLACK_THREADS: '1',
      PUBLIC_URL,
      ...settings,
    });
    expect(slack).toEqual({
      account: {
        type: 'oauth',
        clientId: SLACK_CLIENT_ID,
        clientSecret: SLACK_CLIENT_SECRET,
        previousClientSecret: SLACK_SIGNING_SECRET,
        publicUrl: PUBLIC_URL,
      },
      connection,
      threads: true,
    });
    expect(warnings).toEqual([]);
  });

  test.each<[string, Record<string, string>, string]>([
    ['a token without a connection', { SLACK_BOT_TOKEN }, 'set SLACK_SIGNING_SECRET'],
    ['a signing secret without a token', { SLACK_SIGNING_SECRET }, 'SLACK_BOT_TOKEN is missing'],
    [
      'workspaces without a connection',
      { SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, PUBLIC_URL },
      'SLACK_APP_TOKEN is missing: SLACK_CLIENT_ID requires it',
    ],
    [
      'an id without its secret',
      { SLACK_CLIENT_ID, SLACK_APP_TOKEN, PUBLIC_URL },
      'SLACK_CLIENT_SECRET is missing',
    ],
    ['a secret without its id', { SLACK_CLIENT_SECRET, SLACK_APP_TOKEN }, 'SLACK_CLIENT_ID is missing'],
    [
      'workspaces without a public URL',
      { SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, SLACK_APP_TOKEN },
      'PUBLIC_URL is missing',
    ],
    [
      'both a single workspace and many',
      { SLACK_BOT_TOKEN, SLACK_CLIENT_ID, SLACK_CLIENT_SECRET, SLACK_APP_TOKEN, PUBLIC_URL },
      'SLACK_BOT_TOKEN cannot be used with SLACK_CLIENT_ID',
    ],
    [
      'an app id instead of a client id',
      { SLACK_CLIENT_ID: 'A0123456', SLACK_CLIENT_SECRET, SLACK_APP_TOKEN, PUBLIC_URL },
      'two numbers separated by a dot',
    ],
    ['a truncated secret', { SLACK_BOT_TOKEN, SLACK_SIGNING_SECRET: 'abc' }, 'Basic Information'],
  ])('reports %s in one sentence', (_name, environment, sentence) => {
    const problems = problemsOf(environment);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(sentence);
  });

  test('warns about settings without effect', () => {
    expect(readConfig({ SLACK_THREADS: '1' }).warnings).toEqual([
      'SLACK_THREADS has no effect without SLACK_BOT_TOKEN or SLACK_CLIENT_ID.',
    ]);
    expect(readConfig({ SLACK_BOT_TOKEN, SLACK_APP_TOKEN, SLACK_SIGNING_SECRET }).warnings).toEqual([
      expect.stringContaining('SLACK_SIGNING_SECRET has no effect with SLACK_APP_TOKEN'),
    ]);
  });
});
