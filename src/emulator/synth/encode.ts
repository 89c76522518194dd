import { createMp3Encoder } from 'wasm-media-encoders';
import { type Pcm, sampleRate } from './recipe.ts';

/** A 16-bit stereo WAV file holding exactly the PCM's samples. */
export function encodeWav(pcm: Pcm): Buffer {
  const dataBytes = pcm.left.length * 4;
  const file = Buffer.alloc(44 + dataBytes);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(36 + dataBytes, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(1, 20);
  file.writeUInt16LE(2, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(sampleRate * 4, 28);
  file.writeUInt16LE(4, 32);
  file.writeUInt16LE(16, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(dataBytes, 40);
  const interleaved = new Int16Array(file.buffer, file.byteOffset + 44, pcm.left.length * 2);
  for (let index = 0; index < pcm.left.length; index++) {
    interleaved[2 * index] = pcm.left[index] ?? 0;
    interleaved[2 * index + 1] = pcm.right[index] ?? 0;
  }
  return file;
}

/** Makes a function that turns PCM into MP3 at 160 kbit/s; the encoder inside is used again for every call. */
export async function createMp3(): Promise<(pcm: Pcm) => Buffer> {
  const encoder = await createMp3Encoder();
  return (pcm) => {
    encoder.configure({ sampleRate, channels: 2, bitrate: 160 });
    // The encoder owns what it returns until the next call, so both parts are copied at once.
    const body = Buffer.from(encoder.encode([toFloat(pcm.left), toFloat(pcm.right)]));
    return Buffer.concat([body, encoder.finalize()]);
  };
}

function toFloat(samples: Int16Array): Float32Array {
  const floats = new Float32Array(samples.length);
  for (let index = 0; index < samples.length; index++) floats[index] = (samples[index] ?? 0) / 32768;
  return floats;
}
