/**
 * Finds what a task was asked for where a body names it in a way that no public API does: bare stems under their own
 * names, one address without a telling name. The contract shows no field names for multitrack stems, WAV and music
 * video ("Music results"), so any address counts that is not plainly something else.
 */
import {
  asHttpUrl,
  asText,
  type Fields,
  isObject,
  kindOf,
  normalName,
  objectsIn,
} from '../transport/json.ts';
import { type MusicResult, musicResult, REQUEST_ECHOES, stemName } from './results.ts';

/** What a music task brings. */
export type MusicKind = 'songs' | 'lyrics' | 'images' | 'stems' | 'wav' | 'video';

interface FoundAddress {
  /** The key of the address, or of the list that holds it, without `url`; as {@link normalName} writes it. */
  readonly name: string;
  readonly key: string;
  readonly url: string;
  /** The object around it. */
  readonly fields: Fields;
}

/** Addresses that are no result of any task. */
const NO_RESULT =
  /^(?:callback|webhook|upload|origin(?:al)?|source(?:audio)?|request|docs?|help|status|details?|page|web|share|poll|query|next|self|api)$/;
type FileKind = 'sound' | 'picture' | 'film';
/** By the extension in an address's path; other extensions are no result, and none says nothing. */
const EXTENSIONS: Readonly<Record<FileKind, RegExp>> = {
  sound: /^(?:mp3|wav|m4a|ogg|opus|flac|aac)$/,
  picture: /^(?:png|jpe?g|webp|gif|avif)$/,
  film: /^(?:mp4|mov|webm|m4v)$/,
};
/** By the name, where the path says nothing. */
const NAMES: Readonly<Record<FileKind, RegExp>> = {
  film: /video|mp4|film/,
  picture: /image|cover|picture|thumb|poster|avatar/,
  sound: /audio|wav|mp3|song|stream|music|track/,
};
/** Names that say only that an address follows. */
const GENERIC = /^(?:|file|link|href|src|uri|path|download|result|output|data|stem|media|address|location)$/;

/** Undefined where neither path nor name tells; `other` for what is no file of these kinds. */
function fileKindOf({ name, url }: FoundAddress): FileKind | 'other' | undefined {
  const [, extension] = /\.([a-z\d]{2,5})$/i.exec(URL.parse(url)?.pathname ?? '') ?? [];
  if (extension !== undefined) return kindOf(EXTENSIONS, extension.toLowerCase()) ?? 'other';
  return kindOf(NAMES, name);
}

/** Whether the name or the path of an address tells anything. */
const isTold = (address: FoundAddress): boolean =>
  !GENERIC.test(address.name) || fileKindOf(address) !== undefined;

/** The addresses that may be of a kind, which a telling name or path shows, or a name that says nothing else. */
function addressesOf(kind: FileKind, addresses: readonly FoundAddress[]): FoundAddress[] {
  return addresses.filter((address) => {
    const told = fileKindOf(address);
    return told === kind || (told === undefined && GENERIC.test(address.name));
  });
}

/**
 * Reads a body for what was asked for, besides what was `found` under known names. Everything else in it is no result.
 * An address that tells nothing may be the work in a callback, and the task itself in the answer of a submission.
 * Never throws; bounded.
 */
