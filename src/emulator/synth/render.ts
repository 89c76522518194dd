import { type Composition, compose } from './composition.ts';
import { decodeAudio, stretch } from './decode.ts';
import { playBass, playDrums, playGuitar, playKeyboard, playStrings, playSynth } from './instruments.ts';
import { mapStems, master, placeStem, type Sound } from './mix.ts';
import {
  type SongRecipe,
  type SongSource,
  type StemName,
  type Stems,
  sampleRate,
  stemNames,
} from './recipe.ts';
import { chooseSinger, sing } from './voice.ts';

/** Uploads are used up to this many seconds, so that one long file cannot keep the studio busy for minutes. */
const longestUploadSeconds = 120;

type Sounds = Record<StemName, Sound>;

/** Performs a recipe: the song's stems, whose exact sum is the song. Throws UnreadableAudioError for a bad upload. */
export async function renderStems(recipe: SongRecipe): Promise<Stems> {
  return master(await renderSounds(recipe));
}

async function renderSounds(recipe: SongRecipe): Promise<Sounds> {
  const { source } = recipe;
  if (source === null) return play(recipe, compose(recipe));
  if (source.kind === 'song') {
    const before = await renderSounds(source.recipe);
    return splice(before, play(recipe, compose(recipe)), source.continueAt);
  }
  const upload = await decodeAudio(source.audio, longestUploadSeconds);
  return transform(recipe, source, upload);
}

/** Plays every part of a composition into its own sound. */
function play(recipe: SongRecipe, song: Composition, seconds = song.seconds): Sounds {
  const length = Math.ceil(seconds * sampleRate);
  const { levels } = song.genre;
  const part = (name: StemName, perform: (target: Float32Array) => void, level = 1): Sound => {
    if (level === 0) return silence(length);
    const mono = new Float32Array(length);
    perform(mono);
    if (level !== 1) for (let index = 0; index < length; index++) mono[index] = (mono[index] ?? 0) * level;
    return placeStem(name, mono);
  };
  const voice = song.words.length === 0 ? 0 : 1;
  const singer = chooseSinger(
    recipe.voice ?? `${recipe.title} ${recipe.style} ${recipe.prompt} ${recipe.take}`,
  );
  const chorus = song.words.filter((word) => word.chorus);
  return {
    vocals: part(
      'vocals',
      (target) => sing(target, song.words, singer, { gain: 1.1, interval: 0, vowel: null }),
      voice,
    ),
    backingVocals: part(
      'backingVocals',
      (target) => {
        sing(target, chorus, singer, { gain: 0.4, interval: 3, vowel: 'u' });
        sing(target, chorus, singer, { gain: 0.35, interval: 7, vowel: 'o' });
      },
      chorus.length === 0 ? 0 : 1,
    ),
    drums: part('drums', (target) => playDrums(target, song.drums), levels.drums * 0.8),
    bass: part('bass', (target) => playBass(target, song.bass), levels.bass),
    guitar: part('guitar', (target) => playGuitar(target, song.guitar), levels.guitar),
    keyboard: part('keyboard', (target) => playKeyboard(target, song.keyboard), levels.keyboard),
    strings: part('strings', (target) => playStrings(target, song.strings), levels.strings),
    synth: part('synth', (target) => playSynth(target, song.synth), levels.synth),
  };
}

/** The stem that carries the uploaded sound. */
const uploadStem = {
  cover: 'synth',
  extend: 'synth',
  vocals: 'keyboard',
  instrumental: 'vocals',
} as const satisfies Record<Extract<SongSource, { kind: 'upload' }>['use'], StemName>;

function transform(
  recipe: SongRecipe,
  source: Extract<SongSource, { kind: 'upload' }>,
  upload: Sound,
): Sounds {
  const carrier = uploadStem[source.use];
  switch (source.use) {
    case 'extend': {
      const song = play(recipe, compose(recipe));
      const uploadSeconds = upload.left.length / sampleRate;
      const before = mapStems((name) => (name === carrier ? upload : silence(upload.left.length)));
      return splice(before, song, Math.min(source.continueAt ?? uploadSeconds, uploadSeconds));
    }
    case 'cover':
    case 'vocals':
    case 'instrumental': {
      const carried = source.use === 'cover' ? disguise(upload) : upload;
      const seconds = carried.left.length / sampleRate;
      const song = play(recipe, compose({ ...recipe, seconds }), seconds);
      const kept: readonly StemName[] =
        source.use === 'vocals'
          ? ['vocals', 'backingVocals']
          : stemNames.filter(
              (name) => name !== carrier && (source.use === 'cover' || name !== 'backingVocals'),
            );
      const backing = source.use === 'cover' ? 0.6 : 0.75;
      return mapStems((name) => {
        if (name === carrier) return carried;
        return kept.includes(name) ? scale(song[name], backing) : silence(carried.left.length);
      });
    }
    default:
      return source.use satisfies never;
  }
}

/** A cover's version of the source: a whole tone higher, its low end taken away, and a slow tremolo over it. */
function disguise(upload: Sound): Sound {
  const change = (channel: Float32Array): Float32Array => {
    const shifted = stretch(channel, 2 ** (2 / 12));
    let low = 0;
    return shifted.map((sample, index) => {
      low += (sample - low) * 0.03;
      const tremolo = 0.8 + 0.2 * Math.sin((2 * Math.PI * 4 * index) / sampleRate);
      return 0.8 * (sample - low) * tremolo;
    });
  };
  return { left: change(upload.left), right: change(upload.right) };
}

/** The first sounds up to a time, then the second ones, crossed over for a quarter of a second. */
function splice(before: Sounds, after: Sounds, seconds: number): Sounds {
  const joint = Math.min(Math.floor(seconds * sampleRate), before.drums.left.length);
  const fade = Math.min(Math.floor(sampleRate / 4), joint);
  const cross = (first: Float32Array, second: Float32Array): Float32Array => {
    const joined = new Float32Array(joint + second.length);
    joined.set(first.subarray(0, joint));
    for (let index = joint - fade; index < joint; index++) {
      joined[index] = (joined[index] ?? 0) * ((joint - index) / fade);
    }
    joined.set(second, joint);
    for (let index = 0; index < Math.min(fade, second.length); index++) {
      joined[joint + index] = (joined[joint + index] ?? 0) * (index / fade);
    }
    return joined;
  };
  return mapStems((name) => ({
    left: cross(before[name].left, after[name].left),
    right: cross(before[name].right, after[name].right),
  }));
}

function silence(length: number): Sound {
  return { left: new Float32Array(length), right: new Float32Array(length) };
}

function scale(sound: Sound, gain: number): Sound {
  return {
    left: sound.left.map((sample) => sample * gain),
    right: sound.right.map((sample) => sample * gain),
  };
}
