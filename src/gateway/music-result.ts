/** What a music task brings, wherever in a body it stands. Every URL is http or https; anything may be missing. */
export interface MusicResult {
  songs: SongItem[];
  lyrics: LyricVariant[];
  /** Addresses of cover pictures. */
  images: string[];
  stems: StemItem[];
  wavUrl?: string;
  videoUrl?: string;
}

export interface SongItem {
  audioId?: string;
  audioUrl?: string;
  /** Playable before the song is complete. */
  streamUrl?: string;
  imageUrl?: string;
  title?: string;
  style?: string;
  lyrics?: string;
  durationSeconds?: number;
  model?: string;
}

export interface LyricVariant {
  title?: string;
  text: string;
}

export interface StemItem {
  /** In words: `vocals`, `instrumental`, `backing vocals`, `drums`, ... or the gateway's own key in words. */
  name: string;
  url: string;
}

/** One sung word: contract, "Aligned words". Seconds from the start of the song. */
export interface AlignedWord {
  /** As it came; may hold a section tag and line breaks. */
  word: string;
  startSeconds: number;
  endSeconds: number;
}
