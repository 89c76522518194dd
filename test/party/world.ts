/** Parties on a simulated voice channel, in virtual time, on real storage. */
import type { Address, Person } from '../../src/core/invocation.ts';
import type { Message } from '../../src/core/message.ts';
import type { PartySong, PartyTools } from '../../src/core/music/party.ts';
import { createParties, type Parties } from '../../src/party/parties.ts';
import { createPartyStore } from '../../src/party/store.ts';
import type { Platform } from '../../src/platforms/platform.ts';
import type { JoinOptions, VoiceChannels, VoiceSession } from '../../src/platforms/voice.ts';
import type { SettingsStore } from '../../src/storage/storage.ts';
import type { ManualClock } from '../storage/manual-clock.ts';
import { RecordingLog } from '../storage/recording-log.ts';

export const GUILD = 'guild';
const ADDRESS: Address = { platform: 'discord', guild: GUILD, channel: 'text', person: 'ada' };
export const person = (id: string, moderator = false): Person => ({
  id,
  displayName: id,
  moderator,
  roles: [],
});

/** The people in each voice channel, shared by the processes of a test. */
export class Building {
  readonly people = new Map<string, string>();
  /** Unplayable songs, by job. */
  readonly broken = new Set<string>();
  /** The platform does not report where people are. */
  isChannelUnknown = false;
  hasUnknownListeners = false;
  /** The server has an outage. */
  hasOutage = false;
  /** The bot was removed from the server. */
  isGone = false;
  /** Another process has the connection. */
  isElsewhere = false;
  /** Called before the bot has joined a channel. */
  joining: (options: JoinOptions) => Promise<void> = async () => {};
  bot: { readonly options: JoinOptions; readonly session: FakeSession } | undefined;
}

class FakeSession implements VoiceSession {
  channel: string;
  isSpeakable = true;
  isPaused = true;
  hasLeft = false;
  #hasSong = false;
  #since = 0;
  #played = 0;
  readonly #clock: ManualClock;
  #settle: (outcome: 'ended' | 'failed' | 'replaced') => void = () => {};

  constructor(channel: string, clock: ManualClock) {
    this.channel = channel;
    this.#clock = clock;
  }

  get playedMs(): number {
    return this.#played + (this.isPaused ? 0 : this.#clock.now() - this.#since);
  }

  get isPlaying(): boolean {
    return !this.isPaused && !this.hasLeft;
  }

  play(): Promise<'ended' | 'failed' | 'replaced'> {
    this.#settle('replaced');
    this.#played = 0;
    this.#since = this.#clock.now();
    this.isPaused = false;
    this.#hasSong = true;
    return new Promise((resolve) => (this.#settle = resolve));
  }

  end(): void {
    this.isPaused = true;
    this.#hasSong = false;
    this.#settle('ended');
  }

  pause(): void {
    this.#played = this.playedMs;
    this.isPaused = true;
  }

  resume(): void {
    if (!this.#hasSong) return;
    this.#since = this.#clock.now();
    this.isPaused = false;
  }

  stop(): void {
    this.pause();
    this.#hasSong = false;
    this.#settle('replaced');
  }

  leave(): void {
    this.hasLeft = true;
    this.#settle('replaced');
  }
}

export interface PartyProcess {
  readonly parties: Parties;
  readonly shown: Message[];
  as(who: Person, address?: Address): PartyTools;
}

export function startProcess(
  name: string,
  {
    building,
    settings,
    clock,
    radio = [],
    serves = true,
  }: {
    readonly building: Building;
    readonly settings: SettingsStore;
    readonly clock: ManualClock;
    /** False if another process has the connection of the server. */
    readonly serves?: boolean;
    readonly radio?: readonly Omit<PartySong, 'id' | 'by'>[];
  },
): PartyProcess {
  const voice: VoiceChannels = {
    async reach() {
      if (building.isGone) return 'gone';
      if (building.hasOutage) return 'outage';
      return serves && !building.isElsewhere ? 'here' : 'elsewhere';
    },
    async channelOf(_, who) {
      if (building.isGone) return 'gone';
      if (building.isChannelUnknown) return 'unknown';
      const id = building.people.get(who);
      if (id === undefined) return undefined;
      return { id, name: id, missing: id === 'closed' ? ['Speak'] : [], isFull: id === 'crowded' };
    },
    listeners: async (_, channel) =>
      serves && !building.hasUnknownListeners
        ? [...building.people].flatMap(([who, where]) => (where === channel ? [who] : []))
        : undefined,
    async join(options) {
      await building.joining(options);
      const session = new FakeSession(options.channel, clock);
      building.bot = { options, session };
      return session;
    },
  };
  const shown: Message[] = [];
  const show = async (_: unknown, message: Message) => {
    shown.push(message);
    return { message: name };
  };
  const platform: Pick<Platform, 'name' | 'show' | 'stream'> = {
    name: 'discord',
    show,
    stream: () => ({
      update: (message) => void shown.push(message()),
      close: (message) => show(undefined, message),
    }),
  };
  let ids = 0;
  const parties = createParties({
    // Parties use only this part of a platform.
    platform: platform as Platform,
    voice: async () => voice,
    store: createPartyStore({ settings, platform: 'discord', now: clock.now }),
    async sound({ job }) {
      if (building.broken.has(job)) throw new RangeError('no sound');
      return (async function* () {})();
    },
    linesOf: async () => [
      { startSeconds: 0, text: 'Rain on the roof' },
      { startSeconds: 10, text: 'and on the street' },
    ],
    coverOf: async () => undefined,
    pageOf: async ({ job }) => `https://bot.example/songs/${job}`,
    songsOf: async () => radio,
    now: clock.now,
    newId: () => `${name}-${++ids}`,
    random: () => 0,
    log: new RecordingLog(),
    sleep: (ms, signal) => clock.sleep(ms, signal),
  });
  return { parties, shown, as: (who, address = ADDRESS) => parties.toolsFor(address, who) };
}

export const song = (job: string): Omit<PartySong, 'id' | 'by'> => ({
  job,
  index: 0,
  title: job,
  seconds: 100,
});
