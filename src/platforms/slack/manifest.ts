/** The Slack app manifest, made from the same declarations that the bot runs: https://docs.slack.dev/reference/app-manifest */
import type { webApi } from '@slack/bolt';
import type { AnyCommand } from '../../core/bot/command.ts';
import type { OptionDeclaration, OptionDeclarations } from '../../core/options.ts';
import { present } from '../../core/util/present.ts';
import { ellipsis } from '../../core/util/words.ts';
import { typedChoice } from '../shared/values.ts';
import { inSlackWords } from './words.ts';

type Manifest = NonNullable<Parameters<webApi.WebClient['apps']['manifest']['validate']>[0]>['manifest'];

type Scopes = NonNullable<NonNullable<NonNullable<Manifest['oauth_config']>['scopes']>['bot']>;
type Events = NonNullable<
  NonNullable<NonNullable<Manifest['settings']>['event_subscriptions']>['bot_events']
>;

/** The callback ids of shortcuts; a command's name follows. */
export const MESSAGE_SHORTCUT = 'message-menu:';
export const GLOBAL_SHORTCUT = 'form:';
/** Where Slack sends events; below the listener's public address, as are the next two. */
export const EVENTS_PATH = '/slack/events';
/** Where browsers install the app, and where Slack sends them back to. */
export const INSTALL_PATH = '/slack/install';
export const REDIRECT_PATH = '/slack/oauth_redirect';

export interface ManifestOptions {
  /** Where Slack reaches the listener; without it the app connects by Socket Mode and needs no public address. */
  readonly url?: string | undefined;
  /** Events come by Socket Mode although there is a `url`, which then only serves to install. */
  readonly socket?: boolean | undefined;
  /** Threads that the bot takes part in go on without its name: it then gets every message of its channels. */
  readonly threads?: boolean | undefined;
  /** Many workspaces install it, by the pages at `url`. */
  readonly oauth?: boolean | undefined;
}

/** Slack adds it to an app that is an agent; without it everything else works. */
export const AGENT_SCOPE = 'assistant:write';

/** Least scopes; docs/slack.md says of each what it is for. */
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

/** Slack's figures, in characters, from the manifest reference. */
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
  'Ask questions. Where your workspace allows it, ask for songs, lyrics, images and videos in plain words too.';
const DESCRIPTION = 'Songs, lyrics, stems, images, videos and answers, from slash commands';

/** Builds the manifest for Socket Mode, or for HTTP when a `url` is given. */
export function createManifest(
  declared: readonly AnyCommand[],
  { url, socket = url === undefined, threads = false, oauth = false }: ManifestOptions = {},
): Manifest {
  const commands = declared.map(inSlackWords);
  const base = url?.replace(/(?<!\/)\/+$/, '');
  const requestUrl = base === undefined || socket ? undefined : `${base}${EVENTS_PATH}`;
  return {
    _metadata: { major_version: 1, minor_version: 1 },
    display_information: {
      name: 'Minstrel',
      description: ellipsis(DESCRIPTION, 140),
      background_color: '#2b1d52',
    },
    features: {
      bot_user: { display_name: 'minstrel', always_online: true },
      app_home: {
        home_tab_enabled: true,
        messages_tab_enabled: true,
        messages_tab_read_only_enabled: false,
      },
      // Prompts follow what moderators allow, so they are set when a person opens the view.
      agent_view: { agent_description: ellipsis(AGENT_DESCRIPTION, LIMITS.agentDescription) },
      slash_commands: commands.map((command) => slashCommand(command, requestUrl)),
      shortcuts: shortcuts(commands).slice(0, LIMITS.shortcuts),
    },
    oauth_config: {
      ...(oauth && base !== undefined && { redirect_urls: [`${base}${REDIRECT_PATH}`] }),
      // The SDK's types do not list the newest scopes and events yet.
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
      // An organisation may install it for all of its workspaces at once.
      org_deploy_enabled: oauth,
      socket_mode_enabled: socket,
      // It cannot be switched off again, so an app for one workspace does not switch it on.
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
    // Mentions and links then come with their names; unescapeSlack undoes them.
    should_escape: true,
    ...present({ url }),
  };
}

/** As it is typed: `[prompt] --style … --instrumental`. Files cannot be typed. */
function usageHint(options: OptionDeclarations, subcommands: readonly string[]): string {
  const entries = Object.entries(options).filter(([, { type }]) => type !== 'file');
  const [free] = entries.find(([, { type }]) => type === 'text') ?? [];
  const words = entries.map(([name, option]) => (name === free ? `[${name}]` : flag(name, option)));
  return [...(subcommands.length > 0 ? [subcommands.join(' | ')] : []), ...words].join(' ');
}

function flag(name: string, option: OptionDeclaration): string {
  if (option.type === 'flag') return `--${name}`;
  if (option.type === 'choice') return `--${name} ${option.choices.map(typedChoice).join('|')}`;
  return `--${name} …`;
}

function shortcuts(commands: readonly AnyCommand[]) {
  const menus = commands.flatMap(({ name, description, messageMenu: menu }) =>
    menu === undefined
      ? []
      : [shortcut('message', menu.label, `${MESSAGE_SHORTCUT}${name}`, `${description} from a message`)],
  );
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
