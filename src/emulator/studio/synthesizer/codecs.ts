import { createMp3Encoder } from 'wasm-media-encoders';
import { UnusableInputError } from '../studio.ts';
import { type Pcm, sampleRate } from './recipe.ts';

/**
 * Decodes WAV or MP3 to stereo at 44.1 kHz, left and right alternating, cut to a number of seconds. Throws
 * UnusableInputError if the bytes are neither, or too short.
 */
export async function decodeAudio(bytes: Uint8Array, longestSeconds: number): Promise<Float32Array> {
  const isWave = Buffer.from(bytes.subarray(0, 4)).toString('latin1') === 'RIFF';
  const { samples, rate } = isWave ? await decodeWav(bytes, longestSeconds) : await decodeMp3(bytes);
  if (samples.length < rate / 5) throw new UnusableInputError('the audio is too short');
  return stretch(samples.subarray(0, 2 * Math.floor(longestSeconds * rate)), rate / sampleRate);
}

// Both return stereo, left and right alternating, at the file's rate. The decoders are loaded with the first upload, so that
// a studio opens quickly.

async function decodeMp3(bytes: Uint8Array) {
  const { MPEGDecoder } = await import('mpg123-decoder');
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    const { channelData, sampleRate: rate } = decoder.decode(bytes);
    const [left, right = left] = channelData;
    if (!left?.length || !right || rate < 8000)
      throw new UnusableInputError('the file is neither WAV nor MP3');
    return { samples: stereo(left.length, (frame, side) => (side === 0 ? left : right)[frame]), rate };
  } finally {
    decoder.free();
  }
}

async function decodeWav(bytes: Uint8Array, longestSeconds: number) {
  const { ALL_FORMATS, AudioSampleSink, BufferSource, Input } = await import('mediabunny');
  try {
    const input = new Input({ formats: ALL_FORMATS, source: new BufferSource(bytes) });
    const track = await input.getPrimaryAudioTrack();
    if (track === null) throw new Error('no audio track');
    const { numberOfChannels, sampleRate: rate } = track;
    const parts: Float32Array<ArrayBuffer>[] = [];
    for await (const sample of new AudioSampleSink(track).samples(0, longestSeconds)) {
      const part = new Float32Array(sample.numberOfFrames * numberOfChannels);
      sample.copyTo(part, { planeIndex: 0, format: 'f32' });
      sample.close();
      parts.push(part);
    }
    const samples = new Float32Array(await new Blob(parts).arrayBuffer());
    const sampleOf = (frame: number, side: number) =>
      samples[frame * numberOfChannels + Math.min(side, numberOfChannels - 1)];
    return { samples: stereo(samples.length / numberOfChannels, sampleOf), rate };
  } catch (error) {
    throw new UnusableInputError('the WAV file is damaged', { cause: error });
  }
}

function stereo(frames: number, sampleOf: (frame: number, side: number) => number | undefined): Float32Array {
  return new Float32Array(2 * frames).map((_, index) => sampleOf(index >> 1, index & 1) ?? 0);
}

/** Changes the speed of stereo audio by linear interpolation (2 is twice as fast and an octave higher). */
export function stretch(samples: Float32Array, speed: number): Float32Array {
  return stereo(Math.floor(samples.length / 2 / speed), (frame, side) => {
    const position = frame * speed;
    const at = 2 * Math.floor(position) + side;
    const before = samples[at] ?? 0;
    return before + ((samples[at + 2] ?? before) - before) * (position % 1);
  });
}

/** Encodes a 16-bit stereo WAV file with exactly the PCM's samples. */
export async function encodeWav(pcm: Pcm): Promise<Uint8Array<ArrayBuffer>> {
  const { AudioSample, AudioSampleSource, BufferTarget, Output, WavOutputFormat } = await import(
    'mediabunny'
  );
  const target = new BufferTarget();
  const output = new Output({ format: new WavOutputFormat(), target });
  const source = new AudioSampleSource({ codec: 'pcm-s16' });
  output.addAudioTrack(source);
  await output.start();
  const shape = { format: 's16', numberOfChannels: 2, sampleRate, timestamp: 0 } as const;
  using sample = new AudioSample({ data: pcm, ...shape });
  await source.add(sample);
  await output.finalize();
  if (target.buffer === null) throw new Error('the WAV writer returned no file');
  return new Uint8Array(target.buffer);
}

/** Creates a function that encodes PCM as MP3 at 160 kbit/s and reuses its encoder. */
export async function createMp3(): Promise<(pcm: Pcm) => Uint8Array<ArrayBuffer>> {
  const encoder = await createMp3Encoder();
  return (pcm) => {
    encoder.configure({ sampleRate, channels: 2, bitrate: 160 });
    const channel = (side: number): Float32Array =>
      new Float32Array(pcm.length / 2).map((_, frame) => (pcm[2 * frame + side] ?? 0) / 32768);
    // The encoder reuses its buffer in the next call, so both parts are copied.
    const body = Buffer.from(encoder.encode([channel(0), channel(1)]));
    return Uint8Array.from(Buffer.concat([body, encoder.finalize()]));
  };
}
