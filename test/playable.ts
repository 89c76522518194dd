/** Decodes media files, to prove that there is something to hear, to see and to watch. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { decode as decodeJpeg } from 'jpeg-js';
import { ALL_FORMATS, EncodedPacketSink, FilePathSource, Input } from 'mediabunny';
import { MPEGDecoder } from 'mpg123-decoder';
import { PNG } from 'pngjs';

export interface Playable {
  readonly name: string;
  readonly kind: 'audio' | 'image' | 'video';
  /** For people. */
  readonly facts: string;
}

async function decode(path: string): Promise<Omit<Playable, 'name'>> {
  const bytes = await readFile(path);
  if (bytes.subarray(1, 4).toString() === 'PNG') {
    const { width, height } = PNG.sync.read(bytes);
    return { kind: 'image', facts: `PNG, ${width} × ${height}` };
  }
  if (bytes[0] === 0xff && bytes[1] === 0xd8) {
    const { width, height } = decodeJpeg(bytes);
    return { kind: 'image', facts: `JPEG, ${width} × ${height}` };
  }
  const input = new Input({ source: new FilePathSource(path), formats: ALL_FORMATS });
  try {
    const format = await input.getFormat();
    if (format.name === 'MP3') return await decodeMp3(bytes);
    return await readTracks(input, format.name);
  } finally {
    input.dispose();
  }
}

/** Decodes to samples, and listens whether there is more than silence. */
async function decodeMp3(bytes: Uint8Array): Promise<Omit<Playable, 'name'>> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    const { channelData, sampleRate, samplesDecoded, errors } = decoder.decode(bytes);
    if (errors.length > 0) throw new Error(`${errors.length} frames cannot be decoded`);
    const loudest = channelData.reduce(
      (most, samples) => samples.reduce((peak, sample) => Math.max(peak, Math.abs(sample)), most),
      0,
    );
    if (loudest < 0.01) throw new Error('it is silent');
    return {
      kind: 'audio',
      facts: `MP3, ${(samplesDecoded / sampleRate).toFixed(1)} s, peak ${loudest.toFixed(2)}`,
    };
  } finally {
    decoder.free();
  }
}

/** Reads every packet of every track; a decoder for them would have to be native. */
async function readTracks(input: Input, format: string): Promise<Omit<Playable, 'name'>> {
  const tracks = await input.getTracks();
  const read = await Promise.all(
    tracks.map(async (track) => {
      let packets = 0;
      for await (const packet of new EncodedPacketSink(track).packets())
        if (packet.byteLength > 0) packets += 1;
      if (packets === 0) throw new Error(`a ${track.type} track is empty`);
      return `${packets} ${track.type} packets`;
    }),
  );
  const seconds = await input.computeDuration();
  if (!(seconds > 0)) throw new Error('it has no length');
  const kind = tracks.some(({ type }) => type === 'video') ? 'video' : 'audio';
  return { kind, facts: `${format}, ${seconds.toFixed(1)} s, ${read.join(', ')}` };
}

/** What a folder holds, file by file. Throws for the first that does not play. */
export async function playablesIn(folder: string): Promise<Playable[]> {
  // Archives hold the files that lie beside them.
  const names = (await readdir(folder)).filter((name) => !name.endsWith('.zip')).sort();
  return Promise.all(
    names.map(async (name) => {
      try {
        return { name, ...(await decode(join(folder, name))) };
      } catch (error) {
        throw new Error(`${name} does not play`, { cause: error });
      }
    }),
  );
}
