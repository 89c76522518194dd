/** Connects Discord and Slack, and prepares their applications. */
import * as prompts from '@clack/prompts';
import { commandsFor } from '../../../commands/index.ts';
import { servicesIn } from '../../app/config/accounts.ts';
import type { Variable } from '../../app/config/schema.ts';
import { FULL_OFFER } from '../../core/models/family.ts';
import { docsPage } from '../../core/util/installation.ts';
import {
  type InstallableApplication,
  isInServer,
  prepareApplication,
} from '../../platforms/discord/connection/install.ts';
import { PlatformError } from '../../platforms/platform.ts';
import { createSlackApp } from '../../platforms/slack/connection/create-app.ts';
import { createManifest } from '../../platforms/slack/manifest.ts';
import {
  answerTo,
  askSetting,
  Cancelled,
  clearSettings,
  type SetupSession,
  settingOf,
  settingsOf,
  streamsOf,
  withoutEcho,
} from './session.ts';

/** The settings that turn a chat on, or require others that do. */
const CONNECTIONS: Readonly<Record<'discord' | 'slack', readonly Variable[]>> = {
  discord: ['DISCORD_TOKEN'],
  slack: [
    'SLACK_BOT_TOKEN',
    'SLACK_APP_TOKEN',
    'SLACK_SIGNING_SECRET',
    'SLACK_CLIENT_ID',
    'SLACK_CLIENT_SECRET',
    'SLACK_CLIENT_SECRET_PREVIOUS',
  ],
};

export async function askChats(session: SetupSession): Promise<void> {
  const { current } = session;
  const chats = await answerTo(
    prompts.multiselect({
      message: 'Where will people use the bot? (press Space to select)',
      options: [
        { value: 'discord', label: 'Discord' },
        { value: 'slack', label: 'Slack' },
      ],
      initialValues: [
        ...(current.DISCORD_TOKEN ? ['discord'] : []),
        ...(current.SLACK_BOT_TOKEN || current.SLACK_CLIENT_ID ? ['slack'] : []),
      ],
      required: false,
      ...streamsOf(session),
    }),
  );
  for (const [chat, variables] of Object.entries(CONNECTIONS))
    if (!chats.includes(chat)) clearSettings(session, variables);
  if (chats.includes('discord')) await askDiscord(session);
  if (chats.includes('slack')) await askSlack(session);
}

async function askDiscord(session: SetupSession): Promise<void> {
  const { output } = session;
  prompts.note(
    [
      '1. Open https://discord.com/developers/applications and create a New Application',
      '2. On the Bot page, choose Reset Token and copy the token',
    ].join('\n'),
    'Discord',
    { output },
  );
  await askSetting(session, 'DISCORD_TOKEN', 'Discord bot token', { isSecret: true });
  const account = {
    token: settingOf(session, 'DISCORD_TOKEN'),
    apiUrl: settingOf(session, 'DISCORD_API_URL') || undefined,
  };
  try {
    const application = await withoutEcho(session, prepareApplication(account));
    prompts.log.success(`“${application.name}” can now be added to servers and to people's accounts.`, {
      output,
    });
    if (settingOf(session, 'DISCORD_MESSAGE_CONTENT') === '1' && !application.hasMessageContent)
      prompts.log.warn(`The Message Content Intent is off. Turn it on at ${application.portalUrl}/bot`, {
        output,
      });
    if (!(await withoutEcho(session, isInServer(account))))
      await waitForServer(session, account, application);
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    prompts.log.warn(`${error.message}.`, { output });
  }
}

const POLL_MS = 2_000;

/** Waits until someone adds the bot to a server, or the person chooses to do this later. */
async function waitForServer(
  session: SetupSession,
  account: Parameters<typeof isInServer>[0],
  { invitation }: InstallableApplication,
): Promise<void> {
  const { output, examination } = session;
  // One line, so that terminals recognise the address.
  output.write(`Add the bot to a server:\n${invitation}\n`);
  const [joined, stopped] = [new AbortController(), new AbortController()];
  const poll = async () => {
    while (!stopped.signal.aborted) {
      await examination.sleep(POLL_MS, stopped.signal);
      // An outage here is reported by the doctor afterwards.
      if (await isInServer(account).catch(() => false)) return joined.abort();
    }
  };
  const polling = poll();
  const answer = await prompts.select({
    message: 'Waiting until the bot is in a server',
    options: [{ value: 'later', label: 'Do this later' }],
    signal: joined.signal,
    ...streamsOf(session),
  });
  stopped.abort();
  await polling;
  if (joined.signal.aborted) prompts.log.success('The bot is in a server.', { output });
  else if (prompts.isCancel(answer)) throw new Cancelled();
}

