import type { z } from 'zod';
import * as json from '../transport/json.ts';

/** The most items of one kind that are kept; tasks bring one to fourteen. */
const MOST_ITEMS = 50;
/** The most that are read: repetitions and unreadable items count too. */
const MOST_FOUND = 1_000;

const songItem = json.members({
  audioId: json.maybe(json.id),
  audioUrl: json.maybe(json.httpUrl),
  /** Playable before the song is complete. */
  streamUrl: json.maybe(json.httpUrl),
  imageUrl: json.maybe(json.httpUrl),
  title: json.maybe(json.text(1_000)),
  style: json.maybe(json.text(5_000)),
  lyrics: json.maybe(json.text(100_000)),
  durationSeconds: json.maybe(json.positive),
  model: json.maybe(json.text(100)),
});
export type SongItem = z.infer<typeof songItem>;

const lyricVariant = json.members({ title: json.maybe(json.text(1_000)), text: json.text(100_000) });
export type LyricVariant = z.infer<typeof lyricVariant>;

const stemItem = json.members({
  /** In words: `vocals`, `instrumental`, `backing vocals`, `drums`, ... or the gateway's own key in words. */
  name: json.text(100),
  url: json.httpUrl,
});
export type StemItem = z.infer<typeof stemItem>;

/**
 * What a music task brings: contract, "Music results (returned in callbacks or responses)", and songs, whose fields are
 * not shown there (https://docs.sunoapi.org/suno-api/generate-music-callbacks). Every URL is http or https; anything
 * may be missing; nothing comes twice.
 */
