import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';
import { PNG } from 'pngjs';

const PNG_SIGNATURE = Buffer.from('\x89PNG', 'latin1');

/**
 * Returns the audio packets of a file, or the pixels of an image, without tags; other files unchanged. Uses libraries that are not
 * involved in writing tags.
 */
export async function soundOf(file: Uint8Array): Promise<Buffer> {
  if (PNG_SIGNATURE.equals(file.subarray(0, PNG_SIGNATURE.length)))
    return PNG.sync.read(Buffer.from(file)).data;
  using input = new Input({ source: new BufferSource(Buffer.from(file)), formats: ALL_FORMATS });
  if (!(await input.canRead()) || (await input.getPrimaryVideoTrack())) return Buffer.from(file);
  const track = await input.getPrimaryAudioTrack();
  if (!track) return Buffer.from(file);
  const packets: Uint8Array[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet.data);
  return Buffer.concat(packets);
}

/** Returns the audio of several files, sorted for comparison. */
export async function soundsOf(files: readonly Uint8Array[]): Promise<string[]> {
  const sounds = await Promise.all(files.map(soundOf));
  return sounds.map((sound) => sound.toString('base64')).sort();
}

export async function tagsOf(file: Uint8Array) {
  using input = new Input({ source: new BufferSource(Buffer.from(file)), formats: ALL_FORMATS });
  return await input.getMetadataTags();
}