export function readExpected(
  body: unknown,
  found: MusicResult,
  kind: MusicKind,
  isSubmission: boolean,
): MusicResult {
  const addresses = addressesIn(body).filter((address) => !isSubmission || isTold(address));
  switch (kind) {
    case 'songs': {
      const songs = addressesOf('sound', addresses).map(({ url }) => ({ audioUrl: url }));
      return musicResult.parse({ ...found, songs });
    }
    case 'lyrics': {
      // A single line may be what the gateway says of the task.
      const texts = textsIn(body, found).filter(({ text }) => !isSubmission || text.includes('\n'));
      return musicResult.parse({ ...found, songs: [], lyrics: [...found.lyrics, ...texts] });
    }
    case 'images': {
      const likely = addressesOf('picture', addresses).map(({ url }) => url);
      return musicResult.parse({
        ...found,
        songs: [],
        images: found.images.length > 0 ? found.images : likely,
      });
    }
    case 'stems': {
      const stems = [...found.stems, ...unnamedStems(addresses, found)];
      return musicResult.parse({ ...found, songs: [], stems });
    }
    case 'wav': {
      const sounds = addressesOf('sound', addresses);
      const lossless = sounds.find(({ name, url }) => /wav/.test(name) || /\.wav\b/i.test(url));
      return musicResult.parse({ ...found, songs: [], wavUrl: found.wavUrl ?? (lossless ?? sounds[0])?.url });
    }
    case 'video': {
      const films = addressesOf('film', addresses);
      const certain = films.find((address) => fileKindOf(address) === 'film');
      return musicResult.parse({
        ...found,
        songs: [],
        videoUrl: found.videoUrl ?? (certain ?? films[0])?.url,
      });
    }
    default:
      return kind satisfies never;
  }
}

function addressesIn(body: unknown): FoundAddress[] {
  const found = new Map<string, FoundAddress>();
  for (const { value, fields } of objectsIn({ data: body }, REQUEST_ECHOES)) {
    for (const [key, member] of Object.entries(value).slice(0, 200)) {
      const name = normalName(key.replace(/[_-]?ur[li]s?$/i, ''));
      if (REQUEST_ECHOES.has(normalName(key)) || NO_RESULT.test(name)) continue;
      for (const item of Array.isArray(member) ? member.slice(0, 200) : [member]) {
        const url = asHttpUrl(item);
        if (url !== undefined && !found.has(url)) found.set(url, { name, key, url, fields });
      }
    }
  }
  return [...found.values()];
}

function unnamedStems(addresses: readonly FoundAddress[], { stems }: MusicResult): object[] {
  const known = new Set(stems.map(({ url }) => url));
  return addresses.flatMap(({ name, key, url, fields }) => {
    const kind = fileKindOf({ name, key, url, fields });
    if (known.has(url) || (kind !== undefined && kind !== 'sound')) return [];
    const label = asText(fields('name', 'stem', 'type', 'instrument', 'label', 'title', 'track'), 100);
    const isNamed = !GENERIC.test(name) && !NAMES.sound.test(name);
    // The song that was taken apart comes along in some bodies, under a name of its own.
    if (!isNamed && label === undefined && addresses.length > 1) return [];
    return [{ name: isNamed ? stemName(key.replace(/[_-]?url$/i, '')) : stemName(label ?? 'stem'), url }];
  });
}

const TEXTS = /^(?:data|results?|lyrics?|texts?|content|variants?|output|words)$/;

/** Texts in a list, or under a name for the whole, without a title each. */
function textsIn(body: unknown, { lyrics }: MusicResult): { readonly text: string }[] {
  if (lyrics.length > 0) return [];
  return objectsIn({ data: body }, REQUEST_ECHOES)
    .flatMap(({ value }) => Object.entries(value).slice(0, 200))
    .filter(([key]) => TEXTS.test(normalName(key)))
    .flatMap(([, member]) => (Array.isArray(member) ? member.slice(0, 200) : [member]))
    .filter((text): text is string => typeof text === 'string' && /\S\s+\S/.test(text))
    .map((text) => ({ text }))
    .toArray();
}

/** The names of a body's members with their paths, and never a value: for the operator's log. */
export function keysOf(body: unknown): string[] {
  const names = objectsIn(body).flatMap(({ key, value }) =>
    Object.entries(value)
      .slice(0, 50)
      .map(([name, member]) => `${key === '' ? '' : `${key}.`}${name}: ${kindOfValue(member)}`.slice(0, 120)),
  );
  return [...new Set(names.take(200))];
}

function kindOfValue(value: unknown): string {
  if (Array.isArray(value)) return 'list';
  if (value === null) return 'null';
  return isObject(value) ? 'object' : asHttpUrl(value) === undefined ? typeof value : 'address';
}
