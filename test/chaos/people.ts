/** People who send requests on both platforms, and the results in their channels. */
import { setTimeout as sleep } from 'node:timers/promises';
import { PLANS } from '../../src/jobs/route-plans.ts';
import { type DiscordServer, type InteractionHandle, startDiscord } from '../servers/discord/index.ts';
import { type SlackServer, startSlackServer } from '../servers/slack/server.ts';
import type { PlannedAsk } from './plan.ts';

/** A person's request. `mark` is unique to its words. */
export interface Ask extends PlannedAsk {
  readonly mark: string;
  /** Whether the platform got an acknowledgement so far. */
  readonly acknowledged: () => boolean;
  /** A sentence that answered the request without a job. */
  readonly answeredWithoutJob: () => boolean;
}

/** A message of the bot that was not deleted, and its jobs. */
export interface ShownMessage {
  readonly on: PlannedAsk['on'];
  readonly where: string;
  /** Jobs that its buttons cancel, so they are running. */
  readonly open: readonly string[];
  /** Jobs whose end it shows: it has other buttons of theirs. */
  readonly ends: readonly string[];
  /** Jobs whose result it shows: it has more buttons than Again. */
  readonly results: readonly string[];
  /** Whether it announces a later result. */
  readonly isProgress: boolean;
  /** Names of its files. */
  readonly files: readonly string[];
  /** All its text. */
  readonly text: string;
}

export interface People {
  readonly discord: DiscordServer;
  readonly slack: SlackServer;
  ask(planned: PlannedAsk, mark: string): Ask;
  /** All messages of the bot that were not deleted, including replies with files. */
  shown(): ShownMessage[];
  /** Presses Cancel for the request with this mark, if it is shown. */
  cancel(mark: string): Promise<void>;
  close(): Promise<void>;
}

export async function startPeople(shards: number): Promise<People> {
  const discord = await startDiscord({ shards });
  const slack = await startSlackServer();
  const discordChannels = [discord.channel];
  // A guild's id decides its shard, so this gives every shard some work.
  for (let guilds = 1; guilds < 3; guilds++) {
    await sleep(1);
    const guild = discord.world.addGuild(`Guild ${guilds}`);
    discordChannels.push(discord.world.addChannel(`music ${guilds}`, { guildId: guild.id }));
  }
  const slackChannels = ['C0MUSIC', 'C1MUSIC', 'C2MUSIC'];
  for (const id of slackChannels.slice(1)) slack.workspace.addChannel({ id, name: id.toLowerCase() });

  return {
    discord,
    slack,
    ask(planned, mark) {
      const { name, options } = wording(planned.what, mark);
      return planned.on === 'discord'
        ? askOnDiscord(discord, planned, mark, () =>
            discord.command({ name, options, channel: at(discordChannels, planned.channel) }),
          )
        : askOnSlack(slack, planned, mark, { name, options, channel: at(slackChannels, planned.channel) });
    },
    shown: () => [...shownOnDiscord(discord), ...shownOnSlack(slack)],
    async cancel(mark) {
      const { bot } = discord.world;
      const message = discord.world.messages
        .values()
        .find(
          (one) =>
            one.author.id === bot.id &&
            !one.deleted &&
            JSON.stringify([one.embeds, one.components]).includes(mark) &&
            JSON.stringify(one.components).includes('.cancel:'),
        );
      if (message)
        return void discord.press('Cancel', message, { channel: discord.world.channel(message.channelId) });
      const posted = slack.workspace.messages.find(
        (one) =>
          one.user === slack.workspace.botUser &&
          !one.deleted &&
          JSON.stringify(one.blocks).includes(mark) &&
          JSON.stringify(one.blocks).includes('.cancel:'),
      );
      if (posted) await slack.press(posted, 'Cancel');
    },
    async close() {
      await discord.close();
      await slack.close();
    },
  };
}

function wording(
  what: PlannedAsk['what'],
  mark: string,
): { name: string; options: Record<string, string | number> } {
  switch (what) {
    case 'song':
      return { name: 'song', options: { prompt: `${mark} a tune for rain` } };
    case 'custom song':
      return {
        name: 'song',
        options: { prompt: `${mark} a tune for rain`, title: `${mark} rain`, style: `${mark} lofi` },
      };
    case 'lyrics':
      return { name: 'lyrics', options: { topic: `${mark} a lighthouse` } };
    case 'image':
      return { name: 'image', options: { prompt: `${mark} a fox` } };
    case 'video':
      return { name: 'video', options: { prompt: `${mark} waves`, duration: '5' } };
    case 'ask':
      return { name: 'ask', options: { question: `${mark} What is 6 times 7?` } };
    default:
      return what satisfies never;
  }
}