const APPS = 'https://api.slack.com/apps';

/** Sets up Socket Mode for one workspace. Other setups are done by hand; only their secrets can be changed here. */
async function askSlack(session: SetupSession): Promise<void> {
  const { current } = session;
  const byHttp = Boolean(current.SLACK_SIGNING_SECRET) && !current.SLACK_APP_TOKEN;
  const byOauth = Boolean(current.SLACK_CLIENT_ID);
  if (!byHttp && !byOauth && !current.SLACK_BOT_TOKEN) await askSlackApp(session);
  const isSecret = true;
  if (byOauth) await askSetting(session, 'SLACK_CLIENT_SECRET', 'Client secret', { isSecret });
  else await askSetting(session, 'SLACK_BOT_TOKEN', 'Slack bot token', { isSecret });
  if (byHttp) await askSetting(session, 'SLACK_SIGNING_SECRET', 'Signing secret', { isSecret });
  else await askSetting(session, 'SLACK_APP_TOKEN', 'App-level token', { isSecret });
}

/** Creates the app, and explains where its two tokens are. It uses Socket Mode, which needs no public URL. */
async function askSlackApp(session: SetupSession): Promise<void> {
  const { output } = session;
  const way = await answerTo(
    prompts.select({
      message: 'How do you want to create the Slack app?',
      options: [
        { value: 'link', label: 'In the browser', hint: 'with a link that fills in everything' },
        { value: 'token', label: 'From here', hint: `with a configuration token from ${APPS}` },
      ],
      ...streamsOf(session),
    }),
  );
  const app = way === 'token' ? await createdApp(session) : undefined;
  if (app === undefined) {
    // https://docs.slack.dev/app-manifests/configuring-apps-with-app-manifests
    const query = new URLSearchParams({
      new_app: '1',
      manifest_json: JSON.stringify(manifestOf(session)),
    });
    output.write(`Open this link, choose your workspace, and press Create:\n${APPS}?${query}\n`);
  }
  const page = (path: string) => (app === undefined ? 'of the new app' : `at ${APPS}/${app}/${path}`);
  prompts.note(
    [
      `1. Under OAuth & Permissions ${page('oauth')}, choose Install, then copy the bot token (xoxb-…)`,
      `2. Under Basic Information, App-Level Tokens ${page('general')}, generate a token with connections:write (xapp-…)`,
      `For HTTP requests or many workspaces, see ${docsPage('slack.md')}`,
    ].join('\n'),
    'Slack',
    { output },
  );
}

/** With the commands of the services that were chosen before. */
function manifestOf(session: SetupSession): ReturnType<typeof createManifest> {
  return createManifest(commandsFor(servicesIn(settingsOf(session)) ?? FULL_OFFER));
}

/** Returns the app's id. Undefined, with a warning, if Slack refuses. */
async function createdApp(session: SetupSession): Promise<string | undefined> {
  const { output, examination } = session;
  const token = await answerTo(
    prompts.password({
      message: 'App configuration token (used once, not saved)',
      validate: (typed = '') =>
        /^xoxe\.xoxp-[\w-]+$/.test(typed.trim())
          ? undefined
          : `This is not a configuration token: generate one at the bottom of ${APPS}. It starts with xoxe.xoxp-.`,
      ...streamsOf(session),
    }),
  );
  try {
    const apiUrl = settingOf(session, 'SLACK_API_URL') || undefined;
    const created = createSlackApp(token.trim(), manifestOf(session), {
      apiUrl,
      log: examination.log,
    });
    const app = await withoutEcho(session, created);
    prompts.log.success('Created the Slack app.', { output });
    return app;
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    prompts.log.warn(`${error.message}. Create the app in the browser instead.`, { output });
    return undefined;
  }
}
