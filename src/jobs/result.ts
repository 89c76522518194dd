/** Results as they grow: what callbacks, polls and answers bring, put together. */
import type { MusicResult } from '../gateway/music.ts';
import type { Result } from '../work.ts';

export const EMPTY_RESULT: Result = { songs: [], lyrics: [], images: [], stems: [] };

/** What the gateway's music reader found, as a result. */
export function fromMusic(music: MusicResult): Result {
  return {
    songs: music.songs,
    lyrics: music.lyrics,
    images: music.images.map((url) => ({ type: 'remote', url })),
    stems: music.stems,
    ...(music.wavUrl === undefined ? {} : { wavUrl: music.wavUrl }),
    ...(music.videoUrl === undefined ? {} : { videoUrl: music.videoUrl }),
  };
}

/** The newer of two results, keeping what only the older one has. Nothing that was known is forgotten. */
export function mergeResults(older: Result | undefined, newer: Result): Result {
  if (!older) return newer;
  return {
    ...older,
    ...newer,
    songs: mergeSongs(older.songs, newer.songs),
    lyrics: newer.lyrics.length > 0 ? newer.lyrics : older.lyrics,
    images: newer.images.length > 0 ? newer.images : older.images,
    stems: newer.stems.length > 0 ? newer.stems : older.stems,
  };
}

function mergeSongs(older: Result['songs'], newer: Result['songs']): Result['songs'] {
  if (newer.length === 0) return older;
  return newer.map((song, index) => {
    const before =
      older.find((other) => other.audioId !== undefined && other.audioId === song.audioId) ?? older[index];
    return before ? { ...before, ...song } : song;
  });
}
