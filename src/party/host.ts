/** Plays the party of one server: makes the voice channel sound as what is stored says, until it ends or another process does. */

import { isDeepStrictEqual } from 'node:util';
import { type Party, type PartyEvent, type PartySong, partyAfter, secondsAt } from '../core/party.ts';
import type { VoiceEnd } from '../platforms/platform.ts';
import type { PartiesOptions } from './options.ts';

/** After the last listener left, or the last song ended. */
const LEAVE_AFTER_MS = 120_000;
const TICK_MS = 1_000;
/** What is stored may be so far from what is heard. */
const DRIFT_SECONDS = 0.75;
/** Songs in a row that cannot be played, after which the party is over: nothing will. */
const MOST_FAILURES = 5;

export type PartyEnding = VoiceEnd | 'stopped' | 'deserted' | 'unplayable' | 'taken-over';

export interface PartyHostOptions
  extends Pick<PartiesOptions, 'now' | 'sleep' | 'log' | 'store' | 'voice' | 'sound'> {
  readonly guild: string;
  /** This process. */
  readonly owner: string;
  /** A song of the channel for the radio; undefined where there is none. */
  readonly radioSong: (party: Party) => Promise<PartySong | undefined>;
  /** What people see changed. Never rejects. */
  readonly show: (party: Party, heard: PartyHeard) => void;
  /** A person waits for it: where the channel cannot be joined, that is said within seconds. */
  readonly isAwaited: boolean;
  /** The party is over, or not here any more. Never rejects. */
  readonly ended: (ending: PartyEnding, party: Party | undefined) => void;
}

export interface PartyHeard {
  /** Of the song. */
  readonly seconds: number;
  /** False in the audience of a stage. */
  readonly isSpeakable: boolean;
}

export interface PartyHost {
  /** Something is stored anew, or somebody came or left. */
  wake(): void;
  /** Where the song is, in seconds. */
  readonly seconds: number;
  /** Stores where the song is, for the next process, and leaves. */
  hand(): Promise<void>;
}

