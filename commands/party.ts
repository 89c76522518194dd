import { extname } from 'node:path';
import { defineGroup, defineSubcommand } from '../src/core/bot/command.ts';
import type { Context } from '../src/core/bot/context.ts';
import { type Outcome, privately } from '../src/core/bot/outcome.ts';
import { takesPart } from '../src/core/contest.ts';
import { UserError } from '../src/core/errors.ts';
import { type Message, plain } from '../src/core/message.ts';
import type { PartyTools, PartyView } from '../src/core/music/party.ts';
import { titleOf } from '../src/core/music/song.ts';
import { present } from '../src/core/util/present.ts';

import { counted, duration } from '../src/core/util/words.ts';
import { findTake, suggestServerTakes, type Take, withTake } from './song/takes.ts';

import { choicesOf, completedText } from './text/options.ts';

const MOST_LISTED = 20;
const NOT_PLAYING = 'Nothing is playing here. Start with /party play.';

const loopOption = {
  type: 'choice',
  description: 'Song or queue to repeat, or off',
  required: true,
  choices: choicesOf(['off', 'song', 'queue']),
} as const;

export const party = defineGroup({
  name: 'party',
  description: 'Listen to songs together in a Discord voice channel',
  answersPrivately: true,

  subcommands: {
    play: defineSubcommand({
      description: 'Play a song in your voice channel, or add it to the queue',
      form: { title: 'Play a song', submitLabel: 'Play song' },
      options: { song: completedText('A song from this server (default: the latest in this channel)') },
      autocomplete: { song: suggestServerTakes },
      run: async ({ options: { song } }, context) =>
        playTake(await findTake(song, 'song', context, 'server'), context),
    }),

    contest: defineSubcommand({
      description: 'Play the entries of the song contest in this channel, in order',
      options: {},
      run: async (_invocation, context) => reply(await playContest(context)),
    }),

    queue: defineSubcommand({
      description: 'Show the queue',
      options: {},
      run: show(queueMessage),
    }),

    now: defineSubcommand({
      description: 'Show the current song',
      options: {},
      run: show(nowPlayingMessage),
    }),

    skip: simple('Skip to the next song (by majority vote)', (tools) => tools.skip()),
    remove: defineSubcommand({
      description: 'Remove a song from the queue',
      options: {
        position: {
          type: 'number',
          description: 'Position in the queue',
          integer: true,
          minimum: 1,
          required: true,
        },
      },
      run: async ({ options: { position } }, context) =>
        reply(await (await toolsOf(context)).remove(position)),
    }),
    shuffle: simple('Shuffle the queue', (tools) => tools.shuffle()),
    loop: defineSubcommand({
      description: 'Repeat the song or the queue, or turn repeat off',
      options: { what: loopOption },
      run: async ({ options: { what } }, context) => reply(await (await toolsOf(context)).loop(what)),
    }),
    radio: defineSubcommand({
      description: "Radio: play this channel's recent songs when the queue is empty",
      options: { on: { type: 'flag', description: 'On or off', required: true } },
      run: async ({ options: { on } }, context) => reply(await (await toolsOf(context)).radio(on)),
    }),
    pause: simple('Pause the music', (tools) => tools.pause()),
    resume: simple('Resume after a pause', (tools) => tools.resume()),
    stop: simple('Stop the music and leave the voice channel', (tools) => tools.stop()),
  },

  controls: {
    pause: respond(async (tools) => ((await tools.now())?.party.paused ? tools.resume() : tools.pause())),
    skip: respond((tools) => tools.skip()),
    stop: respond((tools) => tools.stop()),
    queue: show(queueMessage),
  },
});

function simple(description: string, run: (tools: PartyTools) => Promise<string>) {
  return defineSubcommand({ description, options: {}, run: respond(run) });
}

function respond(run: (tools: PartyTools) => Promise<string>) {
  return async (_: unknown, context: Context) => reply(await run(await toolsOf(context)));
}

function show(message: (view: PartyView | undefined) => Message) {
  return async (_: unknown, context: Context) => privately(message(await (await toolsOf(context)).now()));
}

