/** Builds the Slack app manifest from the bot's command declarations: https://docs.slack.dev/reference/app-manifest */
import type { webApi } from '@slack/bolt';
import type { AnyCommand } from '../../core/bot/command.ts';
import { BRAND_DARK } from '../../core/brand.ts';
import type { OptionDeclaration, OptionDeclarations } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';
import { ellipsis } from '../../core/util/words.ts';
import { typedChoice } from '../shared/values.ts';
import { withSlackTerms } from './words.ts';

type Manifest = NonNullable<Parameters<webApi.WebClient['apps']['manifest']['validate']>[0]>['manifest'];

type Scopes = NonNullable<NonNullable<NonNullable<Manifest['oauth_config']>['scopes']>['bot']>;
type Events = NonNullable<
  NonNullable<NonNullable<Manifest['settings']>['event_subscriptions']>['bot_events']
>;

/** Prefixes of shortcut callback IDs. The command's name follows. */
export const MESSAGE_SHORTCUT = 'message-menu:';
export const GLOBAL_SHORTCUT = 'form:';
/** Path for Slack's events. Like the next two, it is relative to the listener's public address. */
export const EVENTS_PATH = '/slack/events';
/** Path of the installation page, and the path that Slack redirects to afterwards. */
export const INSTALL_PATH = '/slack/install';
export const REDIRECT_PATH = '/slack/oauth_redirect';

export interface ManifestOptions {
  /** The listener's public address. Without it, the app uses Socket Mode. */
  readonly url?: string | undefined;
  /** Uses Socket Mode for events. The `url` then serves only for installation. */
  readonly socket?: boolean | undefined;
  /** Subscribes to every message in the bot's channels, so that it answers in joined threads without a mention. */
  readonly threads?: boolean | undefined;
  /** Lets many workspaces install the app at `url`. */
  readonly oauth?: boolean | undefined;
}

/** Needed only for the agent view. */
export const AGENT_SCOPE = 'assistant:write';

/** The minimum scopes. docs/slack.md explains each. */
export const BOT_SCOPES = [
  'app_mentions:read',
  AGENT_SCOPE,
  'channels:history',
  'channels:read',
  'chat:write',
  'commands',
  'files:read',
  'files:write',
  'groups:history',
  'im:history',
  'im:write',
  'mpim:history',
  'users:read',
] as const;

export const BOT_EVENTS = [
  'agent_session_stopped',
  'app_home_opened',
  'app_mention',
  'app_uninstalled',
  'message.im',
  'tokens_revoked',
] as const;

export const THREAD_EVENTS = ['message.channels', 'message.groups', 'message.mpim'] as const;

/** Slack's limits from the manifest reference, in characters. */
const LIMITS = {
  command: 32,
  description: 2000,
  usageHint: 1000,
  shortcutDescription: 150,
  shortcuts: 10,
  agentDescription: 300,
} as const;

/** The command whose form the global shortcut opens. */
const SHORTCUT_COMMAND = 'song';
const AGENT_DESCRIPTION =
  'Ask me questions. If your workspace allows it, you can also ask for songs, lyrics, images and videos in plain words.';
const DESCRIPTION = 'Songs, lyrics, stems, images, videos and answers, from slash commands';

/** Builds the manifest: for HTTP if `url` is given, otherwise for Socket Mode. */
export function createManifest(
  declarations: readonly AnyCommand[],
  { url, socket = url === undefined, threads = false, oauth = false }: ManifestOptions = {},
): Manifest {
  const commands = declarations.map(withSlackTerms);
  const base = url?.replace(/(?<!\/)\/+$/, '');
  const requestUrl = base === undefined || socket ? undefined : `${base}${EVENTS_PATH}`;
  return {
    _metadata: { major_version: 1, minor_version: 1 },
    display_information: {
      name: 'Minstrel',
      description: ellipsis(DESCRIPTION, 140),
      background_color: BRAND_DARK,
    },
    features: {
      bot_user: { display_name: 'minstrel', always_online: true },
      app_home: {
        home_tab_enabled: true,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      // Prompts depend on the moderators' settings, so they are set when the view is opened.
      agent_view: { agent_description: ellipsis(AGENT_DESCRIPTION, LIMITS.agentDescription) },
      slash_commands: commands.map((command) => slashCommand(command, requestUrl)),
      shortcuts: shortcuts(commands).slice(0, LIMITS.shortcuts),
    },
    oauth_config: {
      ...(oauth && base !== undefined && { redirect_urls: [`${base}${REDIRECT_PATH}`] }),
      // The SDK's types do not list the newest scopes and events.
      scopes: { bot: [...BOT_SCOPES] as Scopes },
    },
    settings: {
      event_subscriptions: {
        ...present({ request_url: requestUrl }),
        bot_events: [...BOT_EVENTS, ...(threads ? THREAD_EVENTS : [])].sort() as Events,
      },
      interactivity: {
        is_enabled: true,
        ...present({ request_url: requestUrl, message_menu_options_url: requestUrl }),
      },
      // Lets an organisation install the app for all its workspaces.
      org_deploy_enabled: oauth,
      socket_mode_enabled: socket,
      // Token rotation cannot be turned off again, so only distributed apps use it.
      token_rotation_enabled: oauth,
    },
  };
}

function slashCommand({ name, description, options, subcommands }: AnyCommand, url: string | undefined) {
  const hint = usageHint(options, Object.keys(subcommands ?? {}));
  return {
    command: ellipsis(`/${name}`, LIMITS.command),
    description: ellipsis(description, LIMITS.description),
    ...(hint !== '' && { usage_hint: ellipsis(hint, LIMITS.usageHint) }),
    // Slack then sends mentions and links with their names. `unescapeSlack` decodes them.
    should_escape: true,
    ...present({ url }),
  };
}

/** Example: `[prompt] --style … --instrumental`. Files cannot be typed. */
function usageHint(options: OptionDeclarations, subcommands: readonly string[]): string {
  const entries = Object.entries(options).filter(([, { type }]) => type !== 'file');
  const [positional] = entries.find(([, { type }]) => type === 'text') ?? [];
  const words = entries.map(([name, option]) => (name === positional ? `[${name}]` : flag(name, option)));
  return [...(subcommands.length > 0 ? [subcommands.join(' | ')] : []), ...words].join(' ');
}

function flag(name: string, option: OptionDeclaration): string {
  if (option.type === 'flag') return `--${name}`;
  if (option.type === 'choice') return `--${name} ${option.choices.map(typedChoice).join('|')}`;
  return `--${name} …`;
}

function shortcuts(commands: readonly AnyCommand[]) {
  const menus = commands.flatMap(({ name, description, subcommands, messageMenu: menu }) => {
    if (menu === undefined) return [];
    const about =
      'subcommand' in menu
        ? (subcommands?.[menu.subcommand]?.description ?? description)
        : (menu.form?.description ?? description);
    return [shortcut('message', menu.label, `${MESSAGE_SHORTCUT}${name}`, about)];
  });
  const forms = commands
    .filter(({ name }) => name === SHORTCUT_COMMAND)
    .map(({ name, description }) =>
      shortcut('global', description, `${GLOBAL_SHORTCUT}${name}`, `${description} with a form`),
    );
  return [...menus, ...forms];
}

function shortcut(type: 'message' | 'global', name: string, callback: string, description: string) {
  return {
    type,
    name,
    callback_id: callback,
    description: ellipsis(description, LIMITS.shortcutDescription),
  };
}
