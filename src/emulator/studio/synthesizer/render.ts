import { decodeAudio, stretch } from './codecs.ts';
import { type Composition, compose } from './composition.ts';
import { playDrums, playTones, pluckStrings } from './instruments.ts';
import { mapStems, master, placeStem, type Sounds } from './mix.ts';
import { type SongRecipe, type StemName, type Stems, sampleRate, type UploadSource } from './recipe.ts';
import { chooseSinger, sing } from './voice.ts';

/** Uploads are cut to this length, so that a long file cannot occupy the studio for minutes. */
const longestUploadSeconds = 120;

/** Renders a recipe to stems whose exact sum is the song. Throws UnusableInputError for an invalid upload. */
export async function renderStems(recipe: SongRecipe): Promise<Stems> {
  return master(await renderSounds(recipe));
}

async function renderSounds(recipe: SongRecipe): Promise<Sounds> {
  const { source } = recipe;
  if (source === null) return play(recipe, compose(recipe));
  if (source.kind === 'upload') {
    const upload = await decodeAudio(source.audio, longestUploadSeconds);
    return source.use === 'extend' ? extend(recipe, upload, source) : accompany(recipe, upload, source.use);
  }
  const before = await renderSounds(source.recipe);
  return splice(before, play(recipe, compose(recipe)), source.continueAt);
}

/** Renders each part of a composition separately. */
function play(recipe: SongRecipe, song: Composition, seconds = song.seconds): Sounds {
  const { levels } = song.genre;
  const chorus = song.words.filter((word) => word.chorus);
  const singer = chooseSinger(recipe);
  const parts: Record<StemName, (target: Float32Array) => void> = {
    vocals: (target) => sing(target, song.words, singer, { gain: 1.1, interval: 0, vowel: null }),
    backingVocals(target) {
      sing(target, chorus, singer, { gain: 0.4, interval: 3, vowel: 'u' });
      sing(target, chorus, singer, { gain: 0.35, interval: 7, vowel: 'o' });
    },
    drums: (target) => playDrums(target, song.drums, 0.8 * levels.drums),
    bass: (target) => playTones(target, song.bass, 'bass', levels.bass),
    guitar: (target) => pluckStrings(target, song.guitar, levels.guitar),
    keyboard: (target) => playTones(target, song.keyboard, 'keyboard', levels.keyboard),
    strings: (target) => playTones(target, song.strings, 'strings', levels.strings),
    synth: (target) => playTones(target, song.synth, 'synth', levels.synth),
  };
  return mapStems((name) => {
    const mono = new Float32Array(Math.ceil(seconds * sampleRate));
    parts[name](mono);
    return placeStem(name, mono);
  });
}

/** The stem that an upload replaces if the song accompanies it. */
const carriers = {
  cover: 'synth',
  vocals: 'keyboard',
  instrumental: 'vocals',
} as const satisfies Record<Exclude<UploadSource['use'], 'extend'>, StemName>;

function accompany(recipe: SongRecipe, upload: Float32Array, use: keyof typeof carriers): Sounds {
  const carrier = use === 'cover' ? disguise(upload) : upload;
  const seconds = carrier.length / 2 / sampleRate;
  const song = play(recipe, compose({ ...recipe, seconds }), seconds);
  return mapStems((name) => {
    if (name === carriers[use]) return carrier;
    const isLeftOut = use === 'vocals' && name !== 'vocals' && name !== 'backingVocals';
    const level = isLeftOut ? 0 : use === 'cover' ? 0.6 : 0.75;
    return song[name].map((sample) => sample * level);
  });
}

function extend(recipe: SongRecipe, upload: Float32Array, { continueAt }: UploadSource): Sounds {
  const uploadSeconds = upload.length / 2 / sampleRate;
  const silence = new Float32Array(upload.length);
  const before = mapStems((name) => (name === 'synth' ? upload : silence));
  return splice(before, play(recipe, compose(recipe)), Math.min(continueAt ?? uploadSeconds, uploadSeconds));
}

/** Changes the source for a cover: a whole tone higher, without bass, with a slow tremolo. */
function disguise(upload: Float32Array): Float32Array {
  const low = new Float32Array(2);
  return stretch(upload, 2 ** (2 / 12)).map((sample, index) => {
    const before = low[index & 1] ?? 0;
    const bass = before + (sample - before) * 0.03;
    low[index & 1] = bass;
    const tremolo = 0.8 + 0.2 * Math.sin((2 * Math.PI * 4 * (index >> 1)) / sampleRate);
    return 0.8 * (sample - bass) * tremolo;
  });
}

/** Joins two sounds at a time. Each fades for a quarter of a second at the joint. */
function splice(before: Sounds, after: Sounds, seconds: number): Sounds {
  const joint = Math.min(2 * Math.floor(seconds * sampleRate), before.drums.length);
  const fade = Math.max(1, Math.min(sampleRate / 2, joint));
  return mapStems((name) => {
    const joined = new Float32Array(joint + after[name].length);
    joined.set(before[name].subarray(0, joint));
    joined.set(after[name], joint);
    return joined.map((sample, index) => sample * Math.min(1, Math.abs(joint - index) / fade));
  });
}