function askOnDiscord(
  discord: DiscordServer,
  planned: PlannedAsk,
  mark: string,
  send: () => InteractionHandle,
): Ask {
  const handle = discord.commands.length > 0 ? send() : undefined;
  return {
    ...planned,
    mark,
    acknowledged: () => handle?.record.callback != null,
    answeredWithoutJob: () =>
      handle?.messages.some(({ components, content, embeds, flags }) => {
        const isThinking = (flags & THINKING) !== 0;
        return !isThinking && components.length === 0 && (content !== '' || embeds.length > 0);
      }) ?? false,
  };
}

/** https://docs.discord.com/developers/resources/message#message-object-message-flags, LOADING */
const THINKING = 1 << 7;

function askOnSlack(
  slack: SlackServer,
  planned: PlannedAsk,
  mark: string,
  { name, options, channel }: { name: string; options: Record<string, string | number>; channel: string },
): Ask {
  const [[, text] = ['', ''], ...flags] = Object.entries(options);
  const typed = [text, ...flags.map(([flag, value]) => `--${flag} ${JSON.stringify(value)}`)].join(' ');
  let acknowledged = false;
  let answered = false;
  const before = slack.workspace.ephemerals.length;
  slack
    .slash(`/${name}`, typed, { channel })
    .then((interaction) => {
      acknowledged = interaction.acknowledged;
      answered = interaction.ack !== undefined;
    })
    .catch(() => undefined);
  return {
    ...planned,
    mark,
    acknowledged: () => acknowledged,
    // A later private message does not name its request, so any sentence after the request counts.
    answeredWithoutJob: () =>
      answered || slack.workspace.ephemerals.slice(before).some((one) => one.channel === channel),
  };
}

function shownOnDiscord({ world }: DiscordServer): ShownMessage[] {
  return [...world.messages.values()]
    .filter(({ author, deleted }) => author.id === world.bot.id && !deleted)
    .map(({ channelId, components, attachments, content, embeds, flags }) => ({
      on: 'discord' as const,
      where: channelId,
      ...messageFacts(JSON.stringify([content, embeds]), components, (flags & THINKING) !== 0),
      files: attachments.map(({ filename }) => filename),
    }));
}

function shownOnSlack({ workspace }: SlackServer): ShownMessage[] {
  const posted = workspace.messages.filter(({ user, deleted }) => user === workspace.botUser && !deleted);
  const threads = Map.groupBy(posted, ({ threadTs }) => threadTs);
  return [
    ...posted
      .filter(({ threadTs, ts }) => threadTs === undefined || threadTs === ts)
      .map((message) => {
        const { channel, ts } = message;
        const whole = [message, ...(threads.get(ts) ?? []).filter((reply) => reply.ts !== ts)];
        const blocks = whole.map((part) => part.blocks);
        const isStreaming = whole.some(({ streaming }) => streaming?.open && !streaming.endedBySlack);
        return {
          on: 'slack' as const,
          where: channel,
          ...messageFacts(
            JSON.stringify(whole.map(({ text, blocks }) => [text, blocks])),
            blocks,
            isStreaming,
          ),
          files: whole.flatMap(({ files }) => files.map(({ name }) => name)),
        };
      }),
    ...workspace.ephemerals.map(({ channel, text, blocks }) => ({
      on: 'slack' as const,
      where: channel,
      ...messageFacts(JSON.stringify([text, blocks]), blocks, false),
      files: [],
    })),
  ];
}

/** Texts of running work. A result may contain these words too, so they only count without an end. */
const STAGES = new RegExp(
  `Waiting for its turn|${Object.values(PLANS)
    .map(({ stage }) => stage)
    .join('|')}`,
);

/** The jobs of its buttons, by the effect of the button. */
function messageFacts(
  text: string,
  buttons: unknown,
  isWriting: boolean,
): Pick<ShownMessage, 'open' | 'ends' | 'results' | 'isProgress' | 'text'> {
  const found = [...JSON.stringify(buttons).matchAll(/"[a-z]+\.([a-z-]+):([0-9a-f]{20}):\d+"/g)];
  const jobs = (matches: (action: string) => boolean) => [
    ...new Set(found.filter(([, action = '']) => matches(action)).map(([, , job = '']) => job)),
  ];
  const open = jobs((action) => action === 'cancel');
  const isOver = (job: string) => !open.includes(job);
  const ends = jobs((action) => action !== 'cancel').filter(isOver);
  const results = jobs((action) => action !== 'cancel' && action !== 'again').filter(isOver);
  const isProgress = isWriting || open.length > 0 || (ends.length === 0 && STAGES.test(text));
  return { open, ends, results, isProgress, text };
}

function at<Value>(values: readonly Value[], index: number): Value {
  const value = values[index % values.length];
  if (value === undefined) throw new RangeError('There is none');
  return value;
}
