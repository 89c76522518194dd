import type { Address } from '../core/invocation.ts';
import type { MediaItem } from '../core/message.ts';
import type { PartySong } from '../core/party.ts';
import type { System } from '../core/system.ts';
import type { LyricLine } from '../core/work.ts';
import type { Platform, VoiceChannels } from '../platforms/platform.ts';
import type { SoundReader } from './sound.ts';
import type { PartyStore } from './store.ts';

/** What playing for people takes. */
export interface PartiesOptions extends Pick<System, 'now' | 'random' | 'newId' | 'sleep' | 'log'> {
  readonly store: PartyStore;
  readonly platform: Platform;
  readonly voice: VoiceChannels;
  readonly sound: SoundReader;
  /** The timed lines of a song, where they were asked for. */
  readonly linesOf: (song: PartySong) => Promise<readonly LyricLine[]>;
  readonly coverOf: (song: PartySong) => Promise<MediaItem | undefined>;
  /** Where people open its page; undefined where it has none. */
  readonly pageOf: (song: PartySong) => Promise<string | undefined>;
  /** Songs of the last weeks of a channel. */
  readonly songsOf: (address: Address) => Promise<readonly Omit<PartySong, 'id' | 'by'>[]>;
}
