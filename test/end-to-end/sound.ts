import { ALL_FORMATS, BufferSource, EncodedPacketSink, Input } from 'mediabunny';

/**
 * What is heard of an audio file, packet by packet: tags written before or after it change nothing. Any other file as
 * it is. Read by a library that has no part in writing tags.
 */
export async function soundOf(file: Uint8Array): Promise<Buffer> {
  using input = new Input({ source: new BufferSource(Buffer.from(file)), formats: ALL_FORMATS });
  if (!(await input.canRead()) || (await input.getPrimaryVideoTrack())) return Buffer.from(file);
  const track = await input.getPrimaryAudioTrack();
  if (!track) return Buffer.from(file);
  const packets: Uint8Array[] = [];
  for await (const packet of new EncodedPacketSink(track).packets()) packets.push(packet.data);
  return Buffer.concat(packets);
}

/** The sounds of files, to be compared without regard to order. */
export async function soundsOf(files: readonly Uint8Array[]): Promise<string[]> {
  const sounds = await Promise.all(files.map(soundOf));
  return sounds.map((sound) => sound.toString('base64')).sort();
}

export async function tagsOf(file: Uint8Array) {
  using input = new Input({ source: new BufferSource(Buffer.from(file)), formats: ALL_FORMATS });
  return await input.getMetadataTags();
}
