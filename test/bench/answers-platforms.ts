/** The strict platforms of P2 and P9: people ask there, and what was shown is known with its time. */
import { startDiscord } from '../servers/discord/index.ts';
import { startSlackServer } from '../servers/slack/server.ts';

/** One question, and what the bot has written about it so far. */
interface AskedQuestion {
  /** Every text that could be read, oldest first. `at`: milliseconds since the epoch. */
  states(): { readonly at: number; readonly text: string }[];
  isDone(): boolean;
  /** Looks for messages that may be removed later. */
  watch(): void;
}

export interface AnswersPlatform {
  readonly environment: Readonly<Record<string, string>>;
  /** Resolves when the bot is connected. */
  ready(): Promise<unknown>;
  /** Somebody asks in a channel of their own. */
  ask(): AskedQuestion;
  /** How many requests were refused or limited. */
  refused(): number;
}

/** Of one interaction, an assumption: Discord documents no figure, and its headers showed five: https://github.com/bwmarrin/discordgo/issues/1384. */
const EDITS = { limit: 5, perMs: 2_000 } as const;

export async function answersOnDiscord(): Promise<AnswersPlatform> {
  const discord = await startDiscord();
  discord.faults.limitEdits(EDITS.limit, EDITS.perMs);
  return {
    environment: { DISCORD_TOKEN: discord.token, DISCORD_API_URL: discord.apiUrl },
    ready: () => discord.until(() => discord.commands.length > 0, 'registered commands'),
    ask() {
      const user = discord.world.addUser('Asker');
      const channel = discord.world.addChannel('questions', { guildId: discord.guild.id });
      const handle = discord.command({ name: 'ask', options: { question: 'Why?' }, user, channel });
      const messages = new Set<(typeof handle.messages)[number]>();
      return {
        watch() {
          for (const message of handle.messages) messages.add(message);
        },
        isDone: () => JSON.stringify(handle.original?.components ?? []).includes('ask.again'),
        states: () =>
          [...messages].flatMap(({ history }) =>
            history.map(({ at, content, embeds }) => ({
              at,
              text: `${content} ${embeds.map(({ description }) => description ?? '').join(' ')}`,
            })),
          ),
      };
    },
    refused: () => discord.refused.length + discord.faults.limited.length,
  };
}

/** Calls a minute, of tiers 3, 4 and 2; five may come together. https://docs.slack.dev/apis/web-api/rate-limits */
const SLACK_TIERS: Readonly<Record<string, number>> = {
  'chat.update': 50,
  'chat.appendStream': 100,
  'chat.startStream': 20,
};
const TOGETHER = 5;

/** @param asked by its name the bot answers in a thread, by Slack's own stream; to a command in the channel, at first by edits */
export async function answersOnSlack(asked: 'by name' | 'by command'): Promise<AnswersPlatform> {
  const slack = await startSlackServer();
  const buckets = new Map<string, { left: number; at: number }>();
  slack.faults.decide = (method) => {
    const perMinute = SLACK_TIERS[method];
    if (perMinute === undefined) return undefined;
    const { left, at } = buckets.get(method) ?? { left: TOGETHER, at: Date.now() };
    const now = Math.min(TOGETHER, left + ((Date.now() - at) * perMinute) / 60_000);
    buckets.set(method, { left: Math.max(0, now - 1), at: Date.now() });
    if (now >= 1) return undefined;
    limited += 1;
    return { type: 'ratelimited', retryAfter: 1 };
  };
  let limited = 0;
  let questions = 0;
  return {
    environment: {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_APP_TOKEN: slack.appToken,
      SLACK_API_URL: slack.apiUrl,
    },
    ready: () => slack.until(() => slack.socketMode.connections > 0),
    ask() {
      const { id: channel } = slack.workspace.addChannel({ id: `C0ASK${++questions}`, name: 'questions' });
      void (asked === 'by name'
        ? slack.mention('Why?', { channel })
        : slack.slash('/ask', 'Why?', { channel }));
      return {
        watch: () => {},
        isDone: () =>
          slack.botMessages(channel).some(({ blocks }) => JSON.stringify(blocks).includes('ask.again')),
        states: () =>
          slack.workspace.messages
            .filter((message) => message.channel === channel && message.user === slack.workspace.botUser)
            .flatMap(({ revisions }) =>
              revisions.map(({ at, text, blocks }) => ({ at, text: `${text} ${JSON.stringify(blocks)}` })),
            ),
      };
    },
    refused: () => slack.refused.length + limited,
  };
}
