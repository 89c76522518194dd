import {
  asHttpUrl,
  asList,
  asText,
  type Fields,
  fieldsOf,
  isObject,
  lookUp,
  normalName,
  objectsIn,
  type Visit,
} from './json.ts';
import { MOST_FOUND, type MusicResult, musicResult } from './music-result.ts';

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
  const found: Record<'songs' | 'lyrics' | 'images' | 'stems', unknown[]> = {
    songs: [],
    lyrics: [],
    images: [],
    stems: [],
  };
  let wavUrl: string | undefined;
  let videoUrl: string | undefined;
  for (const visit of objectsIn(body, REQUEST_ECHOES)) {
    const { fields } = visit;
    const stems = stemsIn(visit);
    const song = stems.length === 0 ? songIn(visit) : undefined;
    found.stems.push(...stems);
    found.images.push(...imagesIn(fields, song !== undefined));
    if (song === undefined) found.lyrics.push(...lyricsIn(visit));
    else found.songs.push(song);
    wavUrl ??= asHttpUrl(fields('audioWavUrl', 'wavUrl', 'wav'));
    videoUrl ??= asHttpUrl(fields('videoUrl', 'mp4Url', 'musicVideoUrl', 'mp4'));
  }
  return musicResult.parse({ ...found, wavUrl, videoUrl });
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

function songIn({ fields, key, inArray }: Visit): object | undefined {
  const listed = SONG_LISTS.has(normalName(key));
  const audioUrl =
    asHttpUrl(fields('audioUrl', 'sourceAudioUrl', 'songUrl', 'mp3Url', 'audio')) ??
    asHttpUrl(fields('sourceAudioUrl')) ??
    (listed ? asHttpUrl(fields('url')) : undefined);
  const streamUrl =
    asHttpUrl(fields('streamAudioUrl', 'sourceStreamAudioUrl', 'streamUrl')) ??
    asHttpUrl(fields('sourceStreamAudioUrl'));
  if (audioUrl === undefined && streamUrl === undefined && !isSongToCome(fields, inArray)) return undefined;

  const audioId = asText(fields('audioId', 'musicId', 'clipId', 'songId')) ?? asText(fields('id'));
  const tags = fields('style', 'tags', 'styles');
  return {
    audioId: audioId === asText(fields('taskId')) ? undefined : audioId,
    audioUrl,
    streamUrl,
    imageUrl:
      asHttpUrl(fields('imageUrl', 'sourceImageUrl', 'imageLargeUrl', 'coverUrl')) ??
      asHttpUrl(fields('sourceImageUrl')),
    title: fields('title', 'name'),
    style: Array.isArray(tags) ? tags.filter((tag) => typeof tag === 'string').join(', ') : tags,
    lyrics: fields('lyrics', 'lyric', 'prompt'),
    durationSeconds: fields('durationSeconds', 'duration', 'audioDuration'),
    model: fields('modelName', 'model'),
  };
}

/** The `text` stage lists songs that have no audio yet. */
function isSongToCome(fields: Fields, inArray: boolean): boolean {
  if (!inArray || fields('id', 'audioId') === undefined || fields('text') !== undefined) return false;
  return (
    fields('prompt', 'lyric', 'lyrics', 'tags', 'duration', 'imageUrl', 'modelName', 'createTime') !==
    undefined
  );
}

function stemsIn({ value, fields, key, inArray }: Visit): object[] {
  const inBox = STEM_BOXES.has(normalName(key));
  if (inBox && inArray) {
    const url = asHttpUrl(fields('url', 'stemUrl', 'audioUrl'));
    const name = asText(fields('name', 'stem', 'type', 'instrument', 'label', 'title'));
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
  const known = lookUp(STEM_NAMES, normalName(key));
  if (known !== undefined) return known;
  return key
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
}

function imagesIn(fields: Fields, isSong: boolean): string[] {
  const list = fields(...IMAGE_LISTS);
  const listed = (Array.isArray(list) ? list.slice(0, MOST_FOUND) : [list]).map((image) =>
    isObject(image) ? fieldsOf(image)('url', 'imageUrl', 'image') : image,
  );
  const single = isSong ? [] : [fields('imageUrl', 'coverUrl', 'coverImageUrl')];
  return [...listed, ...single].flatMap((image) => asHttpUrl(image) ?? []);
}

function lyricsIn({ value, fields }: Visit): object[] {
  if (/fail|error/i.test(asText(fields('status'), 100) ?? '')) return [];
  const listed = Object.entries(value)
    .slice(0, 200)
    .filter(([name]) => LYRIC_LISTS.has(normalName(name)))
    .flatMap(([, member]) => asList(member).slice(0, MOST_FOUND))
    .filter((item) => typeof item === 'string')
    .slice(0, MOST_FOUND);
  const own = asText(fields('text', 'lyrics', 'lyric'));
  return [
    ...(own === undefined ? [] : [{ title: fields('title', 'name'), text: own }]),
    ...listed.map((text) => ({ text })),
  ];
}
