import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { commands } from '../../../commands/index.ts';
import { manifest } from '../../../src/cli/manifest.ts';
import { FULL_OFFER } from '../../../src/core/models/family.ts';
import {
  BOT_EVENTS,
  BOT_SCOPES,
  createManifest,
  THREAD_EVENTS,
} from '../../../src/platforms/slack/manifest.ts';
import { MINSTREL } from '../../servers/program.ts';
import { COMMANDS } from './harness.ts';

// https://docs.slack.dev/reference/app-manifest
const expectLength = (text: string | undefined, limit: number) => {
  expect(text?.length).toBeGreaterThan(0);
  expect(text?.length).toBeLessThanOrEqual(limit);
};

describe.each([
  ["the bot's commands", commands],
  ['other commands', COMMANDS],
])('the manifest of %s', (_, declared) => {
  it("has every slash command, within Slack's limits", () => {
    const { display_information: display, features } = createManifest(declared);
    expectLength(display.name, 35);
    expectLength(display.description, 140);
    expect(display.background_color).toMatch(/^#[0-9a-f]{6}$/);
    expect(features?.bot_user?.display_name).toMatch(/^[a-z0-9._-]{1,80}$/);
    const slashCommands = features?.slash_commands ?? [];
    expect(slashCommands.map(({ command }) => command)).toEqual(declared.map(({ name }) => `/${name}`));
    expect(slashCommands.length).toBeLessThanOrEqual(50);
    for (const { command, description, usage_hint: hint = '-' } of slashCommands) {
      expect(command).toMatch(/^\/[a-z0-9_-]+$/);
      expectLength(command, 32);
      expectLength(description, 2000);
      expectLength(hint, 1000);
    }
  });

  it('has a shortcut for every message menu, and one for the song form', () => {
    const shortcuts = createManifest(declared).features?.shortcuts ?? [];
    const menus = declared.flatMap(({ name, messageMenu }) => (messageMenu ? [`message-menu:${name}`] : []));
    expect(shortcuts.map(({ callback_id }) => callback_id).toSorted()).toEqual([
      'form:song',
      ...menus.toSorted(),
    ]);
    expect(shortcuts.length).toBeLessThanOrEqual(10);
    for (const { name, callback_id, description } of shortcuts) {
      expectLength(name, 24);
      expectLength(callback_id, 255);
      expectLength(description, 150);
    }
  });
});

describe('the connection in the manifest', () => {
  it('is Socket Mode by default', () => {
    const { settings, features } = createManifest(commands);
    expect(settings?.socket_mode_enabled).toBe(true);
    expect(JSON.stringify({ settings, features })).not.toContain('http');
  });

  it('is HTTP if there is a URL, which receives every request', () => {
    const { settings, features } = createManifest(commands, { url: 'https://bot.example/' });
    const address = 'https://bot.example/slack/events';
    expect(settings).toMatchObject({
      socket_mode_enabled: false,
      event_subscriptions: { request_url: address },
      interactivity: { is_enabled: true, request_url: address, message_menu_options_url: address },
    });
    expect(features?.slash_commands?.map(({ url }) => url)).toEqual(commands.map(() => address));
  });
});

describe('the scopes and events in the manifest', () => {
  it('include what the events need, and docs/slack.md explains each scope', async () => {
    const { readFile } = await import('node:fs/promises');
    const docs = await readFile(new URL('../../../docs/slack.md', import.meta.url), 'utf8');
    for (const scope of BOT_SCOPES) expect(docs).toContain(`\`${scope}\``);
    /** The scope of each event: https://docs.slack.dev/reference/events */
    const needed = {
      agent_session_stopped: 'assistant:write',
      app_home_opened: undefined,
      app_mention: 'app_mentions:read',
      app_uninstalled: undefined,
      'message.im': 'im:history',
      tokens_revoked: undefined,
    } as const satisfies Record<(typeof BOT_EVENTS)[number], string | undefined>;
    for (const event of BOT_EVENTS) expect([...BOT_SCOPES, undefined]).toContain(needed[event]);
    const threadScopes = {
      'message.channels': 'channels:history',
      'message.groups': 'groups:history',
      'message.mpim': 'mpim:history',
    } as const satisfies Record<(typeof THREAD_EVENTS)[number], string>;
    for (const event of THREAD_EVENTS) expect(BOT_SCOPES).toContain(threadScopes[event]);
  });

  it('include those of an agent', () => {
    const { features, settings, oauth_config: oauth } = createManifest(commands);
    expectLength(features?.agent_view?.agent_description, 300);
    expect(features).not.toHaveProperty('assistant_view');
    expect(features?.app_home).toMatchObject({
      messages_tab_enabled: true,
      messages_tab_read_only_enabled: false,
    });
    expect(oauth?.scopes?.bot).toEqual(
      expect.arrayContaining(['assistant:write', 'chat:write', 'im:history']),
    );
    expect(settings?.event_subscriptions?.bot_events).toEqual(
      expect.arrayContaining(['agent_session_stopped', 'app_home_opened', 'message.im']),
    );
  });

  it('include channel messages only with --threads', () => {
    const withoutThreads = createManifest(commands);
    expect(JSON.stringify(withoutThreads)).not.toMatch(/message\.(channels|groups|mpim)/);
    const { settings } = createManifest(commands, { threads: true });
    expect(settings?.event_subscriptions?.bot_events).toEqual(expect.arrayContaining([...THREAD_EVENTS]));
  });

  it('let workspaces install the app over either connection', () => {
    const url = 'https://bot.example/';
    const byHttp = createManifest(commands, { url, oauth: true });
    expect(byHttp.oauth_config?.redirect_urls).toEqual(['https://bot.example/slack/oauth_redirect']);
    expect(byHttp.settings).toMatchObject({ socket_mode_enabled: false, token_rotation_enabled: true });
    const bySocket = createManifest(commands, { url, oauth: true, socket: true });
    expect(bySocket.oauth_config?.redirect_urls).toEqual(['https://bot.example/slack/oauth_redirect']);
    expect(bySocket.settings).toMatchObject({ socket_mode_enabled: true });
    expect(JSON.stringify(bySocket)).not.toContain('/slack/events');
  });
});

describe('npm run manifest', () => {
  it('prints JSON', () => {
    expect(JSON.parse(manifest({}, FULL_OFFER))).toEqual(createManifest(commands));
    expect(JSON.parse(manifest({ url: 'https://bot.example' }, FULL_OFFER))).toEqual(
      createManifest(commands, { url: 'https://bot.example' }),
    );
  });

  it.each([
    ['--url', 'http://bot.example'],
    ['--url', 'nonsense'],
    ['--colour', 'red'],
    ['stray'],
    ['--oauth'],
  ])('reports the invalid arguments %s %s', (...args) => {
    const program = [MINSTREL, 'manifest', ...args.filter((arg) => arg !== undefined)];
    const { status, stderr } = spawnSync(process.execPath, program, { encoding: 'utf8' });
    expect(status).toBe(1);
    expect(stderr).toContain('Usage: npm run --silent manifest');
  });
});