/** Joins the channel and plays. Rejects with VoiceError where it cannot join. */
export async function startPartyHost(options: PartyHostOptions, party: Party): Promise<PartyHost> {
  const { guild, owner, store, voice, sound, radioSong, now, log, sleep } = options;
  const closing = new AbortController();
  let latest = party;
  /** The round that sounds, and the second at which it began to. */
  let playing: { readonly round: number; readonly from: number } | undefined;
  let isSounding = false;
  let listeners: readonly string[] | undefined;
  let idleSince: number | undefined;
  let failures = 0;
  const joined = Promise.withResolvers<void>();
  /** Steps wait for the session: voice states, the bot's own `suppress` on a stage included, may arrive before it. */
  let work: Promise<unknown> = joined.promise;

  const secondsNow = (): number =>
    playing?.round === latest.round ? playing.from + session.playedMs / 1000 : latest.position.seconds;

  /** Resolves to the party as it is stored then; undefined where it is over or another process plays it. */
  async function apply(event: PartyEvent): Promise<Party | undefined> {
    const stored = await store.update(guild, (known) =>
      known?.owner === owner ? partyAfter(known, event, now()) : known,
    );
    return stored?.owner === owner ? stored : undefined;
  }

  function show(): void {
    options.show(latest, { seconds: secondsNow(), isSpeakable: session.isSpeakable });
  }

  function measured(moves: boolean): PartyEvent {
    return { type: 'measured', round: latest.round, seconds: secondsNow(), moves };
  }

  /** One thing after the other; what fails is tried again with the next tick. */
  function then(step: () => Promise<unknown>): void {
    work = work.then(async () => {
      if (closing.signal.aborted) return;
      await step().catch((error: unknown) => {
        log.warn({ err: error, guild }, 'A party could not go on for the moment');
      });
    });
  }

  function end(ending: PartyEnding): void {
    if (closing.signal.aborted) return;
    closing.abort();
    session.leave();
    options.ended(ending, latest);
  }

  /** Makes what is heard what is stored. */
  async function look(): Promise<void> {
    const stored = await store.read(guild);
    if (stored?.owner !== owner) return end(stored ? 'taken-over' : 'stopped');
    latest = stored;
    listeners = await voice.listeners(guild, session.channel);
    if (listeners && !isDeepStrictEqual(listeners, latest.listeners))
      latest = (await apply({ type: 'heard', listeners })) ?? latest;
    if (!latest.current && latest.radio && listeners?.length !== 0) {
      const song = await radioSong(latest);
      if (song) latest = (await apply({ type: 'queued', song })) ?? latest;
    }
    if (latest.current && latest.round !== playing?.round) await begin(latest.current);
    if (!latest.current && playing) {
      playing = undefined;
      session.stop();
    }
    await sounds();
    show();
  }

  /** Nothing is played to an empty channel, in the audience of a stage, or in a pause. */
  async function sounds(): Promise<void> {
    const shall = playing !== undefined && !latest.paused && listeners?.length !== 0 && session.isSpeakable;
    if (shall === isSounding) return;
    isSounding = shall;
    if (shall) session.resume();
    else session.pause();
    latest = (await apply(measured(shall))) ?? latest;
  }

  async function begin(song: PartySong): Promise<void> {
    const { round, position } = latest;
    session.stop();
    playing = undefined;
    try {
      const packets = await sound(song, position.seconds);
      playing = { round, from: position.seconds };
      isSounding = true;
      void session.play(packets).then((outcome) => {
        if (outcome === 'replaced') return;
        if (outcome === 'ended') failures = 0;
        then(() => over(round, outcome === 'ended' ? 'ended' : 'failed'));
      });
      latest = (await apply(measured(true))) ?? latest;
    } catch (error) {
      log.warn({ err: error, job: song.job }, 'A song could not be played in a voice channel');
      await over(round, 'failed');
    }
  }

  async function over(round: number, type: 'ended' | 'failed'): Promise<void> {
    if (type === 'failed') failures += 1;
    if (failures >= MOST_FAILURES) return end('unplayable');
    await apply({ type, round });
    await look();
  }

  async function tick(): Promise<void> {
    // Elsewhere when its shard has moved to another process.
    const reach = await voice.reach(guild);
    if (reach === 'gone') return end('removed');
    if (reach === 'elsewhere') return end('lost');
    const isIdle = listeners?.length === 0 || !latest.current;
    idleSince = isIdle ? (idleSince ?? now()) : undefined;
    if (idleSince !== undefined && now() - idleSince >= LEAVE_AFTER_MS) return end('deserted');
    const { seconds } = latest.position;
    const stored = isSounding ? secondsAt(latest, now()) : seconds;
    if (playing && Math.abs(stored - secondsNow()) > DRIFT_SECONDS)
      latest = (await apply(measured(isSounding))) ?? latest;
    if (latest.current && latest.round !== playing?.round) await look();
    show();
  }

  async function watch(): Promise<void> {
    while (!closing.signal.aborted) {
      await sleep(TICK_MS, closing.signal);
      then(tick);
      await work;
    }
  }

  const wake = () => then(look);
  const session = await voice.join({
    guild,
    channel: party.channel,
    isAwaited: options.isAwaited,
    onMoved: (channel) =>
      then(async () => {
        await apply({ type: 'moved', channel });
        await look();
      }),
    onListeners: wake,
    onSpeakable: wake,
    onEnded: end,
  });
  joined.resolve();
  wake();
  void watch();

  return {
    wake,
    get seconds() {
      return secondsNow();
    },
    async hand() {
      await work;
      if (closing.signal.aborted) return;
      closing.abort();
      const event = measured(false);
      session.leave();
      await store.update(guild, (known) => {
        if (known?.owner !== owner) return known;
        const { owner: _, ...free } = partyAfter(known, event, now());
        return free;
      });
    },
  };
}
