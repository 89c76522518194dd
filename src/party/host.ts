/** Plays the party of one server from memory until it ends. Stores the state for the next process. */
import type { Address } from '../core/invocation.ts';
import type { Party, PartySong } from '../core/music/party.ts';
import type { System } from '../core/system.ts';
import type { Platform } from '../platforms/platform.ts';
import { type VoiceChannels, type VoiceEnd, VoiceError } from '../platforms/voice.ts';
import { createDetails, type DetailSources, lineAt } from './details.ts';
import { type PartyEvent, partyAfter } from './events.ts';
import { overMessage, partyMessage } from './message.ts';
import { createPanel } from './panel.ts';
import type { SoundReader } from './sound.ts';
import type { PartyStore } from './store.ts';

/** Milliseconds without listeners or songs after which the bot leaves. */
const LEAVE_AFTER_MS = 120_000;
const TICK_MS = 1_000;
/** Unplayable songs in a row after which the party ends. */
const MOST_FAILURES = 5;

export type PartyEnding = VoiceEnd | 'stopped' | 'deserted' | 'unplayable' | 'lapsed' | 'taken-over';

export const ENDINGS = {
  removed: 'A moderator disconnected me, or the channel was deleted. Start again with /party play.',
  refused:
    "Discord refused the voice connection. Try again with /party play. If that doesn't help, tell the bot's operator.",
  unreachable: "Discord's voice server isn't responding. Try again with /party play.",
  lost: "I lost the connection to Discord. I'll be back in a moment.",
  lapsed: 'I was offline for over an hour. Start again with /party play.',
  stopped: 'Someone stopped the music. Start again with /party play.',
  deserted: 'For two minutes, nobody was listening or the queue was empty. Start again with /party play.',
  unplayable: 'Several songs in a row failed to play. Try another one with /party play.',
  'taken-over': 'Another replica has taken over.',
} as const satisfies Record<PartyEnding, string>;

/** Dependencies of parties. */
export interface PartiesOptions
  extends DetailSources,
    Pick<System, 'now' | 'random' | 'newId' | 'sleep' | 'log'> {
  readonly store: PartyStore;
  readonly platform: Platform;
  /** Loads the voice modules when the first party starts. */
  readonly voice: () => Promise<VoiceChannels>;
  readonly sound: SoundReader;
  /** Returns recent songs of a channel. */
  readonly songsOf: (address: Address) => Promise<readonly Omit<PartySong, 'id' | 'by'>[]>;
}

export interface PartyHostOptions extends PartiesOptions {
  /** A person is waiting, so a failure to join is reported within seconds. */
  readonly isAwaited: boolean;
  /** Called when the channel is joined. */
  readonly begun: (host: PartyHost) => void;
  /** Called when the party ends or moves to another process. Never rejects. */
  readonly ended: () => void;
}

export interface PartyHost {
  readonly party: Party;
  /** Position in the song, in seconds. */
  readonly seconds: number;
  /** Undefined if the platform has not reported them yet. */
  readonly listeners: readonly string[] | undefined;
  /** Applies an event. Resolves to the new party when it is stored. */
  apply(event: PartyEvent): Promise<Party>;
  /** Ends the party. */
  stop(): Promise<void>;
  /** Leaves the party to the next process. */
  handOver(): Promise<void>;
}

/**
 * Joins the channel and plays. Stores and shows nothing before it has joined. Rejects with VoiceError if it cannot join, or if the
 * party ended before it was stored, except when it is resumed later.
 */
