import {
  asHttpUrl,
  asList,
  asNumber,
  asText,
  type Fields,
  fieldsOf,
  isObject,
  normalName,
  objectsIn,
  type Visit,
} from './json.ts';
import type { LyricVariant, MusicResult, SongItem, StemItem } from './music-result.ts';

/** The most items of one kind that are read; tasks bring one to fourteen. */
const MOST_ITEMS = 50;

/** What was asked, echoed: it holds addresses and texts that are not results. */
const REQUEST_ECHOES = new Set(['param', 'params', 'request', 'input']);
const SONG_LISTS = new Set(['sunodata', 'songs', 'tracks', 'clips', 'audios']);
const STEM_BOXES = new Set(['vocalremovalinfo', 'stems', 'stem', 'stemurls']);
const IMAGE_LISTS = ['images', 'imageUrls', 'covers', 'coverImages', 'coverUrls'];
const LYRIC_LISTS = new Set(['lyrics', 'lyricvariants', 'variants']);

/** docs.sunoapi.org/suno-api/separate-vocals-from-music, callback and record. */
const STEM_NAMES: Readonly<Record<string, string>> = {
  vocal: 'vocals',
  vocals: 'vocals',
  instrumental: 'instrumental',
  backingvocals: 'backing vocals',
  drums: 'drums',
  bass: 'bass',
  guitar: 'guitar',
  keyboard: 'keyboard',
  percussion: 'percussion',
  strings: 'strings',
  synth: 'synth',
  fx: 'fx',
  brass: 'brass',
  woodwinds: 'woodwinds',
};
/** Addresses that stand beside stems and are none. */
const NOT_STEMS = new Set(
  [
    '',
    'origin',
    'original',
    'source',
    'audio',
    'sourceaudio',
    'streamaudio',
    'sourcestreamaudio',
    'stream',
  ].concat([
    'image',
    'sourceimage',
    'cover',
    'video',
    'audiowav',
    'wav',
    'mp4',
    'callback',
    'upload',
    'song',
    'mp3',
  ]),
);

