import type { Sound } from './mix.ts';
import { sampleRate } from './recipe.ts';

/** Sound that could not be read: not WAV or MP3, broken, empty, or too long. */
export class UnreadableAudioError extends Error {
  override readonly name = 'UnreadableAudioError';
}

/**
 * Reads WAV or MP3 bytes into stereo at 44.1 kHz, cut to a number of seconds.
 * Throws UnreadableAudioError when the bytes are neither, or when they hold no sound.
 */
export async function decodeAudio(bytes: Uint8Array, longestSeconds: number): Promise<Sound> {
  const isWave = Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
  const decoded = isWave ? await decodeWav(bytes, longestSeconds) : await decodeMp3(bytes);
  if (decoded.left.length < decoded.rate / 10) throw new UnreadableAudioError('the audio holds no sound');
  const length = Math.min(decoded.left.length, Math.floor(longestSeconds * decoded.rate));
  return {
    left: resample(decoded.left.subarray(0, length), decoded.rate),
    right: resample(decoded.right.subarray(0, length), decoded.rate),
  };
}

interface Decoded extends Sound {
  readonly rate: number;
}

// The decoders are loaded with the first upload: most songs need none, and a studio should open quickly.

async function decodeMp3(bytes: Uint8Array): Promise<Decoded> {
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    const { channelData, sampleRate: rate } = decoder.decode(bytes);
    const left = channelData[0];
    if (left === undefined || left.length === 0 || rate < 8000)
      throw new UnreadableAudioError('the file is neither WAV nor MP3');
    return { left, right: channelData[1] ?? left, rate };
  } finally {
    decoder.free();
  }
}

async function decodeWav(bytes: Uint8Array, longestSeconds: number): Promise<Decoded> {
  const { ALL_FORMATS, AudioSampleSink, BufferSource, Input } = await import('mediabunny');
  try {
    const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new UnreadableAudioError('the WAV file has no audio track');
    const left: Float32Array[] = [];
    const right: Float32Array[] = [];
    for await (const sample of new AudioSampleSink(track).samples(0, longestSeconds)) {
      const channel = (plane: number): Float32Array<ArrayBuffer> => {
        const data = new Float32Array(sample.numberOfFrames);
        sample.copyTo(data, { planeIndex: plane, format: 'f32-planar' });
        return data;
      };
      left.push(channel(0));
      right.push(channel(sample.numberOfChannels > 1 ? 1 : 0));
      sample.close();
    }
    return { left: join(left), right: join(right), rate: track.sampleRate };
  } catch (error) {
    if (error instanceof UnreadableAudioError) throw error;
    throw new UnreadableAudioError('the WAV file is broken', { cause: error });
  }
}

function join(parts: readonly Float32Array[]): Float32Array {
  const whole = new Float32Array(parts.reduce((total, part) => total + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}

function resample(samples: Float32Array, rate: number): Float32Array {
  return rate === sampleRate ? samples.slice() : stretch(samples, rate / sampleRate);
}

/** Plays samples at another speed (2 is twice as fast and an octave higher), interpolating linearly. */
export function stretch(samples: Float32Array, speed: number): Float32Array {
  const length = Math.max(0, Math.floor(samples.length / speed));
  const result = new Float32Array(length);
  for (let index = 0; index < length; index++) {
    const place = index * speed;
    const whole = Math.floor(place);
    const before = samples[whole] ?? 0;
    const after = samples[whole + 1] ?? before;
    result[index] = before + (after - before) * (place - whole);
  }
  return result;
}
