/** MP3 to Ogg Opus, as it is sent into a voice channel. Loaded in a thread of its own: a song takes seconds of computing. */
import { MPEGDecoder } from 'mpg123-decoder';
import OpusScript from 'opusscript';
import { PACKET_SAMPLES, writeOggOpus } from './ogg.ts';
import { resample } from './resample.ts';

const RATE = 48_000;
const CHANNELS = 2;
/** What a boosted server's channels carry; at half of it, cymbals are heard to suffer. */
const BITS_PER_SECOND = 128_000;
/** Of 10: beyond this, music of so many bits gains nothing that is heard, and takes twice the time. */
const COMPLEXITY = 5;
/** https://opus-codec.org/docs/opus_api-1.5/group__opus__encoderctls.html */
const SET_COMPLEXITY = 4010;
/** What libopus is ahead by at 48 kHz, for music: https://www.rfc-editor.org/rfc/rfc7845#section-4.2 */
const PRE_SKIP = 312;

/** Throws RangeError where the bytes hold no MP3 sound, or more than `mostSeconds` of it. */
export async function encodeOpus(mp3: Uint8Array, mostSeconds: number): Promise<Buffer> {
  const { sides, rate } = await decode(mp3);
  const seconds = sides[0].length / rate;
  if (seconds > mostSeconds) throw new RangeError(`The sound lasts ${Math.ceil(seconds)} s`);
  const [left, right] = sides.map((side) => resample(side, rate, RATE));
  if (!left || !right) throw new RangeError('The sound has no channels');
  const encoder = new OpusScript(RATE, CHANNELS, OpusScript.Application.AUDIO);
  try {
    encoder.setBitrate(BITS_PER_SECOND);
    encoder.encoderCTL(SET_COMPLEXITY, COMPLEXITY);
    const packets: Buffer[] = [];
    const pcm = new Int16Array(PACKET_SAMPLES * CHANNELS);
    const bytes = Buffer.from(pcm.buffer);
    for (let at = 0; at < left.length + PRE_SKIP; at += PACKET_SAMPLES) {
      for (let index = 0; index < PACKET_SAMPLES; index += 1) {
        pcm[2 * index] = sampleOf(left[at + index]);
        pcm[2 * index + 1] = sampleOf(right[at + index]);
      }
      packets.push(encoder.encode(bytes, PACKET_SAMPLES));
    }
    const facts = { preSkip: PRE_SKIP, samples: left.length, channels: CHANNELS };
    return Buffer.concat([...writeOggOpus(packets, facts)]);
  } finally {
    encoder.delete();
  }
}

const sampleOf = (value = 0): number => Math.round(Math.max(-1, Math.min(1, value)) * 32_767);

async function decode(
  mp3: Uint8Array,
): Promise<{ sides: readonly [Float32Array, Float32Array]; rate: number }> {
  const decoder = new MPEGDecoder();
  await decoder.ready;
  try {
    const { channelData, sampleRate: rate } = decoder.decode(mp3);
    const [left, right = left] = channelData;
    if (!left?.length || !right || rate < 8_000) throw new RangeError('The file holds no MP3 sound');
    return { sides: [left, right], rate };
  } finally {
    decoder.free();
  }
}