/** Finds songs, lyrics, images, stems, WAV and video wherever they stand in a body. Never throws; bounded. */
export function readMusicResult(body: unknown): MusicResult {
  const found: MusicResult = { songs: [], lyrics: [], images: [], stems: [] };
  for (const visit of objectsIn(body, REQUEST_ECHOES)) {
    const { fields } = visit;
    const stems = stemsOf(visit);
    const song = stems.length === 0 ? songOf(visit) : undefined;
    const wavUrl = asHttpUrl(fields('audioWavUrl', 'wavUrl', 'wav'));
    const videoUrl = asHttpUrl(fields('videoUrl', 'mp4Url', 'musicVideoUrl', 'mp4'));

    for (const stem of stems) addUnlessKnown(found.stems, stem, (each) => `${each.name} ${each.url}`);
    if (song !== undefined) addSong(found.songs, song);
    if (wavUrl !== undefined) found.wavUrl ??= wavUrl;
    if (videoUrl !== undefined) found.videoUrl ??= videoUrl;
    for (const image of imagesOf(fields, song !== undefined))
      addUnlessKnown(found.images, image, (url) => url);
    if (song === undefined) {
      for (const variant of lyricsOf(visit)) {
        addUnlessKnown(found.lyrics, variant, ({ title, text }) => `${title ?? ''}\n${text}`);
      }
    }
  }
  return found;
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

function songOf({ fields, key, inArray }: Visit): SongItem | undefined {
  const listed = SONG_LISTS.has(normalName(key));
  const audioUrl =
    asHttpUrl(fields('audioUrl', 'sourceAudioUrl', 'songUrl', 'mp3Url', 'audio')) ??
    asHttpUrl(fields('sourceAudioUrl')) ??
    (listed ? asHttpUrl(fields('url')) : undefined);
  const streamUrl =
    asHttpUrl(fields('streamAudioUrl', 'sourceStreamAudioUrl', 'streamUrl')) ??
    asHttpUrl(fields('sourceStreamAudioUrl'));
  if (audioUrl === undefined && streamUrl === undefined && !isSongToCome(fields, inArray)) return undefined;

  const taskId = asText(fields('taskId'), 512);
  const id = asText(fields('audioId', 'musicId', 'clipId', 'songId'), 512) ?? asText(fields('id'), 512);
  const duration = asNumber(fields('durationSeconds', 'duration', 'audioDuration'));
  const tags = fields('style', 'tags', 'styles');
  return present({
    audioId: id === taskId ? undefined : id,
    audioUrl,
    streamUrl,
    imageUrl:
      asHttpUrl(fields('imageUrl', 'sourceImageUrl', 'imageLargeUrl', 'coverUrl')) ??
      asHttpUrl(fields('sourceImageUrl')),
    title: asText(fields('title', 'name'), 1_000),
    style: asText(
      Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string').join(', ') : tags,
      5_000,
    ),
    lyrics: asText(fields('lyrics', 'lyric', 'prompt')),
    durationSeconds: duration !== undefined && duration > 0 ? duration : undefined,
    model: asText(fields('modelName', 'model'), 100),
  });
}

/** The `text` stage lists songs that have no audio yet. */
function isSongToCome(fields: Fields, inArray: boolean): boolean {
  if (!inArray || fields('id', 'audioId') === undefined || fields('text') !== undefined) return false;
  return (
    fields('prompt', 'lyric', 'lyrics', 'tags', 'duration', 'imageUrl', 'modelName', 'createTime') !==
    undefined
  );
}

function stemsOf({ value, fields, key, inArray }: Visit): StemItem[] {
  const inBox = STEM_BOXES.has(normalName(key));
  if (inBox && inArray) {
    const url = asHttpUrl(fields('url', 'stemUrl', 'audioUrl'));
    const name = asText(fields('name', 'stem', 'type', 'instrument', 'label', 'title'), 100);
    return url === undefined || name === undefined ? [] : [{ name: stemName(name), url }];
  }
  const addresses = Object.entries(value)
    .slice(0, 200)
    .flatMap(([name, member]) => {
      const url = asHttpUrl(member);
      const isAddress = /url$/i.test(name);
      const base = name.replace(/[_-]?url$/i, '');
      if (url === undefined || NOT_STEMS.has(normalName(base)) || !(isAddress || inBox)) return [];
      return [{ base, url }];
    });
  const certain = inBox || addresses.some(({ base }) => Object.hasOwn(STEM_NAMES, normalName(base)));
  return certain ? addresses.map(({ base, url }) => ({ name: stemName(base), url })) : [];
}

function stemName(key: string): string {
  const known = normalName(key);
  if (Object.hasOwn(STEM_NAMES, known)) return STEM_NAMES[known] ?? known;
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .trim()
    .toLowerCase()
    .slice(0, 100);
}

function imagesOf(fields: Fields, isSong: boolean): string[] {
  const list = fields(...IMAGE_LISTS);
  const listed = (Array.isArray(list) ? list.slice(0, MOST_ITEMS) : [list]).map((image) =>
    isObject(image) ? fieldsOf(image)('url', 'imageUrl', 'image') : image,
  );
  const single = isSong ? [] : [fields('imageUrl', 'coverUrl', 'coverImageUrl')];
  return [...listed, ...single].flatMap((image) => asHttpUrl(image) ?? []);
}

function lyricsOf({ value, fields }: Visit): LyricVariant[] {
  if (/fail|error/i.test(asText(fields('status'), 100) ?? '')) return [];
  const lists = Object.entries(value)
    .slice(0, 200)
    .filter(([name]) => LYRIC_LISTS.has(normalName(name)))
    .flatMap(([, member]) => asList(member).slice(0, MOST_ITEMS));
  const title = asText(fields('title', 'name'), 1_000);
  const own = asText(fields('text', 'lyrics', 'lyric'));
  const variants = lists.flatMap((item) => (typeof item === 'string' ? (asText(item) ?? []) : []));
  return [
    ...(own === undefined ? [] : [title === undefined ? { text: own } : { title, text: own }]),
    ...variants.map((text) => ({ text })),
  ];
}

function addSong(songs: SongItem[], song: SongItem): void {
  const same = songs.find((each) =>
    song.audioId !== undefined && each.audioId !== undefined
      ? each.audioId === song.audioId
      : song.audioUrl !== undefined && each.audioUrl === song.audioUrl,
  );
  if (same !== undefined) Object.assign(same, { ...song, ...same });
  else if (songs.length < MOST_ITEMS) songs.push(song);
}

function addUnlessKnown<T>(items: T[], item: T, keyOf: (item: T) => string): void {
  if (items.length < MOST_ITEMS && !items.some((each) => keyOf(each) === keyOf(item))) items.push(item);
}

/** The same object without its undefined members. */
function present<T extends object>(object: { [K in keyof T]: T[K] | undefined }): T {
  // Sound because every member left is of T, and T's members are optional where undefined was let in.
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as T;
}
