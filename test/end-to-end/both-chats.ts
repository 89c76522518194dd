/** Runs the bot on Discord and Slack at once. */
import { startUpstream, type Upstream } from '../jobs/ask/upstream.ts';
import { type DiscordServer, startDiscord } from '../servers/discord/index.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import { PATIENCE_MS, type RunningMinstrel, type StartOptions, startMinstrel } from './minstrel.ts';

export interface Chats {
  readonly discord: DiscordServer;
  readonly slack: SlackServer;
}

export interface BothChats extends Chats, AsyncDisposable {
  readonly running: RunningMinstrel;
}

/** @param settings called when the chats listen, and can prepare them before the bot connects */
export async function startOnBothChats(
  settings: (chats: Chats) => Readonly<Record<string, string>>,
  options: StartOptions = {},
): Promise<BothChats> {
  await using opened = new AsyncDisposableStack();
  const discord = await startDiscord({ responseDeadlineMs: PATIENCE_MS });
  opened.defer(() => discord.close());
  const slack = await startSlackServer({ ackTimeoutMs: PATIENCE_MS });
  opened.defer(() => slack.close());
  const running = opened.use(
    await startMinstrel(
      {
        DISCORD_TOKEN: discord.token,
        DISCORD_API_URL: discord.apiUrl,
        SLACK_BOT_TOKEN: slack.botToken,
        SLACK_APP_TOKEN: slack.appToken,
        SLACK_API_URL: slack.apiUrl,
        ...settings({ discord, slack }),
      },
      options,
    ),
  );
  await discord.until(() => discord.commands.length > 0, 'registered commands');
  const resources = opened.move();
  return { discord, slack, running, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}

/** As above, with answers scripted by the test. Other requests go to the emulator. */
export async function startOnUpstream(
  settings: Readonly<Record<string, string>> = {},
): Promise<BothChats & { readonly upstream: Upstream }> {
  await using opened = new AsyncDisposableStack();
  const upstream = opened.use(await startUpstream());
  // Replaced when the emulator listens.
  upstream.gateway = 'http://127.0.0.1:9';
  const world = opened.use(await startOnBothChats(() => ({ GATEWAY_BASE_URL: upstream.url, ...settings })));
  upstream.gateway = world.running.emulator.url;
  const resources = opened.move();
  return { ...world, upstream, [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