export async function startPartyHost(options: PartyHostOptions, party: Party): Promise<void> {
  const { store, sound, songsOf, now, newId, random, log, sleep } = options;
  const { guild } = party;
  const voice = await options.voice();
  const closing = new AbortController();
  const details = createDetails(options);
  const panel = createPanel(party, {
    ...options,
    remember: async (posted) => void (await change({ type: 'posted', posted })),
  });
  let latest = party;
  /** The round that is playing, and the second at which playback started. */
  let playing: { readonly round: number; readonly from: number } | undefined;
  let isPlaying = false;
  let listeners: readonly string[] | undefined;
  let idleSince: number | undefined;
  let failures = 0;
  let ended: VoiceEnd | undefined;
  const joined = Promise.withResolvers<void>();
  /** Steps wait for the session, because voice states, including the bot's `suppress` on a stage, may arrive before it. */
  let work: Promise<unknown> = joined.promise;
  let saving: Promise<void> = Promise.resolve();

  const secondsNow = (): number =>
    playing?.round === latest.round ? playing.from + session.playedMs / 1000 : latest.position.seconds;

  /** Never rejects, so that storage failures do not stop the music. */
  function save(write: () => Promise<void>): Promise<void> {
    saving = saving.then(write).catch((error: unknown) => {
      log.warn({ err: error, guild }, 'Could not store a party');
    });
    return saving;
  }

  const persist = () =>
    save(async () => {
      for (const person of await store.write(latest))
        latest = partyAfter(latest, { type: 'forgotten', person }, now());
    });

  async function change(event: PartyEvent): Promise<void> {
    const before = latest;
    latest = partyAfter(before, event, now());
    if (latest !== before && !closing.signal.aborted) await persist();
  }

  function show(): void {
    if (closing.signal.aborted) return;
    const seconds = secondsNow();
    const { lines, ...shown } = details(latest);
    const playback = { seconds, listeners, isSpeakable: session.isSpeakable };
    panel.show(partyMessage(latest, { ...playback, ...shown, line: lineAt(lines, seconds) }));
  }

  const measured = (moves: boolean): PartyEvent => ({
    type: 'measured',
    round: latest.round,
    seconds: secondsNow(),
    moves,
  });

  /** Runs steps in order. A failed step is retried at the next tick. */
  function then(step: () => Promise<unknown>): void {
    work = work.then(async () => {
      if (closing.signal.aborted) return;
      await step().catch((error: unknown) => {
        log.warn({ err: error, guild }, 'A step of a party failed; retrying');
      });
    });
  }

  /** Leaves the channel. Resolves when the final state is stored and shown. */
  async function end(ending: PartyEnding): Promise<void> {
    if (closing.signal.aborted) return;
    latest = partyAfter(latest, measured(false), now());
    closing.abort();
    session.leave();
    options.ended();
    log.info({ guild, ending, songs: latest.round }, 'Party ended');
    // The process that has taken over writes the state.
    if (ending === 'taken-over') return;
    if (ending === 'lost') return await persist();
    await save(() => store.remove(guild));
    await panel.close(overMessage(ENDINGS[ending], panel));
  }

  /** Makes playback match the state of the party. */
  async function synchronise(): Promise<void> {
    listeners = await voice.listeners(guild, session.channel);
    if (!latest.current && latest.radio && listeners?.length !== 0) {
      const song = await radioSong();
      if (song) await change({ type: 'queued', song });
    }
    if (latest.current && latest.round !== playing?.round) await startSong(latest.current);
    if (!latest.current && playing) {
      playing = undefined;
      session.stop();
    }
    await synchronisePlayback();
    show();
  }

  async function radioSong(): Promise<PartySong | undefined> {
    const last = latest.current?.job;
    const songs = (await songsOf(latest.address)).filter(({ job }) => job !== last);
    const song = songs[Math.floor(random() * songs.length)];
    return song && { ...song, id: newId() };
  }

  /** Pauses in an empty channel, in the audience of a stage, and while paused. */
  async function synchronisePlayback(): Promise<void> {
    const shouldPlay =
      playing !== undefined && !latest.paused && listeners?.length !== 0 && session.isSpeakable;
    if (shouldPlay === isPlaying) return;
    isPlaying = shouldPlay;
    if (shouldPlay) session.resume();
    else session.pause();
    await change(measured(shouldPlay));
  }

  async function startSong(song: PartySong): Promise<void> {
    const { round, position } = latest;
    session.stop();
    playing = undefined;
    try {
      const packets = await sound(song, position.seconds);
      playing = { round, from: position.seconds };
      isPlaying = true;
      void session.play(packets).then((outcome) => {
        if (outcome === 'replaced') return;
        if (outcome === 'ended') failures = 0;
        then(() => finishSong(round, outcome));
      });
      await change(measured(true));
    } catch (error) {
      log.warn({ err: error, job: song.job }, 'Could not play a song in a voice channel');
      await finishSong(round, 'failed');
    }
  }

  async function finishSong(round: number, type: 'ended' | 'failed'): Promise<void> {
    if (type === 'failed') failures += 1;
    if (failures >= MOST_FAILURES) return end('unplayable');
    await change({ type, round });
    await synchronise();
  }

  async function tick(): Promise<void> {
    const reach = await voice.reach(guild);
    if (reach === 'gone') return end('removed');
    if (reach === 'elsewhere') return end('taken-over');
    const isIdle = listeners?.length === 0 || !latest.current;
    idleSince = isIdle ? (idleSince ?? now()) : undefined;
    if (idleSince !== undefined && now() - idleSince >= LEAVE_AFTER_MS) return end('deserted');
    if (latest.current && latest.round !== playing?.round) await synchronise();
    show();
  }

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(TICK_MS, closing.signal);
      then(tick);
      await work;
    }
  }

  const wake = () => then(synchronise);
  const session = await voice.join({
    guild,
    channel: party.channel,
    isAwaited: options.isAwaited,
    onMoved: (channel) =>
      then(async () => {
        await change({ type: 'moved', channel });
        await synchronise();
      }),
    onListeners: wake,
    onSpeakable: wake,
    onEnded(reason) {
      ended = reason;
      void end(reason);
    },
  });
  joined.resolve();
  const host: PartyHost = {
    get party() {
      return latest;
    },
    get seconds() {
      return secondsNow();
    },
    get listeners() {
      return listeners;
    },
    async apply(event) {
      const changing = change(event);
      const after = latest;
      wake();
      await changing;
      return after;
    },
    stop: () => end('stopped'),
    async handOver() {
      await work;
      await end('lost');
    },
  };
  options.begun(host);
  await persist();
  if (ended !== undefined && ended !== 'lost') throw new VoiceError(ended);
  wake();
  void watch();
}
