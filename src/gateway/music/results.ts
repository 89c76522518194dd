import { present } from '../../core/util/present.ts';
import * as json from '../transport/json.ts';

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
}

export interface LyricVariant {
  title?: string;
  text: string;
}

export interface StemItem {
  /** Such as `vocals`, `instrumental`, `backing vocals` or `drums`, or the gateway's key as words. */
  name: string;
  url: string;
}

/**
 * The results of a music task: contract, "Music results (returned in callbacks or responses)". The fields of songs are the
 * public API's (https://docs.sunoapi.org/suno-api/generate-music-callbacks). Every URL is http or https. Any list may be
 * empty; no item appears twice.
 */
export interface MusicResult {
  songs: SongItem[];
  lyrics: LyricVariant[];
  /** Cover image URLs. */
  images: string[];
  stems: StemItem[];
  wavUrl?: string;
  videoUrl?: string;
}

/** Maximum number of items of a kind. Tasks return one to fourteen. */
const MAX_ITEMS = 50;

/** Finds songs, lyrics, images, stems, WAV and video in the objects of a body. Never throws. */
export function readMusicResult(visits: readonly json.Visit[]): MusicResult {
  const songs: SongItem[] = [];
  const lyrics = new Map<string, LyricVariant>();
  const images = new Set<string>();
  const stems = new Map<string, StemItem>();
  const originals = new Map<string, StemItem>();
  let wavUrl: string | undefined;
  let videoUrl: string | undefined;
  for (const visit of visits) {
    const { fields } = visit;
    const found = stemsIn(visit);
    for (const stem of found) stems.set(`${stem.name} ${stem.url}`, stem);
    const original = originalStemIn(visit);
    if (original !== undefined) originals.set(`${original.name} ${original.url}`, original);
    const song = found.length === 0 && original === undefined ? songIn(visit) : undefined;
    const words = lyricIn(fields);
    if (song !== undefined) addSong(songs, song);
    else if (words !== undefined) lyrics.set(`${words.title ?? ''}\n${words.text}`, words);
    for (const image of json.asList(fields('images')).slice(0, MAX_ITEMS)) {
      const url = json.asHttpUrl(json.isObject(image) ? image.url : image);
      if (url !== undefined) images.add(url);
    }
    wavUrl ??= json.asHttpUrl(fields('audioWavUrl', 'wavUrl'));
    videoUrl ??= json.asHttpUrl(fields('videoUrl'));
  }
  return present({
    songs: songs.slice(0, MAX_ITEMS),
    lyrics: [...lyrics.values()].slice(0, MAX_ITEMS),
    images: [...images].slice(0, MAX_ITEMS),
    stems: [...(stems.size > 0 ? stems : originals).values()].slice(0, MAX_ITEMS),
    wavUrl,
    videoUrl,
  });
}

/** True if there is a result to deliver, and not only the lyrics of a pending song. */
export function hasResult(result: MusicResult): boolean {
  return (
    result.songs.some((song) => song.audioUrl !== undefined || song.streamUrl !== undefined) ||
    result.lyrics.length + result.images.length + result.stems.length > 0 ||
    result.wavUrl !== undefined ||
    result.videoUrl !== undefined
  );
}

/** Adds a song, or merges it with the same song found before. Members found first win. */
function addSong(songs: SongItem[], song: SongItem): void {
  const known = songs.findIndex((each) =>
    song.audioId !== undefined && each.audioId !== undefined
      ? each.audioId === song.audioId
      : song.audioUrl !== undefined && each.audioUrl === song.audioUrl,
  );
  if (known !== -1) songs[known] = { ...song, ...songs[known] };
  else if (songs.length < MAX_ITEMS) songs.push(song);
}

function songIn({ fields, inArray }: json.Visit): SongItem | undefined {
  const url = (...names: string[]) =>
    names.map((name) => json.asHttpUrl(fields(name))).find((found) => found !== undefined);
  const audioUrl = url('audioUrl', 'sourceAudioUrl');
  const streamUrl = url('streamAudioUrl', 'sourceStreamAudioUrl');
  if (audioUrl === undefined && streamUrl === undefined && !(inArray && isPendingSong(fields)))
    return undefined;

  const audioId = json.asId(fields('audioId')) ?? json.asId(fields('id'));
  const tags = fields('tags');
  const seconds = json.asNumber(fields('duration'));
  return present({
    audioId: audioId === json.asId(fields('taskId')) ? undefined : audioId,
    audioUrl,
    streamUrl,
    imageUrl: url('imageUrl', 'sourceImageUrl'),
    title: json.asText(fields('title'), 1_000),
    style: json.asText(Array.isArray(tags) ? tags.join(', ') : tags, 5_000),
    lyrics: json.asText(fields('prompt')),
    durationSeconds: seconds !== undefined && seconds > 0 ? seconds : undefined,
  });
}

/** The `text` stage lists songs that have no audio yet. */
function isPendingSong(fields: json.Fields): boolean {
  if (fields('id', 'audioId') === undefined || fields('text') !== undefined) return false;
  return fields('prompt', 'tags', 'duration', 'imageUrl', 'modelName', 'createTime') !== undefined;
}

function lyricIn(fields: json.Fields): LyricVariant | undefined {
  const text = json.asText(fields('text'));
  if (text === undefined || /fail/i.test(json.asText(fields('status'), 100) ?? '')) return undefined;
  return present({ title: json.asText(fields('title'), 1_000), text });
}

/** https://docs.sunoapi.org/suno-api/separate-vocals-from-music, callback and record. */
const STEM_NAMES =
  /^(?:vocals?|instrumental|backingvocals|drums|bass|guitar|keyboard|percussion|strings|synth|fx|brass|woodwinds)$/;
/** Keys next to stems whose URLs are not stems. */
const NOT_STEMS = /^(?:origin|callback|upload|video|(?:source)?(?:stream)?(?:audio|image))/;

/** Finds stems by the contract's and the public API's names, with or without `Url`, and any other URL next to them. */
function stemsIn({ members, key }: json.Visit): StemItem[] {
  const addresses = members.slice(0, 200).flatMap(([name, member]) => {
    const url = json.asHttpUrl(member);
    const base = name.replace(/[_-]?url$/i, '');
    return url === undefined ? [] : [{ base, word: json.normalName(base), url, isUrl: base !== name }];
  });
  const isStemInfo = /^vocal(?:removal|separation)info$/.test(json.normalName(key));
  if (!isStemInfo && !addresses.some(({ word }) => STEM_NAMES.test(word))) return [];
  return addresses
    .filter(({ word, isUrl }) => STEM_NAMES.test(word) || (isUrl && !NOT_STEMS.test(word)))
    .map(({ base, word, url }) => ({ name: stemName(base, word), url }));
}

/** An item of `originData`, the same stems at their origin: https://docs.kie.ai/suno-api/get-vocal-separation-details. */
function originalStemIn({ fields, inArray }: json.Visit): StemItem | undefined {
  const group = inArray ? json.asText(fields('stemTypeGroupName'), 100) : undefined;
  const url = json.asHttpUrl(fields('audioUrl'));
  return group === undefined || url === undefined
    ? undefined
    : { name: stemName(group, json.normalName(group)), url };
}

function stemName(key: string, word: string): string {
  if (word === 'vocal') return 'vocals';
  if (word === 'backingvocals') return 'backing vocals';
  if (STEM_NAMES.test(word)) return word;
  return key
    .slice(0, 100)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}