export const musicResult = json.members({
  songs: json.listOf(songItem, MOST_FOUND).transform(mergeSongs),
  lyrics: json
    .listOf(lyricVariant, MOST_FOUND)
    .transform(distinct(({ title, text: words }) => `${title ?? ''}\n${words}`)),
  /** Addresses of cover pictures. */
  images: json.listOf(json.httpUrl, MOST_FOUND).transform(distinct((url) => url)),
  stems: json.listOf(stemItem, MOST_FOUND).transform(distinct(({ name, url }) => `${name} ${url}`)),
  wavUrl: json.maybe(json.httpUrl),
  videoUrl: json.maybe(json.httpUrl),
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

/** What was asked, echoed: it holds addresses and texts that are not results. */
export const REQUEST_ECHOES = new Set(['param', 'params', 'request', 'input']);
const SONG_LISTS = new Set(['sunodata', 'songs', 'tracks', 'clips', 'audios']);
const STEM_BOXES = new Set(['vocalremovalinfo', 'stems', 'stem', 'stemurls']);
const IMAGE_LISTS = ['images', 'imageUrls', 'covers', 'coverImages', 'coverUrls'];
const LYRIC_LISTS = new Set(['lyrics', 'lyricvariants', 'variants']);

/** docs.sunoapi.org/suno-api/separate-vocals-from-music, callback and record. */
const STEM_NAMES =
  /^(?:vocals?|instrumental|backingvocals|drums|bass|guitar|keyboard|percussion|strings|synth|fx|brass|woodwinds)$/;
/** Names of addresses that are listed among stems and are none. */
const NOT_STEMS =
  /^(?:origin(?:al)?|song|mp[34]|(?:audio)?wav|(?:source)?(?:stream)?(?:audio)?|(?:source)?image|cover|video|callback|upload)$/;

/** Finds songs, lyrics, images, stems, WAV and video wherever they are in a body. Never throws; bounded. */
export function readMusicResult(body: unknown): MusicResult {
  const found: Record<'songs' | 'lyrics' | 'images' | 'stems', unknown[]> = {
    songs: [],
    lyrics: [],
    images: [],
    stems: [],
  };
  let wavUrl: string | undefined;
  let videoUrl: string | undefined;
  for (const visit of json.objectsIn(body, REQUEST_ECHOES)) {
    const { fields } = visit;
    const stems = stemsIn(visit);
    const song = stems.length === 0 ? songIn(visit) : undefined;
    found.stems.push(...stems);
    found.images.push(...imagesIn(fields, song !== undefined));
    if (song === undefined) found.lyrics.push(...lyricsIn(visit));
    else found.songs.push(song);
    wavUrl ??= json.asHttpUrl(fields('audioWavUrl', 'wavUrl', 'wav'));
    videoUrl ??= json.asHttpUrl(fields('videoUrl', 'mp4Url', 'musicVideoUrl', 'mp4'));
  }
  return musicResult.parse({ ...found, wavUrl, videoUrl });
}

/** A song as https://docs.sunoapi.org/suno-api/generate-music-callbacks has it. */
const PLAIN_SONG = new Set([
  'id',
  'title',
  'prompt',
  'tags',
  'duration',
  'model_name',
  'createTime',
  'image_url',
  'source_image_url',
  'audio_url',
  'source_audio_url',
  'stream_audio_url',
  'source_stream_audio_url',
]);
const MOST_PLAIN_SONGS = 10;

/** Whether a list is of songs that are written as documented, and so hold nothing nested. */
export function arePlainSongs(items: readonly unknown[]): items is readonly json.JsonObject[] {
  return items.length <= MOST_PLAIN_SONGS && items.every((item) => json.isPlain(item, PLAIN_SONG));
}

/** The songs of a list that is written as documented, as {@link readMusicResult} finds them. Undefined for any other. */
export function readPlainSongs(items: readonly unknown[]): SongItem[] | undefined {
  if (!arePlainSongs(items)) return undefined;
  const songs: SongItem[] = [];
  for (const item of items) {
    const { id, title, tags, prompt, duration, model_name: model } = item;
    const isSong = typeof id === 'string' && id.length <= 512 && json.asText(prompt) !== undefined;
    const audioId = isSong ? json.asText(id) : undefined;
    // Songs without an id, and those that come twice, are told apart by more than this.
    if (audioId === undefined) return undefined;
    if (songs.some((song) => song.audioId === audioId)) return undefined;
    const seconds = json.asNumber(duration);
    songs.push(
      json.withoutUndefined({
        audioId,
        audioUrl: json.asHttpUrl(item.audio_url) ?? json.asHttpUrl(item.source_audio_url),
        streamUrl: json.asHttpUrl(item.stream_audio_url) ?? json.asHttpUrl(item.source_stream_audio_url),
        imageUrl: json.asHttpUrl(item.image_url) ?? json.asHttpUrl(item.source_image_url),
        title: json.asText(title, 1_000),
        style: json.asText(tags, 5_000),
        lyrics: json.asText(prompt, 100_000),
        durationSeconds: seconds !== undefined && seconds > 0 ? seconds : undefined,
        model: json.asText(model, 100),
      }),
    );
  }
  return songs.length > 0 ? songs : undefined;
}

/** Whether there is something to hand over, as opposed to only the words of a song to come. */
export function holdsSomething(result: MusicResult): boolean {
  return (
    result.songs.some((song) => song.audioUrl !== undefined || song.streamUrl !== undefined) ||
    result.lyrics.length + result.images.length + result.stems.length > 0 ||
    result.wavUrl !== undefined ||
    result.videoUrl !== undefined
  );
}

function songIn({ fields, key, inArray }: json.Visit): object | undefined {
  const listed = SONG_LISTS.has(json.normalName(key));
  const audioUrl =
    json.asHttpUrl(fields('audioUrl', 'sourceAudioUrl', 'songUrl', 'mp3Url', 'audio')) ??
    json.asHttpUrl(fields('sourceAudioUrl')) ??
    (listed ? json.asHttpUrl(fields('url')) : undefined);
  const streamUrl =
    json.asHttpUrl(fields('streamAudioUrl', 'sourceStreamAudioUrl', 'streamUrl')) ??
    json.asHttpUrl(fields('sourceStreamAudioUrl'));
  if (audioUrl === undefined && streamUrl === undefined && !isSongToCome(fields, inArray)) return undefined;

  const audioId = json.asText(fields('audioId', 'musicId', 'clipId', 'songId')) ?? json.asText(fields('id'));
  const tags = fields('style', 'tags', 'styles');
  return {
    audioId: audioId === json.asText(fields('taskId')) ? undefined : audioId,
    audioUrl,
    streamUrl,
    imageUrl:
      json.asHttpUrl(fields('imageUrl', 'sourceImageUrl', 'imageLargeUrl', 'coverUrl')) ??
      json.asHttpUrl(fields('sourceImageUrl')),
    title: fields('title', 'name'),
    style: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string').join(', ') : tags,
    lyrics: fields('lyrics', 'lyric', 'prompt'),
    durationSeconds: fields('durationSeconds', 'duration', 'audioDuration'),
    model: fields('modelName', 'model'),
  };
}

/** The `text` stage lists songs that have no audio yet. */
function isSongToCome(fields: json.Fields, inArray: boolean): boolean {
  if (!inArray || fields('id', 'audioId') === undefined || fields('text') !== undefined) return false;
  return (
    fields('prompt', 'lyric', 'lyrics', 'tags', 'duration', 'imageUrl', 'modelName', 'createTime') !==
    undefined
  );
}

function stemsIn({ value, fields, key, inArray }: json.Visit): object[] {
  const inBox = STEM_BOXES.has(json.normalName(key));
  if (inBox && inArray) {
    const url = json.asHttpUrl(fields('url', 'stemUrl', 'audioUrl'));
    const name = json.asText(fields('name', 'stem', 'type', 'instrument', 'label', 'title'));
    return url === undefined || name === undefined ? [] : [{ name: stemName(name), url }];
  }
  const addresses = Object.entries(value)
    .slice(0, 200)
    .flatMap(([name, member]) => {
      const url = json.asHttpUrl(member);
      const isAddress = /url$/i.test(name);
      const base = name.replace(/[_-]?url$/i, '');
      if (url === undefined || NOT_STEMS.test(json.normalName(base)) || !(isAddress || inBox)) return [];
      return [{ base, url }];
    });
  const certain = inBox || addresses.some(({ base }) => STEM_NAMES.test(json.normalName(base)));
  return certain ? addresses.map(({ base, url }) => ({ name: stemName(base), url })) : [];
}

export function stemName(key: string): string {
  const name = json.normalName(key);
  if (name === 'vocal') return 'vocals';
  if (name === 'backingvocals') return 'backing vocals';
  if (STEM_NAMES.test(name)) return name;
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}

function imagesIn(fields: json.Fields, isSong: boolean): string[] {
  const list = fields(...IMAGE_LISTS);
  const listed = (Array.isArray(list) ? list.slice(0, MOST_FOUND) : [list]).map((image) =>
    json.isObject(image) ? json.fieldsOf(image)('url', 'imageUrl', 'image') : image,
  );
  const single = isSong ? [] : [fields('imageUrl', 'coverUrl', 'coverImageUrl')];
  return [...listed, ...single].flatMap((image) => json.asHttpUrl(image) ?? []);
}

function lyricsIn({ value, fields }: json.Visit): object[] {
  if (/fail|error/i.test(json.asText(fields('status'), 100) ?? '')) return [];
  const listed = Object.entries(value)
    .slice(0, 200)
    .filter(([name]) => LYRIC_LISTS.has(json.normalName(name)))
    .flatMap(([, member]) => json.asList(member).slice(0, MOST_FOUND))
    .filter((item) => typeof item === 'string')
    .slice(0, MOST_FOUND);
  const own = json.asText(fields('text', 'lyrics', 'lyric'));
  return [
    ...(own === undefined ? [] : [{ title: fields('title', 'name'), text: own }]),
    ...listed.map((text) => ({ text })),
  ];
}
