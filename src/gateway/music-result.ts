import { z } from 'zod';
import { httpUrl, id, listOf, maybe, members, notNegative, positive, text } from './responses.ts';

/** The most items of one kind that are kept; tasks bring one to fourteen. */
const MOST_ITEMS = 50;
/** The most that are looked at, the same ones named again and those that cannot be read included. */
export const MOST_FOUND = 1_000;

const songItem = members({
  audioId: maybe(id),
  audioUrl: maybe(httpUrl),
  /** Playable before the song is complete. */
  streamUrl: maybe(httpUrl),
  imageUrl: maybe(httpUrl),
  title: maybe(text(1_000)),
  style: maybe(text(5_000)),
  lyrics: maybe(text(100_000)),
  durationSeconds: maybe(positive),
  model: maybe(text(100)),
});
export type SongItem = z.infer<typeof songItem>;

const lyricVariant = members({ title: maybe(text(1_000)), text: text(100_000) });
export type LyricVariant = z.infer<typeof lyricVariant>;

const stemItem = members({
  /** In words: `vocals`, `instrumental`, `backing vocals`, `drums`, ... or the gateway's own key in words. */
  name: text(100),
  url: httpUrl,
});
export type StemItem = z.infer<typeof stemItem>;

/**
 * What a music task brings: contract, "Music results (returned in callbacks or responses)", and songs, whose fields are
 * not shown there (https://docs.sunoapi.org/suno-api/generate-music-callbacks). Every URL is http or https; anything
 * may be missing; nothing comes twice.
 */
export const musicResult = members({
  songs: listOf(songItem, MOST_FOUND).transform(mergeSongs),
  lyrics: listOf(lyricVariant, MOST_FOUND).transform(
    distinct(({ title, text: words }) => `${title ?? ''}\n${words}`),
  ),
  /** Addresses of cover pictures. */
  images: listOf(httpUrl, MOST_FOUND).transform(distinct((url) => url)),
  stems: listOf(stemItem, MOST_FOUND).transform(distinct(({ name, url }) => `${name} ${url}`)),
  wavUrl: maybe(httpUrl),
  videoUrl: maybe(httpUrl),
});
export type MusicResult = z.infer<typeof musicResult>;

/** The same song named twice is one; the first to name a member is believed. */
function mergeSongs(found: readonly SongItem[]): SongItem[] {
  const songs: SongItem[] = [];
  for (const song of found) {
    const known = songs.findIndex((each) =>
      song.audioId !== undefined && each.audioId !== undefined
        ? each.audioId === song.audioId
        : song.audioUrl !== undefined && each.audioUrl === song.audioUrl,
    );
    if (known !== -1) songs[known] = { ...song, ...songs[known] };
    else if (songs.length < MOST_ITEMS) songs.push(song);
  }
  return songs;
}

function distinct<T>(keyOf: (item: T) => string) {
  return (items: readonly T[]): T[] => {
    const known = new Map<string, T>();
    for (const item of items) {
      const key = keyOf(item);
      if (known.size < MOST_ITEMS && !known.has(key)) known.set(key, item);
    }
    return [...known.values()];
  };
}

/** One sung word: contract, "Aligned words (timestamped-lyrics response)". Seconds from the start of the song. */
export const alignedWord = members({
  /** As it came, not trimmed; may hold a section tag and line breaks. Its name is not shown in the contract. */
  word: z.string().transform((word) => word.slice(0, 1_000)),
  startSeconds: notNegative,
  endSeconds: maybe(notNegative),
}).transform(({ word, startSeconds, endSeconds = startSeconds }) => ({
  word,
  startSeconds,
  endSeconds: Math.max(startSeconds, endSeconds),
}));
export type AlignedWord = z.infer<typeof alignedWord>;
