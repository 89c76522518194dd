import { createMp3Encoder } from 'wasm-media-encoders';
import { type Pcm, sampleRate } from './recipe.ts';

/** A 16-bit stereo WAV file holding exactly the PCM's samples. */
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
  if (target.buffer === null) throw new Error('the WAV writer made no file');
  return new Uint8Array(target.buffer);
}

/** Makes a function that turns PCM into MP3 at 160 kbit/s; the encoder inside is used again for every call. */
export async function createMp3(): Promise<(pcm: Pcm) => Uint8Array<ArrayBuffer>> {
  const encoder = await createMp3Encoder();
  return (pcm) => {
    encoder.configure({ sampleRate, channels: 2, bitrate: 160 });
    const channel = (side: number): Float32Array =>
      new Float32Array(pcm.length / 2).map((_, frame) => (pcm[2 * frame + side] ?? 0) / 32768);
    // The encoder owns what it returns until the next call, so both parts are copied at once.
    const body = Buffer.from(encoder.encode([channel(0), channel(1)]));
    return Uint8Array.from(Buffer.concat([body, encoder.finalize()]));
  };
}