/** Plays a take in the person's voice channel, or offers the file where there are no voice channels. */
export async function playTake({ job, index }: Take, context: Context): Promise<Outcome> {
  const song = job.result?.songs[index];
  if (!song?.audioUrl)
    throw new UserError('This song has no audio to play. Choose another song with /party play.');
  const tools = await context.party();
  if (!tools) {
    const message = await offer({ job, index }, song.audioUrl, context);
    return { type: 'message', visibility: 'channel', message };
  }
  const title = song.title ?? titleOf(job);
  return reply(await tools.play(present({ job: job.id, index, title, seconds: song.durationSeconds })));
}

/** Queues the entries under their numbers, so that titles and names stay secret. */
async function playContest(context: Context): Promise<string> {
  const current = await context.contests.current();
  if (current?.state !== 'voting')
    throw new UserError(
      'There is no vote in this channel right now. To see whether a contest is running, use /contest show.',
    );
  const entries = current.ballot
    .map((candidate, index) => ({ candidate, title: `Entry ${index + 1}` }))
    .filter(({ candidate }) => takesPart(current, candidate));
  if (entries.length === 0) throw new UserError('All entries of this contest were withdrawn.');
  const tools = await toolsOf(context);
  const sentences: string[] = [];
  for (const { candidate, title } of entries) {
    const { job, take: index, seconds } = candidate;
    sentences.push(await tools.play(present({ job, index, title, seconds })));
  }
  const [first = '', ...rest] = sentences;
  return rest.length === 0
    ? first
    : `${first} ${counted(rest.length, 'more entry follows', 'more entries follow')}.`;
}

async function offer({ job, index }: Take, url: string, { files, pages }: Context): Promise<Message> {
  const notice = 'I can play music only in Discord voice channels.';
  const page = job.pageWithdrawn ? undefined : await pages.of(job);
  if (page !== undefined)
    return {
      text: `${notice} Listen on its page instead.`,
      actions: [{ type: 'link', label: 'Open page', url: page }],
    };
  const file = await files.fileOf(job, { type: 'remote', url }, ['audio']);
  const name = `${withTake(titleOf(job), index)}${extname(file.name)}`;
  return {
    text: `${notice} Here is the file instead.`,
    media: [{ kind: 'audio', name, source: { type: 'stored', file } }],
  };
}

async function toolsOf({ party: load }: Context): Promise<PartyTools> {
  const tools = await load();
  if (tools) return tools;
  throw new UserError(
    "I can play only in Discord voice channels, and only while I'm connected to Discord. Here, /party play posts the song instead.",
  );
}

const reply = (sentence: string): Outcome => privately(plain(sentence));

function nowPlayingMessage(view: PartyView | undefined): Message {
  const current = view?.party.current;
  if (!view || !current) return { text: NOT_PLAYING };
  const { seconds, line, party: state } = view;
  const length = current.seconds === undefined ? '' : ` of ${duration(current.seconds)}`;
  return {
    title: `${state.paused ? 'Paused' : 'Now playing'}: ${current.title}`,
    text: [...(line ? [`♪ *${plain(line)}*`] : []), `${duration(seconds)}${length}`].join('\n\n'),
    fields: current.by ? [{ name: 'Queued by', value: current.by.displayName }] : [],
  };
}

function queueMessage(view: PartyView | undefined): Message {
  if (!view) return { text: NOT_PLAYING };
  const { queue, current, radio, loop } = view.party;
  const lines = queue
    .slice(0, MOST_LISTED)
    .map(
      ({ title, by }, n) => `${n + 1}\\. ${plain(title)}${by ? `, queued by ${plain(by.displayName)}` : ''}`,
    );
  const more = queue.length > MOST_LISTED ? [`And ${queue.length - MOST_LISTED} more.`] : [];
  const emptyText = radio ? 'The queue is empty. The radio keeps playing.' : 'The queue is empty.';
  return {
    title: current ? `Now: ${current.title}` : 'Nothing is playing',
    text: [...(lines.length > 0 ? lines : [emptyText]), ...more].join('\n\n'),
    ...(loop === 'off' ? {} : { fields: [{ name: 'Repeating', value: `the ${loop}` }] }),
  };
}
